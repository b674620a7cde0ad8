"""Declaration of an effect, and the values of its parameters at one time (effects.md 1.1 and 1.2)."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from gpu_renderer.effects.parameters import Kind, Parameter
from gpu_renderer.geometry.color import Rgba, of_hex
from gpu_renderer.opengl.programs import UniformValue
from motion.formulas import css_color
from motion.snapshot import EffectSnapshot, ParameterValue

_PLAIN_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z")
_ANY_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\Z")
FALLBACK_COLOR = "#808080"
"""Colour used for a text that cannot be parsed (effects.md 6)."""

Defines = tuple[tuple[str, str], ...]
"""#defines of a shader, by name."""


class Route(Enum):
    """Route on which an effect runs (effects.md 2). The values are the codes of that section."""

    MATRIX = "M"
    """It folds into the colour matrix of its layer."""
    TABLE = "T"
    """It folds into the colour tables of its layer."""
    GPU = "G"
    """A pass in screen space, or on the canvas of a baked layer."""
    GPU_ONLY = "GO"
    """A pass in screen space, also after the canvas of a baked layer."""
    RASTER = "R"
    """A pass on the canvas: its layer is baked."""
    TIME = "TM"
    """No pixels: evaluation applies it."""

    @property
    def is_spatial(self) -> bool:
        """True if it is a pass over an unbaked layer's buffer."""
        return self in (Route.GPU, Route.GPU_ONLY)


class Tier(Enum):
    """Frequency of an effect in documents."""

    CORE = "core"
    COMMON = "common"
    RARE = "rare"


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {"<": operator.lt, "<=": operator.le, ">=": operator.ge}


class Condition(NamedTuple):
    """Comparison of a number or flag, found by its key, with a bound."""

    key: str
    holds: Callable[[float, float], bool]
    bound: float | bool

    @classmethod
    def read(cls, key: str, wanted: float | bool | str) -> Condition:
        """Return the condition for a value (0, false) or a bound ("<= 0") of the catalogue."""
        if not isinstance(wanted, str):
            return cls(key, operator.eq, wanted)
        comparison, bound = wanted.split()
        return cls(key, _COMPARISONS[comparison], float(bound))


State = tuple[Condition, ...]
"""Conditions that must all hold."""


@dataclass(frozen=True, eq=False)
class Declaration:
    """Catalogue entry of an effect. `registry.Effect` adds the drawing."""

    id: str
    family: str
    summary: str
    """One sentence that describes the effect."""
    tier: Tier
    route: Route
    parameters: tuple[Parameter, ...]
    shader: str = ""
    folded: Mapping[str, str] = field(default_factory=dict)
    """Colours whose alpha is an opacity on the GPU route: key of the colour to key of the percentage."""
    idle: tuple[State, ...] = ()
    """States in which the effect leaves every layer unchanged."""
    idle_baked: tuple[State, ...] = ()
    """States in which the raster form also leaves the picture unchanged (effects.md 4.6). Lengths are in canvas px."""
    is_filter: bool = False
    """True if the raster form is a CSS filter. Consecutive filters are applied as one (effects.md 4.2)."""
    invalid: tuple[State, ...] = ()
    """States in which a browser rejects the CSS filter and its whole run of filters (effects.md 4.6)."""
    is_drawn: bool = False
    """True if the raster form draws on the canvas or is a CSS filter.

    Other raster forms share straight bytes (effects.md 4.7).
    """
    is_one_pass: bool = False
    """True if the raster form stores the canvas once, as without code of its own.

    The pass then stores premultiplied bytes itself, which saves a pass over the whole canvas.
    """
    is_soft: bool = False
    """True if the GPU form only draws a glow behind the picture or blurs it."""
    round_lengths: bool = False
    """True if the GPU form's lengths must be equal horizontally and vertically. It cannot run in a stretched buffer."""
    fills_frame: bool = False
    """True if the GPU form can draw anywhere in the frame."""
    keeps_opaque: bool = False
    """True if the GPU form leaves an opaque picture opaque."""
    keeps_color: bool = False
    """True if the raster form keeps the colour of one-colour content, except for rounding."""

    def __post_init__(self) -> None:
        for state in (*self.idle, *self.idle_baked, *self.invalid):
            if unknown := {condition.key for condition in state} - self.by_key.keys():
                raise ValueError(f"idle for unknown parameters {unknown}")

    @cached_property
    def by_key(self) -> Mapping[str, Parameter]:
        """Parameters by key."""
        return {parameter.key: parameter for parameter in self.parameters}

    @property
    def label(self) -> str:
        """Id as words: `gaussian-blur` is "Gaussian Blur"."""
        return self.id.replace("-", " ").title()

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        """Return uniforms computed from the values. `width`, `height`: px of the layer or of the canvas."""
        del values, width, height
        return {}

    def variant(self, values: EffectValues) -> Defines:
        """Return the #defines of the shader that these values need."""
        del values
        return ()

    def is_idle(self, values: EffectValues) -> bool:
        """Return True if these values leave every layer as it is."""
        return values.are_in(self.idle)


def rgba(text: ParameterValue, fallback: str = FALLBACK_COLOR) -> Rgba:
    """Return a hex colour (`#rgb`, `#rrggbb`, `#rrggbbaa`) as fractions, or the fallback for other text."""
    return of_hex((text if isinstance(text, str) and _ANY_HEX.match(text) else fallback)[1:])


@dataclass(frozen=True, slots=True)
class EffectValues:
    """Values by parameter key. A wrong type does not always give the default: see each reader."""

    effect: Declaration
    by_key: Mapping[str, ParameterValue]
    length_scale: float = 1.0
    """Factor of numbers in px: raster px per layer px on a baked layer, else 1."""
    reads_short_hex: bool = False
    """True for raster kernels, which read only `#rgb` and `#rrggbb` (effects.md 6)."""

    def number(self, key: str) -> float:
        """Return a number, or 0 if the stored value is not a number. Lengths are multiplied by `length_scale`."""
        value = self.by_key[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            return 0.0
        declared = self.effect.by_key[key]
        bounded = declared.bounded(value)
        return bounded * self.length_scale if declared.unit == "px" else bounded

    def fraction(self, key: str) -> float:
        """Return a percentage as a fraction."""
        return self.number(key) / 100

    def whole(self, key: str, least: int = -(2**31), most: int = 2**31) -> int:
        """Return a number rounded half up, within limits. Used for counts, and for menus stored as plain numbers."""
        return min(most, max(least, math.floor(max(-2e9, min(2e9, self.number(key))) + 0.5)))

    def radians(self, key: str) -> float:
        """Return an angle in radians."""
        return math.radians(self.number(key))

    def flag(self, key: str) -> bool:
        """Return a checkbox, or the declared default if the stored value is not a boolean."""
        value, declared = self.by_key[key], self.effect.by_key[key]
        if isinstance(value, bool):
            return value
        return False if declared.literal_true else declared.default is True

    def color(self, key: str) -> Rgba:
        """Return a colour as straight sRGB fractions."""
        text = self.by_key[key]
        has_alpha = isinstance(text, str) and len(text) == len("#rrggbbaa")
        return rgba(FALLBACK_COLOR if self.reads_short_hex and has_alpha else text)

    def color_with(self, key: str, opacity: float) -> Rgba:
        """Return a colour with the opacity as alpha, unless the stored text has an alpha (effects.md 3.1)."""
        text, color = self.by_key[key], self.color(key)
        return color._replace(alpha=opacity) if isinstance(text, str) and _PLAIN_HEX.match(text) else color

    def layer(self, key: str) -> str:
        """Return a layer id, empty if none is set."""
        value = self.by_key[key]
        return value if isinstance(value, str) else ""

    def points(self, key: str) -> list[tuple[float, float]]:
        """Return the valid pairs of a curve, in stored order."""
        value = self.by_key[key]
        pairs = value if isinstance(value, tuple) else ()
        return [(float(p[0]), float(p[1])) for p in pairs if _is_pair(p)]  # type: ignore[index, arg-type]

    def stored(self, key: str) -> ParameterValue:
        """Return a value of any type as it is stored."""
        return self.by_key[key]

    def are_in(self, states: Sequence[State]) -> bool:
        """Return True if the values match one of the states."""
        return any(all(self._meets(condition) for condition in state) for state in states)

    def scaled(self, length_scale: float) -> EffectValues:
        """Return the same values with a new `length_scale`."""
        return EffectValues(self.effect, self.by_key, length_scale, reads_short_hex=not self.effect.is_drawn)

    def uniforms(self) -> Iterator[tuple[str, float | int | tuple[float, ...]]]:
        """Each number, colour, flag and choice under its uniform's name."""
        for parameter in self.effect.parameters:
            match parameter.kind:
                case Kind.NUMBER:
                    yield parameter.uniform, self.number(parameter.key)
                case Kind.CHOICE:
                    yield parameter.uniform, self.whole(parameter.key)
                case Kind.FLAG:
                    yield parameter.uniform, int(self.flag(parameter.key))
                case Kind.COLOR:
                    yield parameter.uniform, self.color(parameter.key)
                case _:
                    pass

    def _meets(self, condition: Condition) -> bool:
        key, holds, bound = condition
        return holds(self.flag(key) if isinstance(bound, bool) else self.number(key), bound)


def resolve(effect: Declaration, snapshot: EffectSnapshot) -> EffectValues:
    """Return an effect's values.

    In rising precedence: defaults, the legacy single value, stored parameters, clock, tracks.
    """
    values: dict[str, ParameterValue] = {p.key: p.default for p in effect.parameters}
    primary = next((p for p in effect.parameters if p.kind is Kind.NUMBER), None)
    if primary is not None and snapshot.amount is not None:
        values[primary.key] = snapshot.amount
    values.update({key: value for key, value in snapshot.stored if key in values})
    if snapshot.clock is not None and "time" in values and values.get("followCompTime") is not False:
        values["time"] = snapshot.clock
    tracks = dict(snapshot.animated)
    sampled = [_animate(values, parameter, tracks) for parameter in effect.parameters]
    if primary is not None and "" in tracks and not any(sampled):
        values[primary.key] = tracks[""]
    return EffectValues(effect, values)


def _animate(values: dict[str, ParameterValue], parameter: Parameter, tracks: Mapping[str, float]) -> bool:
    """Write the values that tracks give a parameter. Return True if there are any."""
    if parameter.kind is Kind.NUMBER and parameter.key in tracks:
        values[parameter.key] = tracks[parameter.key]
        return True
    if parameter.kind is Kind.COLOR:
        channels = [tracks.get(f"{parameter.key}_{channel}") for channel in "rgba"]
        if any(channel is not None for channel in channels):
            values[parameter.key] = _mixed(rgba(values[parameter.key]), channels)
            return True
    return False


def _mixed(stored: Rgba, channels: Sequence[float | None]) -> str:
    """Return the stored colour with the sampled channels replaced, as 8-bit hex without alpha if opaque (animation.md 2.3)."""
    return css_color.from_channels(*(old if new is None else new for old, new in zip(stored, channels, strict=True)))


def _is_pair(point: ParameterValue) -> bool:
    return (
        isinstance(point, tuple)
        and len(point) >= 2
        and all(isinstance(v, (int, float)) and math.isfinite(v) for v in point[:2])
    )
