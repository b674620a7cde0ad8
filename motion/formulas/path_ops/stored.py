"""Path operators as they are stored, with their defaults and tracks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from motion.stored import exact, finite, stored_name

TYPES = frozenset(
    {"zigzag", "roundCorners", "pucker", "twist", "offset", "roughen", "trim", "repeater", "wiggleTransform", "none"}
)


@dataclass(frozen=True, slots=True)
class PathOperator:
    """One entry of the chain: lengths in layer px, angles in degrees, `start`, `end` and a trim's `offset` in percent."""

    id: str
    type: str
    amount: float = 20.0
    detail: float = 4.0
    wiggles_per_second: float = 0.0
    correlation: float = 0.0
    wiggle_rotation: float = 0.0
    wiggle_scale: float = 0.0
    start: float = 0.0
    end: float = 100.0
    offset: float = 0.0
    copies: float = 1.0
    offset_x: float = 0.0
    offset_y: float = 0.0
    offset_rotation: float = 0.0
    offset_scale: float = 1.0
    offset_opacity: float = 1.0
    anchor_x: float = 0.0
    anchor_y: float = 0.0
    seed: float = 0.0
    is_below: bool = False
    is_simultaneous: bool = False

    @property
    def is_inert(self) -> bool:
        """True if the entry changes nothing, so that it is taken out of the chain."""
        if self.type == "trim":
            return self.end - self.start >= 100.0
        if self.type == "repeater":
            return self.copies <= 1.0
        if self.type == "wiggleTransform":
            return self.amount <= 0.0 and self.wiggle_rotation <= 0.0 and self.wiggle_scale <= 0.0
        return self.type == "none"


def path_operators(stored: object) -> tuple[PathOperator, ...]:
    """Return the operators of a stored `pathOps` list; an unknown type is read as `zigzag`."""
    return tuple(_operator(entry) for entry in (stored if isinstance(stored, list) else ()) if isinstance(entry, dict))


def animate(operator: PathOperator, values: Mapping[str, float]) -> PathOperator:
    """Return the operator with sampled values, keyed by the last part of `pathop.<id>.<param>`. Other names are
    ignored.
    """
    known: dict[str, Any] = {_FIELDS[name]: value for name, value in values.items() if name in _FIELDS}
    known.pop("seed", None)
    return replace(operator, **known) if known else operator


def _operator(entry: Mapping[str, object]) -> PathOperator:
    kind = entry.get("type")
    numbers: dict[str, Any] = {
        field: number
        for name, field in _FIELDS.items()
        if (number := exact(entry.get(name)) if name == "seed" else finite(entry.get(name))) is not None
    }
    return PathOperator(
        id=str(entry.get("id", "")),
        type=kind if isinstance(kind, str) and kind in TYPES else "zigzag",
        is_below=entry.get("composite") == "below",
        is_simultaneous=entry.get("trimMultiple") == "simultaneously",
        **numbers,
    )


_FIELDS = {stored_name(field.name): field.name for field in fields(PathOperator) if field.type == "float"}
