"""One parameter of an effect (effects.md 1.2 and 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from motion.snapshot import ParameterValue

UNITS = ("number", "px", "%", "°", "s", "fps", "x", "Hz", "stops")
"""Units of numbers; "number" has none. Lengths in px scale with the raster of a baked layer.

Positive angles are clockwise on screen.
"""
EXCESS = 4.0
"""Number of range widths by which a number can exceed its range."""
UNRANGED_MAX = 1e5
"""Limit of a number without a range."""
DEGREES_MAX = 3.6e7
ENDLESS = frozenset({"evolution", "phase", "seed", "noisePhase"})
"""Keys of numbers that increase with time or choose a pattern. Large values cost nothing."""
ENDLESS_MAX = 1e6
"""Limit of these numbers, so that keys of hashes stay within 84 bits."""


class Kind(Enum):
    """Storage of a parameter, and whether a track can drive it."""

    NUMBER = "N"
    COLOR = "C"
    FLAG = "B"
    CHOICE = "E"
    CURVE = "K"
    LAYER = "L"
    FILLED = "X"
    """Value that the renderer or an importer sets."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. The range is that of the editor's controls. Values are not clamped to it."""

    key: str
    kind: Kind
    default: ParameterValue
    ui_min: float | None = None
    ui_max: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    literal_true: bool = False
    """True for a flag that is on only if the stored value is the literal true, whatever its default (effects.md 1.1)."""

    @classmethod
    def read(cls, key: str, kind: str, *rest: Any) -> Parameter:
        """Return a parameter from its line of the catalogue: key, kind or unit, and the values of that kind.

        Values after a unit: default and optional range. After "color", "flag", "literal_true": default. After "choice":
        index of the default, names. After "curve", "layer": none. After "filled": optional default. Raises ValueError
        for anything else.
        """
        match kind, rest:
            case "color", (str() as default,):
                return cls(key, Kind.COLOR, default)
            case "flag" | "literal_true", (bool() as default,):
                return cls(key, Kind.FLAG, default, literal_true=kind == "literal_true")
            case "choice", (int() as default, *names) if len(names) > default:
                return cls(key, Kind.CHOICE, float(default), 0, len(names) - 1, choices=tuple(names))
            case "curve", ():
                return cls(key, Kind.CURVE, ((0.0, 0.0), (255.0, 255.0)))
            case "layer", ():
                return cls(key, Kind.LAYER, "")
            case "filled", _:
                return cls(key, Kind.FILLED, *(rest or ((),)))
            case _, (int() | float() as default, *limits) if kind in UNITS and len(limits) in (0, 2):
                low, high = limits or (None, None)
                return cls(key, Kind.NUMBER, float(default), low, high, kind if kind != "number" else "")
        raise ValueError(f"{key} cannot be {kind} {rest}")

    def bounded(self, value: float) -> float:
        """Return the value, limited to EXCESS range widths beyond its range, so that extreme numbers stay cheap.

        Angles and the keys in ENDLESS can be large, because they cost nothing.
        """
        if self.unit == "°":
            return max(-DEGREES_MAX, min(DEGREES_MAX, float(value)))
        if self.key in ENDLESS:
            return max(-ENDLESS_MAX, min(ENDLESS_MAX, float(value)))
        low = -UNRANGED_MAX if self.ui_min is None else self.ui_min
        high = UNRANGED_MAX if self.ui_max is None else self.ui_max
        room = EXCESS * (high - low)
        return min(high + room, max(low - room, float(value)))

    @property
    def label(self) -> str:
        """Key as words: `centerX` is "Center X"."""
        words = re.sub(r"(?<=[a-z])(?=[A-Z0-9])", " ", self.key)
        return words[:1].upper() + words[1:]

    @property
    def uniform(self) -> str:
        """Name of the shader's uniform: `centerX` is `u_center_x`."""
        return _uniform_of(self.key)


@cache
def _uniform_of(key: str) -> str:
    return "u_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
