"""The effects of a layer that run as passes over its buffer, with what the compositor must know before it draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gpu_renderer.effects.layer_buffer import MOVABLE_FROM_SIGMA
from gpu_renderer.effects.raster_route import needs_baking
from gpu_renderer.effects.registry import Effect, known
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues, Route, resolve
from motion.snapshot import EffectSnapshot, LayerSnapshot

MARGIN_PX = 2
"""Room for the bilinear taps of one pass."""
_UNBAKED = Route.GPU, Route.GPU_ONLY


@dataclass(frozen=True, slots=True)
class EffectStack:
    """Spatial effects in stack order, each with its values. Effects that change nothing are left out."""

    passes: tuple[tuple[Effect, EffectValues], ...]

    @classmethod
    def of(cls, layer: LayerSnapshot) -> EffectStack:
        """Return the stack of a layer. On a baked layer, only effects without a raster form run as passes."""
        return cls(_passes(layer.effects, pass_routes(layer))) if layer.effects else _EMPTY

    @classmethod
    def unbaked(cls, effects: Iterable[EffectSnapshot]) -> EffectStack:
        """Return the stack of effects that are not baked."""
        return cls(_passes(effects, _UNBAKED))

    def spread_px(self, scene: EffectScene, *, without_glow: bool = False) -> int:
        """Return the distance that the passes draw outside the layer, output px.

        The frame's longer side stands for an unlimited distance.

        Grow the region of the layer's buffer by this distance, and clip it to the frame, before drawing the layer. With
        `without_glow` the soft effects at the end are left out, for `buffer_chain`.
        """
        passes = self._body() if without_glow else self.passes
        margin = sum((effect.margin_px(values, scene) for effect, values in passes), 0.0)
        limit = max(scene.frame.width, scene.frame.height)
        return limit if margin >= limit else math.ceil(margin) + MARGIN_PX

    def halvings_before(self, scene: EffectScene) -> int:
        """Return how often the layer's buffer can be halved before `buffer_chain`, whose first pass halves it anyway."""
        return self.passes[0][0].halvings_before(self.passes[0][1], scene) if self.passes else 0

    def shadow_offsets(self, scene: EffectScene) -> list[tuple[float, float]]:
        """Return the displacement of the silhouette in each pass of a stack of soft effects, output px."""
        return [effect.offset_px(values, scene) for effect, values in self.passes]

    def is_movable_glow(self, scene: EffectScene) -> bool:
        """Return True if `buffer_chain` makes only a glow that is soft enough to be drawn once and then moved."""
        return bool(self.passes) and all(
            effect.is_soft and effect.sigma_px(values, scene) >= MOVABLE_FROM_SIGMA for effect, values in self.passes
        )

    @property
    def is_resampled(self) -> bool:
        """True if passes read the picture itself, not only blurs of it."""
        return bool(self._body())

    @property
    def is_pointwise(self) -> bool:
        """True if every pass computes each pixel from the same pixel alone."""
        return all(effect.is_pointwise for effect, _ in self.passes)

    @property
    def keeps_opaque(self) -> bool:
        """True if the passes leave an opaque picture opaque. Colour stages do."""
        return all(effect.keeps_opaque for effect, _ in self.passes)

    @property
    def moves_within_box(self) -> bool:
        """True if passes move pixels within the layer's box, so that transparent parts can become visible."""
        return any(effect.moves_within_box for effect, _ in self.passes)

    def _body(self) -> tuple[tuple[Effect, EffectValues], ...]:
        """Return the passes before the soft ones at the end."""
        kept = len(self.passes)
        while kept and self.passes[kept - 1][0].is_soft:
            kept -= 1
        return self.passes[:kept]


_EMPTY = EffectStack(())


def pass_routes(layer: LayerSnapshot) -> tuple[Route, ...]:
    """Return the routes whose effects run as passes over the buffer of a layer."""
    return (Route.GPU_ONLY,) if needs_baking(layer) else _UNBAKED


def _passes(effects: Iterable[EffectSnapshot], routes: tuple[Route, ...]) -> tuple[tuple[Effect, EffectValues], ...]:
    passes = [(effect, resolve(effect, entry)) for effect, entry in known(effects) if effect.route in routes]
    return tuple((effect, values) for effect, values in passes if not effect.is_idle(values))
