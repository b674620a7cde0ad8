"""The table of compositions, and which one is rendered (document.md 2.8 and 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

from motion.errors import CompositionUnknown, PropertyRefused
from motion.schema.stored import Document, Record, finite, number, record, records, text

DEFAULT_ID = "comp_root"
MAX_SIDE = 16384
MAX_FPS = 1000.0
MAX_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class CompositionSettings:
    """One composition's settings with every default filled in: pixels, frames per second, seconds, degrees."""

    id: str
    name: str
    width: float
    height: float
    fps: float
    duration_seconds: float
    background: str
    background_paint: Record
    global_light_angle: float
    global_light_altitude: float


def compositions(document: Document) -> dict[str, CompositionSettings]:
    """All compositions by id, in the order stored; the built-in one where the document has no table."""
    table = document.get("comps")
    if isinstance(table, dict):
        return {key: _settings(key, held) for key, held in table.items() if isinstance(held, dict)}
    found = {DEFAULT_ID: _settings(DEFAULT_ID, {"name": "Main Comp"})}
    only = record(document, "comp")
    if only:
        key = text(only, "id", DEFAULT_ID)
        found[key] = _settings(key, only)
    return found


def chosen(document: Document, composition_id: str | None = None) -> CompositionSettings:
    """The composition to render; raises CompositionUnknown for an id that the document does not have."""
    table = compositions(document)
    if composition_id is not None:
        if composition_id not in table or not _has_node(document, composition_id):
            raise CompositionUnknown(f"The project has no composition {composition_id!r}.", "compId")
        return table[composition_id]
    if DEFAULT_ID in table:
        return table[DEFAULT_ID]
    return next(iter(table.values()), None) or _settings("comp_default", {})


def _has_node(document: Document, node_id: str) -> bool:
    return any(node.get("id") == node_id for node in records(record(document, "scene"), "nodes"))


def _settings(key: str, held: Record) -> CompositionSettings:
    return CompositionSettings(
        id=key,
        name=text(held, "name").strip() or "Composition",
        width=_positive(held, "width", 1920.0, MAX_SIDE, key),
        height=_positive(held, "height", 1080.0, MAX_SIDE, key),
        fps=_positive(held, "fps", 30.0, MAX_FPS, key),
        duration_seconds=_positive(held, "durationSeconds", 10.0, MAX_SECONDS, key),
        background=text(held, "background", "#101014"),
        background_paint=record(held, "backgroundPaint"),
        global_light_angle=number(held, "globalLightAngle", 90.0),
        global_light_altitude=number(held, "globalLightAltitude", 45.0),
    )


def _positive(held: Record, field: str, default: float, largest: float, key: str) -> float:
    """A size or rate; absent means the default, anything unusable is refused by name."""
    if held.get(field) is None:
        return default
    value = finite(held[field])
    if value is None or not 0 < value <= largest:
        raise PropertyRefused(
            f"The composition's {field} must be above 0 and at most {largest:g}.", f"comps.{key}.{field}"
        )
    return value
