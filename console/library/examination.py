"""Check a project before it is stored. Runs in the sandbox with JSON arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from api.templates import drafts
from farm_core.strict_json import storable
from motion import bundle, template
from motion.schema.compositions import chosen, compositions, has_composition
from motion.stored import Document, Record, record, records, scene_nodes
from motion.template import InputField

COMPOSITIONS_MAX: Final = 100
"""Maximum number of compositions that the page offers."""
UNRENDERABLE_MAX: Final = 200
"""Maximum number of layers that the page names."""


def examined(
    source: str, target: str, allow_private: bool, has_sound: bool, composition_id: str | None = None
) -> dict[str, Any]:
    """Return the inputs, size, fonts and defects of a `.motion` project. Write its document to `target`.

    `composition_id` is examined if the project has it, and else the active composition. With `has_sound` the farm renders
    sound, and sound is not reported as omitted.

    Raises BadRequest and DocumentError.
    """
    from motion.build import build  # noqa: PLC0415 - brings NumPy, and the console only names this function

    document = bundle.read_file(Path(source))
    composition_id = composition_id if has_composition(document, composition_id) else None
    asked = {"composition_id": composition_id, "include_text": True, "has_sound": has_sound}
    draft = drafts.imported(source, target, asked, allow_private)
    if not draft["has_media"]:
        draft |= {"fields": [asdict(field) for field in _exposed(document, composition_id)], "warnings": []}
        Path(target).write_bytes(storable(document))
    settings = chosen(document, composition_id)
    unrenderable = template.unrenderable_layers(document, drafts.fields_from(draft["fields"]), composition_id)
    return draft | {
        "composition_id": composition_id, "composition": settings.name,
        "compositions": _others(document), "width": settings.width, "height": settings.height, "fps": settings.fps,
        "duration_seconds": settings.duration_seconds, "fonts": _fonts(document), "not_drawn": build(document, composition_id).warnings,
        "unrenderable": unrenderable[:UNRENDERABLE_MAX], "unrenderable_count": len(unrenderable),
    }  # fmt: skip


def _others(document: Document) -> list[tuple[str, str]]:
    """Return id and name of the document's compositions, the active one first. Its id is empty."""
    active = chosen(document)
    others = [
        (key, one.name)
        for key, one in compositions(document).items()
        if key != active.id and has_composition(document, key)
    ]
    return [("", active.name), *others[: COMPOSITIONS_MAX - 1]]


def _exposed(document: Document, composition_id: str | None) -> Sequence[InputField]:
    """Return the inputs of a project without media: those that its author has exposed, and every text."""
    authored = template.authored_fields(document, composition_id)
    targets = {field.target for field in authored}
    found = template.discover(document, composition_id, include_text=True).fields
    return [*authored, *(field for field in found if field.target not in targets)]


def _fonts(document: Document) -> list[str]:
    """Return the font families of the document's texts."""
    families = (properties.get("fontFamily") for properties in _properties(document))
    return sorted({family.strip() for family in families if isinstance(family, str) and family.strip()})


def _properties(document: Document) -> list[Record]:
    return [record(component, "props") for node in scene_nodes(document) for component in records(node, "components")]
