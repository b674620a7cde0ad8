"""GPU route: an unbaked layer's spatial effects, in stack order, over its buffer in screen space.

For one layer (format/effects.md 3.2): draw the content through the colour stage into a linear premultiplied half-float
target whose region includes `spread_px`, pass that target to `chain` or `buffer_chain`, and composite the result.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence

from gpu_renderer.effects.layer_buffer import MOVABLE_FROM_SIGMA, LayerBuffer, flattened
from gpu_renderer.effects.passes import EffectChain, PointwisePass, RecordedPasses
from gpu_renderer.effects.registry import Effect, known
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues, Route, resolve
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import EffectSnapshot

MARGIN_PX = 2
"""Room for the bilinear taps of one pass."""


def chain(
    painter: Painter,
    source: Target,
    effects: Iterable[EffectSnapshot],
    scene: EffectScene,
    *,
    first: PointwisePass | None = None,
    in_place: bool = False,
) -> Target:
    """Run the spatial effects of a stack over a layer's buffer, in order.

    Takes ownership of `source`, which is linear premultiplied and covers the layer's pixels with the margins of its
    effects. The caller owns the returned target, which has the same region. Matrix, table, raster and time effects are
    skipped. `first`: a pass before the effects. `in_place`: pointwise passes run on the target itself if the driver
    supports it, with the same bytes.
    """
    run = EffectChain(painter, source, scene, source.region, in_place=in_place)
    if first is not None:
        run.queue(first)
    return flattened(painter, _run_passes(run, effects, after_baking=False))


def buffer_chain(
    painter: Painter,
    source: Target,
    effects: Iterable[EffectSnapshot],
    scene: EffectScene,
    *,
    after_baking: bool = False,
    in_place: bool = False,
    halvings: int = 0,
) -> LayerBuffer:
    """Run like `chain` within the frame, but keep the glow of soft effects at the end of the stack separate.

    `source` needs no margin for glows: use `spread_px` with `without_glow`. With `after_baking` only effects without a
    raster form run, because the layer came from `bake`. `halvings`: how often the size of `source` has been halved, at most
    `halvings_before`.
    """
    run = EffectChain(painter, source, scene, scene.frame, in_place=in_place, halvings=halvings)
    return _run_passes(run, effects, after_baking)


def chain_in_place(
    painter: Painter,
    target: Target,
    effects: Iterable[EffectSnapshot],
    scene: EffectScene,
    rects: Rects,
    *,
    first: PointwisePass | None = None,
) -> None:
    """Run an `is_pointwise_stack` over parts of a target, in place. The driver must support that.

    `first`: a pass before the effects.
    """
    run = EffectChain(painter, target, scene, target.region, in_place=True, rects=rects)
    if first is not None:
        run.queue(first)
    _run_passes(run, effects, after_baking=False)


def pointwise_passes(
    painter: Painter, effects: Iterable[EffectSnapshot], scene: EffectScene, shaders: Container[str]
) -> list[PointwisePass] | None:
    """Return the passes of a stack without running them, or None if the shader of one is not among `shaders`."""
    passes = _passes(effects, after_baking=False)
    if any(effect.shader not in shaders for effect, _ in passes):
        return None
    with painter.pool.acquired(Region(0, 0, 1, 1), "f2") as target:
        run = RecordedPasses(painter, target, scene, target.region)
        for effect, values in passes:
            effect.draw(run, values)
    return run.passes


def _run_passes(run: EffectChain, effects: Iterable[EffectSnapshot], after_baking: bool) -> LayerBuffer:
    for effect, values in _passes(effects, after_baking):
        if not effect.is_soft:
            run.flatten()
        effect.draw(run, values)
    run.release()
    return run.buffer


def spread_px(
    effects: Iterable[EffectSnapshot], scene: EffectScene, *, after_baking: bool = False, without_glow: bool = False
) -> int:
    """Return the distance that the chain draws outside the layer, output px.

    The frame's longer side stands for an unlimited distance.

    Grow the region of the layer's buffer by this distance, and clip it to the frame, before drawing the layer. With
    `without_glow` the soft effects at the end are left out, for `buffer_chain`.
    """
    passes = _passes(effects, after_baking)
    margin = sum(
        (effect.margin_px(values, scene) for effect, values in (_body(passes) if without_glow else passes)), 0.0
    )
    limit = max(scene.frame.width, scene.frame.height)
    return limit if margin >= limit else math.ceil(margin) + MARGIN_PX


def halvings_before(effects: Iterable[EffectSnapshot], scene: EffectScene, *, after_baking: bool) -> int:
    """Return how often the layer's buffer can be halved before `buffer_chain`, whose first pass halves it anyway."""
    passes = _passes(effects, after_baking)
    return passes[0][0].halvings_before(passes[0][1], scene) if passes else 0


def is_resampled(effects: Iterable[EffectSnapshot], *, after_baking: bool) -> bool:
    """Return True if passes read the picture itself, not only blurs of it."""
    return bool(_body(_passes(effects, after_baking)))


def _body(passes: Sequence[tuple[Effect, EffectValues]]) -> Sequence[tuple[Effect, EffectValues]]:
    """Return the passes before the soft ones at the end."""
    kept = len(passes)
    while kept and passes[kept - 1][0].is_soft:
        kept -= 1
    return passes[:kept]


def is_movable_glow(effects: Iterable[EffectSnapshot], scene: EffectScene, *, after_baking: bool) -> bool:
    """Return True if `buffer_chain` makes only a glow that is soft enough to be drawn once and then moved."""
    passes = _passes(effects, after_baking)
    return bool(passes) and all(
        effect.is_soft and effect.sigma_px(values, scene) >= MOVABLE_FROM_SIGMA for effect, values in passes
    )


def shadow_offsets(
    effects: Iterable[EffectSnapshot], scene: EffectScene, *, after_baking: bool
) -> list[tuple[float, float]]:
    """Return the displacement of the silhouette in each pass of a stack of soft effects, output px."""
    passes = _passes(effects, after_baking)
    return [effect.offset_px(values, scene) for effect, values in passes]


def is_pointwise_stack(effects: Iterable[EffectSnapshot]) -> bool:
    """Return True if every pass of a stack computes each pixel from the same pixel alone."""
    return all(effect.is_pointwise for effect, _ in _passes(effects, after_baking=False))


def keeps_opaque(effects: Iterable[EffectSnapshot]) -> bool:
    """Return True if a stack leaves an opaque picture opaque. Colour stages do."""
    return all(effect.keeps_opaque for effect, _ in _passes(effects, after_baking=False))


def moves_within_box(effects: Iterable[EffectSnapshot], *, after_baking: bool = False) -> bool:
    """Return True if passes move pixels within the layer's box, so that transparent parts can become visible."""
    return any(effect.moves_within_box for effect, _ in _passes(effects, after_baking))


def has_chain(effects: Iterable[EffectSnapshot], *, after_baking: bool = False) -> bool:
    """Return True if a stack has any pass. Without passes the layer needs no buffer of its own."""
    return bool(_passes(effects, after_baking))


def _passes(effects: Iterable[EffectSnapshot], after_baking: bool) -> Sequence[tuple[Effect, EffectValues]]:
    """Return the passes of a stack in order, each with its values."""
    passes = [
        (effect, resolve(effect, entry))
        for effect, entry in known(effects)
        if (effect.route is Route.GPU_ONLY if after_baking else effect.route.is_spatial)
    ]
    return [(effect, values) for effect, values in passes if not effect.is_idle(values)]
