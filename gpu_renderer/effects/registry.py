"""Every effect of the format by its id, and the shape of an effect.

An effect is one class: its parameters, its route, and how it is drawn. Most are a list of parameters and a shader:

    @effect("twirl", Tier.COMMON, Route.GPU)
    class Twirl(Effect):
        \"\"\"Turns the picture about a point, most at the point itself.\"\"\"

        parameters = (pixels("centerX", 0), pixels("centerY", 0), pixels("radius", 120), degrees("angle", 90))
        shader = "effects/twirl.frag"

The shader declares a parameter as `uniform float u_center_x` (vec4 for colours as straight sRGB fractions, int for
choices, bool for flags) and gets it, in the pixels of the route. A family of effects shares a module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeVar

from gpu_renderer.effects.parameters import Parameter
from gpu_renderer.effects.pointwise import is_pointwise
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import Defines, EffectValues
from gpu_renderer.opengl.programs import UniformValue
from motion.snapshot import EffectSnapshot

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import Chain


class Route(Enum):
    """Route on which an effect runs (effects.md 2)."""

    MATRIX = "M"
    TABLE = "T"
    GPU = "G"
    GPU_ONLY = "GO"
    RASTER = "R"
    TIME = "TM"

    @property
    def is_spatial(self) -> bool:
        """True if it is a pass over an unbaked layer's buffer."""
        return self in (Route.GPU, Route.GPU_ONLY)


class Tier(Enum):
    """Frequency of an effect in documents."""

    CORE = "core"
    COMMON = "common"
    RARE = "rare"


class Effect:
    """Behaviour and declaration of one effect; stateless, one instance each."""

    id: ClassVar[str]
    tier: ClassVar[Tier]
    route: ClassVar[Route]
    family: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    shader: ClassVar[str] = ""
    derived: ClassVar[frozenset[str]] = frozenset()
    """Uniforms that the shader needs besides the parameters: what `derive` returns."""
    folded: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Colours that carry an opacity as their alpha on the GPU route: colour key to the percentage's key."""
    is_drawn: ClassVar[bool] = False
    """True if the raster form draws on the canvas or is a CSS filter; other raster forms share straight bytes (effects.md 4.7)."""
    is_one_pass: ClassVar[bool] = False
    """True if an own `bake` is a single pass."""
    is_soft: ClassVar[bool] = False
    """True if the GPU form only draws a glow behind the picture or blurs it."""
    round_lengths: ClassVar[bool] = False
    """True if the GPU form's lengths must be the same across and down: it cannot run in a buffer that is stretched."""
    keeps_color: ClassVar[bool] = False
    """True if the raster form keeps the colour of one-colour content, except for rounding."""

    @property
    def label(self) -> str:
        """Id as words: `gaussian-blur` is "Gaussian Blur"."""
        return self.id.replace("-", " ").title()

    @property
    def summary(self) -> str:
        """Return a sentence about the effect."""
        return (self.__doc__ or "").strip().splitlines()[0]

    @property
    def is_pointwise(self) -> bool:
        """True if the GPU form makes each pixel of that pixel of the picture alone."""
        return bool(self.shader) and is_pointwise(self.shader)

    def parameter(self, key: str) -> Parameter:
        """Return the declaration of a parameter. Raises KeyError for a key that the effect does not have."""
        return _by_key(self)[key]

    @property
    def reads_pixels(self) -> bool:
        """Return True if the raster form is a kernel over straight bytes, which shares a buffer with its neighbours."""
        return not self.is_drawn

    @property
    def has_one_pass(self) -> bool:
        """Return True if the raster form is a single pass."""
        return self.is_one_pass or type(self).bake is Effect.bake

    @property
    def moves_within_box(self) -> bool:
        """Return True if the GPU form can show the picture anywhere in the layer's box, at an unknown distance."""
        return not (self.is_pointwise or self.is_soft) and type(self).margin_px is Effect.margin_px

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        """Uniforms computed from the values; width and height in px of the layer or of the canvas."""
        del values, width, height
        return {}

    def variant(self, values: EffectValues) -> Defines:
        """Return the #defines of the shader that these values need."""
        del values
        return ()

    def is_idle(self, values: EffectValues) -> bool:
        """Return True if these values leave every layer as it is."""
        del values
        return False

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        """Return the distance that the GPU form draws outside the layer, output px, infinite for the whole frame."""
        del values, scene
        return 0.0

    def sigma_px(self, values: EffectValues, scene: EffectScene) -> float:
        """Return the sigma of the sharpest glow of a soft effect, output px."""
        del values, scene
        return 0.0

    def offset_px(self, values: EffectValues, scene: EffectScene) -> tuple[float, float]:
        """Return the displacement of a soft effect's glow, output px."""
        del values, scene
        return 0.0, 0.0

    def draw(self, chain: Chain, values: EffectValues) -> None:
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
_EFFECTS: dict[str, Effect] = {}
_PARAMETERS: dict[str, dict[str, Parameter]] = {}


def effect(effect_id: str, tier: Tier, route: Route) -> Callable[[E], E]:
    """Register an effect class under the id that documents store."""

    def register(kind: E) -> E:
        assert effect_id not in _EFFECTS, f"{effect_id} is declared twice"
        kind.id, kind.tier, kind.route = effect_id, tier, route
        kind.family = kind.__module__.rpartition(".")[2]
        _EFFECTS[effect_id] = kind()
        return kind

    return register


def find(effect_id: str) -> Effect | None:
    """Return the effect of an id; None for ids that the format does not have (plugins, newer versions)."""
    return _EFFECTS.get(effect_id)


def every_effect() -> tuple[Effect, ...]:
    """All effects, by family, then in the order of their declaration."""
    return tuple(_EFFECTS.values())


def unknown(effects: tuple[EffectSnapshot, ...]) -> list[str]:
    """Return the types of a stack that are not drawn because nothing here knows them, in order, each once."""
    return list(dict.fromkeys(entry.type for entry in effects if entry.type not in _EFFECTS))


def _by_key(kind: Effect) -> dict[str, Parameter]:
    if kind.id not in _PARAMETERS:
        _PARAMETERS[kind.id] = {p.key: p for p in kind.parameters}
    return _PARAMETERS[kind.id]
