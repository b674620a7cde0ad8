"""A template's public manifest and its hidden write targets, to and from the fields that `motion` works with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from farm_core.net.addresses import URL_LENGTH_MAX
from motion.template import InputField, Target

if TYPE_CHECKING:
    from farm_core.templates.models import Template  # brings SQLAlchemy, which workers of the sandbox do without

NO_TARGET = Target("", "", "")
_WEB = ("http://", "https://")


def public(fields: Iterable[InputField]) -> list[dict[str, Any]]:
    """Return the fields that callers see: no targets, and only defaults that are fetchable addresses."""
    return [_public(field) for field in fields]


def targets(fields: Iterable[InputField]) -> dict[str, Any]:
    """Return the write targets of the inputs, which callers do not see."""
    return {field.id: asdict(field.target) for field in fields if field.target != NO_TARGET}


def fields_of(template: Template) -> list[InputField]:
    """A stored template's inputs; one that writes nowhere has the target NO_TARGET."""
    return joined(template.inputs, template.targets)


def joined(inputs: Iterable[Mapping[str, Any]], targets: Mapping[str, Any]) -> list[InputField]:
    """The public manifest and the targets that are kept beside it as fields; one that writes nowhere has NO_TARGET."""
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
