"""One parameter of an effect (format/effects.md 1.2 and 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from motion.snapshot import ParameterValue

UNITS = ("number", "px", "%", "°", "s", "fps", "x", "Hz", "stops")
"""Units of numbers; "number" has none. Those in px scale with the raster of a baked layer; positive angles are clockwise on screen."""
EXCESS = 4.0
"""A number can lie outside its range by this many widths of the range."""
UNRANGED_MAX = 1e5
"""Largest number without a range."""
DEGREES_MAX = 3.6e7
ENDLESS = frozenset({"evolution", "phase", "seed", "noisePhase"})
"""Keys of numbers that run on with time or choose a pattern. They cost nothing, however large they are."""
ENDLESS_MAX = 1e6
"""Largest of them: keys of hashes stay within 84 bits."""


class Kind(Enum):
    """Storage of a parameter, and whether a track can drive it."""

    NUMBER = "N"
    COLOR = "C"
    FLAG = "B"
    CHOICE = "E"
    CURVE = "K"
    LAYER = "L"
    FILLED = "X"
    """Filled by the renderer or by an importer."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. The range is what the editor's controls offer; values are not clamped to it."""

    key: str
    kind: Kind
    default: ParameterValue
    ui_min: float | None = None
    ui_max: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    literal_true: bool = False
    """A flag that is on for the stored literal true alone, whatever its default (effects.md 1.1)."""

    @classmethod
    def read(cls, key: str, kind: str, *rest: Any) -> Parameter:
        """Return a parameter from its line of the catalogue: key, kind or unit, and what the kind has.

        A unit: default and, where there is one, range. "color", "flag", "literal_true": default.
        "choice": index of the default, names. "curve", "layer": nothing. "filled": a default, if it has one.
        Raises ValueError for anything else.
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
        """Return the value, held within EXCESS widths of its range: absurd numbers must not cost without end.

        Angles and numbers like an evolution go on and on, and cost nothing.
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
        """Name under which shaders declare it: `centerX` is `u_center_x`."""
        return _uniform_of(self.key)


@cache
def _uniform_of(key: str) -> str:
    return "u_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
