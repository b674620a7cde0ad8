"""The table of compositions, and which one is rendered (document.md 2.8 and 4.1)."""

from __future__ import annotations

from motion.errors import CompositionUnknown, PropertyRefused
from motion.model.settings import CompositionSettings
from motion.stored import NAME_CHARACTERS_MAX, Document, Record, finite, number, record, scene_nodes, text

DEFAULT_ID = "comp_root"
SIDE_MAX = 16384
FPS_MAX = 1000.0
SECONDS_MAX = 86_400.0
NUMBERS = {
    "width": (1920.0, SIDE_MAX),
    "height": (1080.0, SIDE_MAX),
    "fps": (30.0, FPS_MAX),
    "durationSeconds": (10.0, SECONDS_MAX),
}
"""Default and largest value of settings that must be above 0."""
NAMED_MAX = 20
"""Compositions that an error names."""


def compositions(document: Document) -> dict[str, CompositionSettings]:
    """Return all compositions by id, in stored order, or the built-in one if the document has no table. Invalid numbers
    are replaced by their defaults, and too large ones by the largest.
    """
    return {key: _settings(key, stored) for key, stored in _table(document).items()}


def _unknown(document: Document, composition_id: str) -> str:
    """Name the compositions that there are, by id and name: an id is seen nowhere in the editor."""
    ids = {node.get("id") for node in scene_nodes(document) if isinstance(node.get("id"), str)}
    known = [f"{key[:60]!r} ({one.name[:60]})" for key, one in compositions(document).items() if key in ids]
    more = f" and {len(known) - NAMED_MAX} more" if len(known) > NAMED_MAX else ""
    return f"The project has no composition {composition_id[:60]!r}. It has {', '.join(known[:NAMED_MAX]) or 'none'}{more}."


def chosen(document: Document, composition_id: str | None = None) -> CompositionSettings:
    """Return the composition to render.

    Raises CompositionUnknown for an id that the document does not have, PropertyRefused for invalid settings of this
    composition. Settings of other compositions are not checked.
    """
    table = _table(document)
    if composition_id is not None:
        if not has_composition(document, composition_id):
            raise CompositionUnknown(_unknown(document, composition_id))
        key = composition_id
    else:
        key = DEFAULT_ID if DEFAULT_ID in table else next(iter(table), "comp_default")
    stored = table.get(key, {})
    _refuse_unusable(stored)
    return _settings(key, stored)


def _table(document: Document) -> dict[str, Record]:
    table = document.get("comps")
    if isinstance(table, dict):
        return {key: value for key, value in table.items() if isinstance(value, dict)}
    found: dict[str, Record] = {DEFAULT_ID: {"name": "Main Comp"}}
    only = record(document, "comp")
    if only:
        found[text(only, "id", DEFAULT_ID)] = only
    return found


def has_composition(document: Document, composition_id: str | None) -> bool:
    """Return True if the document has a composition with the id."""
    ids = (node.get("id") for node in scene_nodes(document))
    return bool(composition_id) and composition_id in _table(document) and composition_id in ids


def _settings(key: str, doc: Record) -> CompositionSettings:
    return CompositionSettings(
        id=key,
        name=text(doc, "name")[:NAME_CHARACTERS_MAX].strip() or "Composition",
        width=_positive(doc, "width"),
        height=_positive(doc, "height"),
        fps=_positive(doc, "fps"),
        duration_seconds=_positive(doc, "durationSeconds"),
        background=text(doc, "background", "#101014"),
        background_paint=record(doc, "backgroundPaint"),
        global_light_angle=number(doc, "globalLightAngle", 90.0),
        global_light_altitude=number(doc, "globalLightAltitude", 45.0),
    )


def _positive(doc: Record, field: str) -> float:
    """Return a size or rate, or the default if it is absent or invalid."""
    default, largest = NUMBERS[field]
    value = finite(doc.get(field))
    return default if value is None or value <= 0 else min(value, largest)


def _refuse_unusable(doc: Record) -> None:
    for field, (_, largest) in NUMBERS.items():
        value = finite(doc.get(field))
        if doc.get(field) is not None and (value is None or not 0 < value <= largest):
            # An import has smaller limits of its own: only a number above this one is told of it.
            bound = f"at most {largest:g}" if value is not None and value > largest else "a number above 0"
            raise PropertyRefused(f"The composition's {field} must be {bound}.")
