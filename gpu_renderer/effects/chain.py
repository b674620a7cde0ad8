"""The GPU route: an unbaked layer's spatial effects, in stack order, over its buffer in screen space.

One layer (format/effects.md 3.2): draw the content through the color stage into a linear premultiplied half-float
target whose region has room for `spread_px`; hand it to `chain`; composite what comes back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from gpu_renderer.effects.gaussian import gaussian_blurred
from gpu_renderer.effects.registry import Effect, Route, find
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.surface import Surface
from gpu_renderer.effects.values import EffectValues, resolve
from gpu_renderer.painter import Painter
from gpu_renderer.programs import UniformValue
from gpu_renderer.targets import Target
from motion.snapshot import EffectSnapshot

MARGIN_PX = 2
"""Room for the bilinear taps of one pass."""


class Chain(Surface):
    """The layer's buffer on its way through the passes."""

    def __init__(self, painter: Painter, target: Target, scene: EffectScene) -> None:
        super().__init__(painter, target)
        self.scene = scene
        self._common = _common_uniforms(scene)

    def common(self) -> dict[str, UniformValue]:
        """Frame and layer geometry (shaders/include/chain.glsl)."""
        return self._common

    def parameters(self, values: EffectValues) -> dict[str, UniformValue]:
        """Parameters in output px; colours carry the opacity that belongs to them."""
        found = dict[str, UniformValue](values.uniforms())
        effect = values.effect
        for key, opacity in effect.folded:
            found[effect.parameter(key).uniform] = values.color_with(key, values.fraction(opacity))
        found.update(effect.derive(values, self.scene.layer_width, self.scene.layer_height))
        return found

    def blurred(self, sigma: float) -> Target:
        """The picture blurred by a Gaussian, or as it is where sigma is not positive; the caller owns it."""
        if sigma <= 0:
            return self.passed("effects/copy.frag")
        return gaussian_blurred(self.painter, self.target, sigma, exact=self.scene.exact_blur)

    def blurred_alpha(self, sigma: float) -> Target:
        """The same of the alpha alone."""
        if sigma <= 0:
            return self.passed("effects/copy.frag")
        return gaussian_blurred(self.painter, self.target, sigma, exact=self.scene.exact_blur, only_alpha=True)

    def map_layer(self, layer_id: str) -> Target | None:
        """Another layer over the whole frame; None where it is unset, missing or the layer itself."""
        return self.scene.layer_target(layer_id) if layer_id and layer_id != self.scene.layer_id else None


def chain(
    painter: Painter,
    source: Target,
    effects: Iterable[EffectSnapshot],
    scene: EffectScene,
    *,
    after_baking: bool = False,
) -> Target:
    """Runs the spatial effects of a stack over a layer's buffer, in order.

    `source` is linear premultiplied and covers the layer's pixels and its effects' reach; it passes into the chain's
    hands, and the target returned, of the same region, into the caller's. Matrix, table, raster and time effects are
    skipped. With `after_baking` only the effects that have no raster form run: the layer came from `bake`.
    """
    run = Chain(painter, source, scene)
    for effect, values in _passes(effects, after_baking):
        effect.draw(run, values)
    return run.target


def spread_px(effects: Iterable[EffectSnapshot], scene: EffectScene, *, after_baking: bool = False) -> int:
    """How far the chain draws beyond the layer's own pixels, in output px; the frame's longer side means: all of it.

    Grow the region of the layer's buffer by this (and cut it to the frame) before the layer is drawn into it.
    """
    reach = sum((effect.reach_px(values, scene) for effect, values in _passes(effects, after_baking)), 0.0)
    limit = max(scene.frame.width, scene.frame.height)
    return limit if reach >= limit else math.ceil(reach) + MARGIN_PX


def has_chain(effects: Iterable[EffectSnapshot], *, after_baking: bool = False) -> bool:
    """Whether a stack has any pass to run; without one the layer needs no buffer of its own."""
    return next(_passes(effects, after_baking), None) is not None


def _passes(effects: Iterable[EffectSnapshot], after_baking: bool) -> Iterator[tuple[Effect, EffectValues]]:
    routes = (Route.GPU_ONLY,) if after_baking else (Route.GPU, Route.GPU_ONLY)
    for entry in effects:
        effect = find(entry.type)
        if effect is None or effect.route not in routes:
            continue
        values = resolve(effect, entry)
        if not effect.is_idle(values):
            yield effect, values


def _common_uniforms(scene: EffectScene) -> dict[str, UniformValue]:
    return {
        "u_frame_size": (float(scene.frame.width), float(scene.frame.height)),
        "u_box": tuple(map(float, scene.layer_box)),
        "u_layer_size": (max(1.0, scene.layer_width), max(1.0, scene.layer_height)),
        "u_mirrored": int(scene.mirrored),
        "u_length_scale": float(scene.length_scale),
    }
