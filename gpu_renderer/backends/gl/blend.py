"""Blend modes: which are fixed functions of the GPU, and how layers of all others are drawn (format/compositing.md 3).

Those pass all of the target below them through 8 bits: where they are drawn by their own shader, and elsewhere by `coarsen`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_renderer.backends.gl import background, layers, quads
from gpu_renderer.backends.gl.quad_shader import Merge
from gpu_renderer.display_list.graph import FIXED_BLENDS, MODES, DepthGroup, Draw, RenderGraph, Scene, Step
from gpu_renderer.display_list.paint import Ink, Look, quad_of, touched
from gpu_renderer.geometry.region import Parts, Region, shared, without
from gpu_renderer.opengl.painter import Blend, Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target
from motion.snapshot import LightWash, ParticleSource

STENCILS, SILHOUETTES, DISSOLVE, DANCING_DISSOLVE = (31, 32), (33, 34), 35, 36


def fixed(step: Draw) -> Blend:
    """The fixed function of a layer; lights screen and additive particles add where their own blend is normal."""
    if step.blend == "add":
        return "add"
    if step.blend == "normal" and isinstance(step.layer.source, LightWash):
        return "screen"
    if step.blend == "normal" and isinstance(step.layer.source, ParticleSource) and step.layer.source.additive:
        return "add"
    return "over"


def is_blended(step: Draw) -> bool:
    """Whether a layer is blended with all that is below it by its mode alone."""
    layer = step.layer
    is_more = (
        layer.preserve_transparency or step.matte is not None or layer.glass is not None or layer.backdrop_blur > 0
    )
    return step.blend in MODES and step.blend not in FIXED_BLENDS and not is_more


def takes_opacity_first(step: Draw) -> bool:
    """Whether opacity is part of the content, before the effects, as on every route but the plain one."""
    layer = step.layer
    is_combined = step.blend not in FIXED_BLENDS or layer.preserve_transparency
    return is_combined or step.matte is not None or layer.glass is not None or layer.backdrop_blur > 0


def is_stencil(step: Draw) -> bool:
    """Whether a layer leaves nothing of what lies beyond it."""
    return MODES.get(step.blend) in STENCILS


def is_opaque(graph: RenderGraph, held: Region) -> bool:
    """Whether the alpha of a target over the frame is 1 from the background on, whatever of the graph is drawn."""
    return background.hides_all(graph, held) and all(map(_keeps_opaque, graph.steps))


def _keeps_opaque(step: Step) -> bool:
    """Whether alpha that is 1 below a step stays that; False where it is not known."""
    if isinstance(step, DepthGroup):
        return all(map(_keeps_opaque, step.planes))
    if not isinstance(step, Draw) or step.layer.glass is not None or step.layer.backdrop_blur > 0:
        return False
    return fixed(step) != "add" and MODES.get(step.blend) not in (*STENCILS, *SILHOUETTES)


def draw(
    painter: Painter,
    into: Target,
    ink: Ink | None,
    look: Look,
    step: Draw,
    scene: Scene,
    parts: Parts,
    *,
    is_opaque: bool,
    in_place: bool,
    split_edges: bool,
) -> Parts:
    """Draws content blended with what is below it, one sample a pixel, and returns the parts that are done with.

    `is_opaque`: all that is below it, as `is_opaque` tells.

    `in_place` as in `blit`.
    """
    if ink is None:
        return _done(painter, into, step, parts, ())
    quad = quad_of(ink, step.placement)
    drawn = shared(parts, touched(ink, quad, into.region))
    for held, merge in _merging(painter, into, step, scene, drawn, is_opaque, in_place):
        quads.draw(
            painter, ink, quad, into, opacity=step.opacity, look=look, blend="replace", scissor=held, is_smooth=False,
            split_edges=split_edges, merge=merge,
        )  # fmt: skip
    return _done(painter, into, step, parts, drawn)


def combine(
    painter: Painter,
    into: Target,
    layer: Target | None,
    step: Draw,
    scene: Scene,
    parts: Parts,
    *,
    is_opaque: bool,
    in_place: bool,
) -> Parts:
    """Draws a layer's own buffer in the same way."""
    drawn = shared(parts, layer.region) if layer is not None else ()
    for held, merge in _merging(painter, into, step, scene, drawn, is_opaque, in_place):
        assert layer is not None
        painter.draw(
            "compositing/combine.frag", into, textures={"u_layer": layer, **merge.textures}, scissor=held,
            defines=merge.defines, uniforms=merge.uniforms,
        )  # fmt: skip
    return _done(painter, into, step, parts, drawn)


def coarsen(painter: Painter, into: Target, parts: Parts, *, in_place: bool) -> None:
    """Passes the parts through 8 bits. `blit` does the same of its own."""
    for held, merge in backdrops(painter, into, parts, in_place=in_place):
        painter.draw("compositing/coarse.frag", into, textures=merge.textures, scissor=held, defines=merge.defines)


def _done(painter: Painter, into: Target, step: Draw, parts: Parts, drawn: Parts) -> Parts:
    """The parts that need no passage any more: those that were drawn, and all under a stencil, which leaves only itself."""
    if not is_stencil(step):
        return drawn
    painter.erase(into, without(parts, drawn))
    return parts


def _merging(
    painter: Painter, into: Target, step: Draw, scene: Scene, parts: Parts, is_opaque: bool, in_place: bool
) -> Iterator[tuple[Parts, Merge]]:
    """The parts with how a step's shader blends with what they hold."""
    mode = MODES.get(step.blend, 0)
    defines: dict[str, object] = {"MODE": mode, **({"PRESERVE": 1} if step.layer.preserve_transparency else {})}
    if is_opaque:
        defines["BELOW"] = 1
    uniforms: dict[str, UniformValue] = {}
    if mode >= DISSOLVE:
        uniforms["u_cells"] = (scene.width, scene.height, *map(float, scene.frame[2:]))
        uniforms["u_seed"] = scene.dissolve_seed if mode == DANCING_DISSOLVE else 0
    for held, merge in backdrops(painter, into, parts, in_place=in_place):
        yield held, Merge({**defines, **merge.defines}, uniforms, merge.textures)


def backdrops(painter: Painter, into: Target, parts: Parts, *, in_place: bool) -> Iterator[tuple[Parts, Merge]]:
    """The parts with how a shader reads what they hold: in place all at once where the driver can, else each from a copy."""
    if in_place and painter.can_read_in_place:
        yield from [(parts, Merge({"IN_PLACE": 1}))] if parts else []
        return
    for part in parts:
        backdrop = layers.copied(painter, into, part)
        yield (part,), Merge({}, textures={"u_backdrop": backdrop})
        painter.pool.give_back(backdrop)
