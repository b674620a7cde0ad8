"""Every effect of the format by its id: a catalogue entry, and code if a shader alone is not enough.

`catalog/FAMILY.toml` has an entry for each effect of a family, in listing order:

    [twirl]
    summary = "Turns the picture about a point, most at the point itself."
    tier = "common"
    route = "gpu"
    shader = "effects/twirl.frag"
    idle_baked = [{ radius = "<= 0" }, { angle = 0 }]
    parameters = [
        ["centerX", "px", 0, -10000, 10000],
        ["angle", "°", 90, -1440, 1440],
    ]

The fields are those of `values.Declaration`, the lines of parameters those of `Parameter.read`. A state of `idle`,
`idle_baked` or `invalid` is a table of values (`angle = 0`) and bounds ("<", "<=" or ">=" and a number). The shader
declares a parameter as `uniform float u_center_x` (vec4 for colours as straight sRGB fractions, int for choices, bool
for flags). Lengths have the unit of its `place()`: layer px in screen space, canvas px on the layer's canvas.

An effect that needs more than a shader and its parameters also has a class that holds only that code:

    @effect("keylight")
    class Keylight(Effect):
        def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
            screen = values.color("screenColor")
            return {"u_primary": max((1, 2, 0), key=lambda channel: screen[channel])}
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gpu_renderer.effects.parameters import Parameter
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.surface import is_pointwise
from gpu_renderer.effects.values import Condition, Declaration, EffectValues, Route, Tier
from motion.snapshot import EffectSnapshot

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import EffectChain

CATALOG = Path(__file__).parent / "catalog"
FAMILIES = (
    "baked/blur", "baked/color", "baked/drawn", "baked/keying", "baked/matte", "baked/noise", "baked/particles",
    "baked/pattern", "shadow", "baked/style", "baked/stylise", "baked/transition", "baked/warp", "blur", "channel",
    "color", "distort", "generate", "light", "matrix", "solid", "stylise", "table", "time",
)  # fmt: skip
"""Files of the catalogue. The `baked` files hold effects that only exist on the layer's own canvas."""


class Effect(Declaration):
    """Declaration and behaviour of one effect; stateless, one instance each."""

    @property
    def is_pointwise(self) -> bool:
        """True if the GPU form computes each pixel from the same pixel alone."""
        return bool(self.shader) and is_pointwise(self.shader)

    @property
    def moves_within_box(self) -> bool:
        """True if the GPU form can move the picture by an unknown distance within the layer's box."""
        is_bounded = self.is_pointwise or self.is_soft or self.fills_frame
        return not is_bounded and type(self).margin_px is Effect.margin_px

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        """Return the distance that the GPU form draws outside the layer, output px, infinite for the whole frame."""
        del values, scene
        return math.inf if self.fills_frame else 0.0

    def sigma_px(self, values: EffectValues, scene: EffectScene) -> float:
        """Return the sigma of the sharpest glow of a soft effect, output px."""
        del values, scene
        return 0.0

    def halvings_before(self, values: EffectValues, scene: EffectScene) -> int:
        """Return how often the size of the picture can be halved before the GPU form, which would halve it more often."""
        del values, scene
        return 0

    def offset_px(self, values: EffectValues, scene: EffectScene) -> tuple[float, float]:
        """Return the displacement of a soft effect's glow, output px."""
        del values, scene
        return 0.0, 0.0

    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        """Run the GPU form: passes over the layer's linear premultiplied buffer, in screen space."""
        chain.apply(self.shader, values)

    def padding_px(self, values: EffectValues) -> float:
        """Return the distance that the raster form draws outside the box, layer px (effects.md 4.1)."""
        del values
        return 0.0

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        """Run the raster form: passes over the layer's own 8-bit sRGB canvas, before the transform."""
        canvas.apply(self.shader, values)


E = TypeVar("E", bound=type[Effect])
_CODE: dict[str, type[Effect]] = {}


def effect(effect_id: str) -> Callable[[E], E]:
    """Register a class as the code of an effect, by the id that documents store."""

    def register(kind: E) -> E:
        assert effect_id not in _CODE, f"{effect_id} has code twice"
        _CODE[effect_id] = kind
        return kind

    return register


def find(effect_id: str) -> Effect | None:
    """Return the effect of an id, or None for an id that the format does not have (plugins, newer versions)."""
    return _catalog().get(effect_id)


def known(stack: Iterable[EffectSnapshot]) -> Iterator[tuple[Effect, EffectSnapshot]]:
    """Yield the entries of a stack whose effects the format has, each after its effect."""
    for entry in stack:
        if (effect := find(entry.type)) is not None:
            yield effect, entry


def every_effect() -> tuple[Effect, ...]:
    """Return all effects, by family, then in the order of the catalogue."""
    return tuple(_catalog().values())


@cache
def _catalog() -> dict[str, Effect]:
    """Read the catalogue, on first use."""
    return read_catalog(CATALOG)


def read_catalog(folder: Path) -> dict[str, Effect]:
    """Return the effects that the files of a folder declare, with their code.

    Raises ValueError for an invalid entry.
    """
    found: dict[str, Effect] = {}
    for family in FAMILIES:
        for effect_id, entry in tomllib.loads((folder / f"{family}.toml").read_text(encoding="utf-8")).items():
            if effect_id in found:
                raise ValueError(f"{effect_id} in {family}.toml: declared twice")
            found[effect_id] = _read(effect_id, family, entry)
    if missing := _CODE.keys() - found.keys():
        raise ValueError(f"code without an entry: {sorted(missing)}")
    return found


def _read(effect_id: str, family: str, entry: dict[str, Any]) -> Effect:
    try:
        for states in {"idle", "idle_baked", "invalid"} & entry.keys():
            entry[states] = tuple(tuple(starmap(Condition.read, state.items())) for state in entry[states])
        kind = _CODE.get(effect_id, Effect)
        entry.setdefault("is_one_pass", kind.bake is Effect.bake)
        return kind(
            effect_id,
            Path(family).name,
            entry.pop("summary"),
            Tier(entry.pop("tier")),
            Route[entry.pop("route").upper()],
            tuple(Parameter.read(*line) for line in entry.pop("parameters")),
            **entry,
        )
    except (KeyError, TypeError, ValueError) as fault:
        raise ValueError(f"{effect_id} in {family}.toml: {fault!r}") from fault
