"""Template drafts, read from a project or a document. Runs in the sandbox: JSON in, JSON out.

The document's bytes go to a file, everything else into the returned draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import orjson

from farm_core.errors import BadRequest
from farm_core.net.addresses import UrlRefused, checked_target
from farm_core.strict_json import storable
from farm_core.templates.manifest import NO_TARGET
from motion import bundle, template
from motion.model.settings import CompositionSettings
from motion.notices import bounded, of_document
from motion.schema.compositions import chosen
from motion.stored import Document
from motion.template import MEDIA_KINDS, InputField, Target

SIDE_MAX: Final = 8192
FPS_MAX: Final = 240
SECONDS_MAX: Final = 3600
INPUTS_MAX: Final = template.IMPORTED_MAX


def published(
    source: str, target: str, inputs: list[dict[str, Any]], allow_private: bool, composition_id: str | None = None
) -> dict[str, Any]:
    """Return the inputs of an editor's document with their targets, and the layers that cannot be fetched.

    `source` holds the document as JSON; `target` receives it migrated. Raises BadRequest and DocumentError.
    """
    document = bundle.read_value(orjson.loads(Path(source).read_bytes()))
    _check_budgets(document, composition_id)
    found = template.discover(document, composition_id, include_text=True).fields
    fields = _with_targets(document, inputs, composition_id, found)
    if lost := [f"{field.id!r} ({field.kind})" for field in fields if field.target == NO_TARGET]:
        raise BadRequest(
            f"These inputs write to no layer of the document that takes their kind: {', '.join(lost[:20])}."
        )
    unrenderable = template.unrenderable_layers(document, fields, composition_id)
    unrenderable += _unreachable(found, fields, allow_private=allow_private)
    Path(target).write_bytes(storable(document))
    return {"fields": [asdict(field) for field in fields], "unrenderable": unrenderable}


def imported(source: str, target: str, wanted: Mapping[str, Any], allow_private: bool) -> dict[str, Any]:
    """Return the inputs of a `.motion` project, its composition's settings, and warnings.

    `hasMedia` is false if there is nothing to expose. Raises BadRequest and DocumentError.
    """
    document = bundle.read_file(Path(source))
    composition_id = wanted["composition_id"]
    composition = chosen(document, composition_id)
    _check_limits(composition)
    _check_budgets(document, composition_id)
    found = template.discover(document, composition_id, wanted["include_text"])
    leftover = template.unrenderable_layers(document, found.fields, composition_id)
    if not found.has_media:
        return {"has_media": False}
    if len(found.fields) > INPUTS_MAX:
        raise BadRequest(f"The project offers {len(found.fields)} inputs; a template has at most {INPUTS_MAX}.")
    fields, private = _without_private_defaults(found.fields, allow_private=allow_private)
    silent = () if wanted["has_sound"] else (notice.message for notice in of_document(document))
    warnings = [*found.warnings, *private, *silent, *(f"Layer “{name}”: {reason}." for name, reason in leftover)]
    Path(target).write_bytes(storable(document))
    return {
        "has_media": True, "fields": [asdict(field) for field in fields], "warnings": list(bounded(warnings)),
        "name": composition.name, "width": composition.width, "height": composition.height, "fps": composition.fps,
        "duration_seconds": composition.duration_seconds,
    }  # fmt: skip


def offered(source: str, composition_id: str | None) -> list[dict[str, Any]]:
    """Return all inputs that a stored document offers: those that its author exposed, and those of its layers.

    Raises DocumentError.
    """
    document = bundle.read_file(Path(source))
    found = template.discover(document, composition_id, include_text=True).fields
    return [asdict(field) for field in (*template.authored_fields(document, composition_id), *found)]


def fields_from(stored: Iterable[Mapping[str, Any]]) -> list[InputField]:
    """Return the inputs of a draft."""
    return [InputField(**{**field, "target": Target(**field["target"])}) for field in stored]


def _with_targets(
    document: Document, inputs: Iterable[Mapping[str, Any]], composition_id: str | None, found: Sequence[InputField]
) -> list[InputField]:
    """Return the declared inputs with their write targets in the document.

    The document's own fields name the targets. Other inputs use the layer with the input's name. Only image and media
    inputs can target a source: values of other kinds are not checked as addresses, but would be fetched.
    """
    authored = {field.id: field for field in template.authored_fields(document, composition_id)}
    layers = {field.id: field for field in found}
    by_label = {(field.label, field.kind): field for field in layers.values()}
    return [
        _declared(one, (authored.get(one["id"]), layers.get(one["id"]), by_label.get((one["label"], one["kind"]))))
        for one in inputs
    ]


def _declared(one: Mapping[str, Any], candidates: Iterable[InputField | None]) -> InputField:
    required = one["kind"] in MEDIA_KINDS if one["required"] is None else one["required"]
    known = next((field for field in candidates if field and _takes(field.kind, one["kind"])), None)
    target = known.target if known else NO_TARGET
    return InputField(one["id"], one["label"], one["kind"], required, one["default"], target)


def _takes(target_kind: str, kind: str) -> bool:
    return (target_kind in MEDIA_KINDS) == (kind in MEDIA_KINDS)


def _unreachable(
    found: Sequence[InputField], fields: Iterable[InputField], *, allow_private: bool
) -> list[tuple[str, str]]:
    """Return the layers of `found` without a public address that no input replaces."""
    replaced = {field.target.node_id for field in fields if field.kind in MEDIA_KINDS}
    shown = [field for field in found if field.target.node_id not in replaced]
    return [(field.label, fault) for field in shown if (fault := _address_fault(field, allow_private=allow_private))]


def _address_fault(field: InputField, *, allow_private: bool) -> str | None:
    if field.kind not in MEDIA_KINDS or not isinstance(field.default, str):
        return None
    try:
        checked_target(field.default, allow_private=allow_private)
    except UrlRefused as refusal:
        return f"its source is not a public http(s) URL: {refusal}"
    return None


def _without_private_defaults(
    fields: Iterable[InputField], *, allow_private: bool
) -> tuple[list[InputField], list[str]]:
    """Make fields required if the farm cannot fetch their current source. Return the fields, and warnings about them."""
    kept, warnings = [], []
    for field in fields:
        fault = _address_fault(field, allow_private=allow_private)
        kept.append(replace(field, default=None, required=True) if fault else field)
        if fault:
            warnings.append(f"Layer “{field.label}”: {fault} A source must be given with every render.")
    return kept, warnings


def _check_budgets(document: Document, composition_id: str | None) -> None:
    """Raise DocumentError for a document that no frame can be made from: its jobs would fail one by one, each at a worker's cost."""
    from motion.build import build  # noqa: PLC0415 - brings NumPy, and the API only names these functions

    build(document, composition_id)


def _check_limits(composition: CompositionSettings) -> None:
    limits = (
        ("width", composition.width, SIDE_MAX),
        ("height", composition.height, SIDE_MAX),
        ("fps", composition.fps, FPS_MAX),
        ("durationSeconds", composition.duration_seconds, SECONDS_MAX),
    )
    faults = [
        f"The composition's {name} is {value:g}; at most {most} is allowed."
        for name, value, most in limits
        if value > most
    ]
    if faults:
        raise BadRequest(faults)
