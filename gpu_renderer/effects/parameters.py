"""Declaration of one parameter of an effect (format/effects.md 1.2 and 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from motion.snapshot import ParameterValue

EXCESS = 4.0
UNRANGED_MAX = 1e5
DEGREES_MAX = 3.6e7


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

    def bounded(self, value: float) -> float:
        """Return the value, held within five times the range of its control: absurd numbers must not cost without end.

        Angles go on and on, and cost nothing.
        """
        if self.unit == "°":
            return max(-DEGREES_MAX, min(DEGREES_MAX, float(value)))
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
        return "u_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.key).lower()


def number(
    key: str, default: float, ui_min: float | None = None, ui_max: float | None = None, unit: str = ""
) -> Parameter:
    """A number, keyframable. The unit `px` makes it scale with the raster of a baked layer."""
    return Parameter(key, Kind.NUMBER, float(default), ui_min, ui_max, unit)


def pixels(key: str, default: float, ui_min: float | None = None, ui_max: float | None = None) -> Parameter:
    """A length in pixels."""
    return number(key, default, ui_min, ui_max, "px")


def percent(key: str, default: float, ui_min: float | None = 0, ui_max: float | None = 100) -> Parameter:
    """A percentage."""
    return number(key, default, ui_min, ui_max, "%")


def degrees(key: str, default: float, ui_min: float | None = None, ui_max: float | None = None) -> Parameter:
    """An angle; positive is clockwise on screen."""
    return number(key, default, ui_min, ui_max, "°")


def color(key: str, default: str) -> Parameter:
    """A colour, keyframable by channel."""
    return Parameter(key, Kind.COLOR, default)


def flag(key: str, default: bool, *, literal_true: bool = False) -> Parameter:
    """A checkbox."""
    return Parameter(key, Kind.FLAG, default, literal_true=literal_true)


def choice(key: str, default: int, *choices: str) -> Parameter:
    """A number that names one of the choices; tracks on it are ignored."""
    return Parameter(key, Kind.CHOICE, float(default), 0, len(choices) - 1, choices=choices)


def curve(key: str) -> Parameter:
    """Points of 0..255 by 0..255, the identity by default."""
    return Parameter(key, Kind.CURVE, ((0.0, 0.0), (255.0, 255.0)))


def layer(key: str) -> Parameter:
    """Return the id of another layer; empty means none."""
    return Parameter(key, Kind.LAYER, "")


def filled(key: str, default: ParameterValue = ()) -> Parameter:
    """A value that the renderer or an importer provides."""
    return Parameter(key, Kind.FILLED, default)


def points(unit: str, *keys: str) -> tuple[Parameter, ...]:
    """Two offsets in `unit` for each key: `topLeft` makes `topLeftX` and `topLeftY`."""
    return tuple(number(key + axis, 0, -10000, 10000, unit) for key in keys for axis in "XY")
