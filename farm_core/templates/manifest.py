"""Convert a template's public manifest and hidden write targets to and from fields of `motion`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from farm_core.net.addresses import URL_LENGTH_MAX
from motion.template import InputField, Target

if TYPE_CHECKING:
    from farm_core.templates.models import Template  # imports SQLAlchemy, which sandbox workers do not need

NO_TARGET = Target("", "", "")
_WEB = ("http://", "https://")


def public(fields: Iterable[InputField]) -> list[dict[str, Any]]:
    """Return the public fields: without targets, and with only those defaults that are fetchable URLs."""
    return [_public(field) for field in fields]


def targets(fields: Iterable[InputField]) -> dict[str, Any]:
    """Return the write targets of the inputs, which are not public."""
    return {field.id: asdict(field.target) for field in fields if field.target != NO_TARGET}


def fields_of(template: Template) -> list[InputField]:
    """Return a stored template's inputs as fields. An input that writes nowhere has NO_TARGET."""
    return joined(template.inputs, template.targets)


def joined(inputs: Iterable[Mapping[str, Any]], targets: Mapping[str, Any]) -> list[InputField]:
    """Join the public manifest and the targets to fields. An input that writes nowhere has NO_TARGET."""
    return [_field(stored, targets) for stored in inputs]


def _public(field: InputField) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": field.id, "label": field.label, "kind": field.kind, "required": field.required}
    default = str(field.default)
    if field.kind in ("image", "media") and default.lower().startswith(_WEB) and len(default) <= URL_LENGTH_MAX:
        shown["default"] = field.default
    return shown


def _field(stored: Mapping[str, Any], targets_by_id: Mapping[str, Any]) -> InputField:
    target = Target(**targets_by_id[stored["id"]]) if stored["id"] in targets_by_id else NO_TARGET
    return InputField(stored["id"], stored["label"], stored["kind"], stored["required"], stored.get("default"), target)
