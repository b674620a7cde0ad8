"""GPU route: the passes of an `EffectStack` over a layer's buffer in screen space.

For one layer (effects.md 3.2): draw the content through the colour stage into a linear premultiplied half-float
target whose region includes the stack's `spread_px`, pass that target to `chain` or `buffer_chain`, and composite the result.
"""

from __future__ import annotations

from collections.abc import Container

from gpu_renderer.effects.layer_buffer import LayerBuffer, flattened
from gpu_renderer.effects.passes import EffectChain, PointwisePass, RecordedPasses
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.stack import EffectStack
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target


def chain(
    painter: Painter,
    source: Target,
    stack: EffectStack,
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
    return flattened(painter, _run_passes(run, stack))


def buffer_chain(
    painter: Painter,
    source: Target,
    stack: EffectStack,
    scene: EffectScene,
    *,
    in_place: bool = False,
    halvings: int = 0,
) -> LayerBuffer:
    """Run like `chain` within the frame, but keep the glow of soft effects at the end of the stack separate.

    `source` needs no margin for glows: use `spread_px` with `without_glow`. `halvings`: how often the size of `source` has
    been halved, at most `halvings_before`.
    """
    run = EffectChain(painter, source, scene, scene.frame, in_place=in_place, halvings=halvings)
    return _run_passes(run, stack)


def chain_in_place(
    painter: Painter,
    target: Target,
    stack: EffectStack,
    scene: EffectScene,
    rects: Rects,
    *,
    first: PointwisePass | None = None,
) -> None:
    """Run a pointwise stack over parts of a target, in place. The driver must support that.

    `first`: a pass before the effects.
    """
    run = EffectChain(painter, target, scene, target.region, in_place=True, rects=rects)
    if first is not None:
        run.queue(first)
    _run_passes(run, stack)


def pointwise_passes(
    painter: Painter, stack: EffectStack, scene: EffectScene, shaders: Container[str]
) -> list[PointwisePass] | None:
    """Return the passes of a stack without running them, or None if the shader of one is not among `shaders`."""
    if any(effect.shader not in shaders for effect, _ in stack.passes):
        return None
    with painter.pool.acquired(Region(0, 0, 1, 1), "f2") as target:
        run = RecordedPasses(painter, target, scene, target.region)
        for effect, values in stack.passes:
            effect.draw(run, values)
    return run.passes


def _run_passes(run: EffectChain, stack: EffectStack) -> LayerBuffer:
    for effect, values in stack.passes:
        if not effect.is_soft:
            run.flatten()
        effect.draw(run, values)
    run.release()
    return run.buffer
