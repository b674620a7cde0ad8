"""Draw layers whose blend mode is not a fixed function (format/compositing.md 3).

These modes quantise the whole target below the layer to 8 bits: in their own shader inside the layer, by `quantise`
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_renderer.backends.gl import layers, quads
from gpu_renderer.backends.gl.drawable import Drawable, quad_of, touched
from gpu_renderer.backends.gl.quad_shader import BackdropBlend
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.display_list.blending import is_stencil
from gpu_renderer.display_list.graph import MODES, Draw, Scene
from gpu_renderer.display_list.paint import Filter
from gpu_renderer.geometry.region import Rects, shared, without
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target

DISSOLVE, DANCING_DISSOLVE = 35, 36


def draw(
    painter: Painter,
    into: Target,
    shown: Drawable | None,
    filter: Filter,
    step: Draw,
    scene: Scene,
    rects: Rects,
    *,
    is_opaque: bool,
) -> Rects:
    """Draw content blended with its backdrop, one sample a pixel, and return the quantised parts.

    `is_opaque`: everything below has alpha 1.
    """
    if shown is None:
        return _done(painter, into, step, rects, ())
    quad = quad_of(shown, step.placement)
    drawn = shared(rects, touched(shown, quad, into.region))
    for held, backdrop in _blending(painter, into, step, scene, drawn, is_opaque):
        style = Style(step.opacity, filter, "replace", is_smooth=False, backdrop=backdrop)
        quads.draw(painter, shown, quad, into, style, rects=held)
    return _done(painter, into, step, rects, drawn)


def combine(
    painter: Painter,
    into: Target,
    layer: Target | None,
    step: Draw,
    scene: Scene,
    rects: Rects,
    *,
    is_opaque: bool,
) -> Rects:
    """Blend a layer's own buffer with its backdrop in the same way."""
    drawn = shared(rects, layer.region) if layer is not None else ()
    for held, backdrop in _blending(painter, into, step, scene, drawn, is_opaque):
        assert layer is not None
        painter.draw(
            "compositing/combine.frag", into, textures={"u_layer": layer, **backdrop.textures}, scissor=held,
            defines=backdrop.defines, uniforms=backdrop.uniforms,
        )  # fmt: skip
    return _done(painter, into, step, rects, drawn)


def quantise(painter: Painter, into: Target, rects: Rects) -> None:
    """Quantise the parts to 8 bits. `blit` does the same for parts still pending."""
    for held, backdrop in backdrops(painter, into, rects):
        painter.draw(
            "compositing/quantise.frag", into, textures=backdrop.textures, scissor=held, defines=backdrop.defines
        )


def _done(painter: Painter, into: Target, step: Draw, rects: Rects, drawn: Rects) -> Rects:
    """Return the parts that need no quantisation.

    These are the drawn parts, or all parts under a stencil, which removes everything else.
    """
    if not is_stencil(step):
        return drawn
    painter.erase(into, without(rects, drawn))
    return rects


def _blending(
    painter: Painter, into: Target, step: Draw, scene: Scene, rects: Rects, is_opaque: bool
) -> Iterator[tuple[Rects, BackdropBlend]]:
    """Yield the parts with the backdrop blend of a step's shader."""
    mode = MODES.get(step.blend, 0)
    defines: dict[str, object] = {"MODE": mode, **({"PRESERVE": 1} if step.layer.preserve_transparency else {})}
    if is_opaque:
        defines["BELOW"] = 1
    uniforms: dict[str, UniformValue] = {}
    if mode >= DISSOLVE:
        uniforms["u_cells"] = (scene.width, scene.height, *map(float, scene.frame[2:]))
        uniforms["u_seed"] = scene.dissolve_seed if mode == DANCING_DISSOLVE else 0
    for held, backdrop in backdrops(painter, into, rects):
        yield held, BackdropBlend({**defines, **backdrop.defines}, uniforms, backdrop.textures)


def backdrops(painter: Painter, into: Target, rects: Rects) -> Iterator[tuple[Rects, BackdropBlend]]:
    """Yield the parts with a way to read them: all at once in place if the driver can, else one copy each."""
    if painter.can_read_in_place:
        yield from [(rects, BackdropBlend({"IN_PLACE": 1}))] if rects else []
        return
    for part in rects:
        copied = layers.copied(painter, into, part)
        yield (part,), BackdropBlend({}, textures={"u_backdrop": copied})
        painter.pool.give_back(copied)
