"""Layers that read their backdrop: blend modes, adjustment layers, glass and blurred backdrops.

Blend modes that are not fixed functions (compositing.md 3) quantise the whole target below the layer to 8 bits. Their
shader quantises the pixels inside the layer, `quantise` the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpu_renderer import effects
from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.drawable import Drawable, Inputs, placed_quad, quad_of
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.display_list import bounds
from gpu_renderer.display_list.graph import MODES, Draw, Scene
from gpu_renderer.display_list.layer_contents import stage_filter
from gpu_renderer.display_list.paint import Filter
from gpu_renderer.display_list.routing import fixed_function, is_stencil
from gpu_renderer.effects import EffectStack, PointwisePass, layer_buffer
from gpu_renderer.effects.blur_passes import blurred, halved
from gpu_renderer.effects.blur_weights import reference_gaussian
from gpu_renderer.effects.layer_buffer import Compositing, LayerBuffer
from gpu_renderer.geometry import color
from gpu_renderer.geometry.region import Rects, Region, shared, without
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target
from motion.snapshot import Glass, LayerSnapshot

DISSOLVE, DANCING_DISSOLVE = 35, 36
GRADE = "compositing/grade.frag"


class Blending(NamedTuple):
    """Blending of a step's layer with a target. `is_opaque` means that the backdrop has alpha 1.

    Both methods return the parts that they have quantised.
    """

    painter: Painter
    into: Target
    step: Draw
    scene: Scene
    is_opaque: bool

    def draw(self, shown: Drawable | None, filter: Filter, rects: Rects) -> Rects:
        """Draw content blended with its backdrop, with one sample per pixel."""
        if shown is None:
            return self._done(rects, ())
        quad = quad_of(shown, self.step.placement)
        placed = placed_quad(shown, quad, self.into.region)
        drawn = () if placed is None else shared(rects, placed.touched)
        for parts, inputs in self._backdrops(drawn):
            style = Style(self.step.opacity, filter, "replace", is_smooth=False, backdrop=inputs)
            quads.draw(self.painter, shown, quad, self.into, style, rects=parts, known=placed)
        return self._done(rects, drawn)

    def combine(self, layer: Target | None, rects: Rects) -> Rects:
        """Blend a layer's own buffer with its backdrop."""
        if layer is None:
            return self._done(rects, ())
        drawn = shared(rects, layer.region)
        for parts, (defines, textures, uniforms) in self._backdrops(drawn):
            self.painter.draw(
                "compositing/combine.frag", self.into, textures={"u_layer": layer, **textures}, scissor=parts,
                defines=defines, uniforms=uniforms,
            )  # fmt: skip
        return self._done(rects, drawn)

    def _done(self, rects: Rects, drawn: Rects) -> Rects:
        """Return the drawn parts. A stencil also erases the other parts, so return all parts for it."""
        if not is_stencil(self.step):
            return drawn
        self.painter.erase(self.into, without(rects, drawn))
        return rects

    def _backdrops(self, rects: Rects) -> Iterator[tuple[Rects, Inputs]]:
        """Yield the parts with the inputs of the step's shader (include/combine.glsl)."""
        mode, scene = MODES.get(self.step.blend, 0), self.scene
        defines: dict[str, object] = {"MODE": mode}
        if self.step.layer.preserve_transparency:
            defines["PRESERVE"] = 1
        if self.is_opaque:
            defines["BELOW"] = 1
        uniforms: dict[str, UniformValue] = {}
        if mode in (DISSOLVE, DANCING_DISSOLVE):
            uniforms["u_cells"] = (scene.width, scene.height, *map(float, scene.frame[2:]))
            uniforms["u_seed"] = scene.dissolve_seed if mode == DANCING_DISSOLVE else 0
        for parts, inputs in backdrops(self.painter, self.into, rects):
            yield parts, Inputs({**defines, **inputs.defines}, inputs.textures, uniforms)


def quantise(painter: Painter, into: Target, rects: Rects) -> None:
    """Quantise the parts to 8 bits. `blit` quantises parts that are still pending."""
    for parts, (defines, textures, _) in backdrops(painter, into, rects):
        painter.draw("compositing/quantise.frag", into, textures=textures, scissor=parts, defines=defines)


def backdrops(painter: Painter, into: Target, rects: Rects) -> Iterator[tuple[Rects, Inputs]]:
    """Yield parts with the inputs that read them: all parts in place if the driver supports it, otherwise a copy of each."""
    if painter.can_read_in_place:
        yield from [(rects, Inputs({"IN_PLACE": 1}))] if rects else []
        return
    for part in rects:
        copied = painter.copied(into, part)
        yield (part,), Inputs(textures={"u_backdrop": copied})
        painter.pool.give_back(copied)


def adjust(
    painter: Painter,
    into: Target,
    layer: LayerSnapshot,
    scene: Scene,
    rects: Rects,
    layer_target: Callable[[str], Target | None],
) -> None:
    """Run an adjustment layer's colour stage and effects on parts of the target (compositing.md 2.8).

    The effects can read other layers.
    """
    where = bounds.adjustment_scene(layer, scene, layer_target)
    grading, in_place = _grading(painter, stage_filter(layer.effects)), painter.can_read_in_place
    stack = EffectStack.of(layer)
    if in_place and stack.is_pointwise:
        effects.chain_in_place(painter, into, stack, where, rects, first=grading)
        return
    for part in rects:
        region = part.intersection(into.region)
        copy = painter.copied(into, region)
        result = effects.chain(painter, copy, stack, where, first=grading, in_place=in_place)
        painter.copy(result, into, region)
        painter.pool.give_back(result)


def _grading(painter: Painter, filter: Filter) -> PointwisePass:
    """Return the pass of a colour stage."""
    variant = {"MATRIX": filter.matrix is not None, "TABLES": filter.table is not None}
    defines = tuple((name, "1") for name, is_set in variant.items() if is_set)
    textures = {} if filter.table is None else {"u_grade_table": painter.textures.table(filter.table)}
    return PointwisePass(GRADE, defines, textures, {} if filter.matrix is None else filter.matrix.uniforms)


def draw_over(painter: Painter, into: Target, layer: Target, step: Draw, scene: Scene, part: Region) -> None:
    """Draw a layer over its backdrop, blurred or refracted (compositing.md 8).

    Glass uses only the layer's alpha; its fill is not visible. Other layers are drawn over their blurred backdrop.
    """
    glass = step.layer.glass
    shader, uniforms = ("frosted", {}) if glass is None else ("glass", _glass_uniforms(glass, scene))
    copy, small, soft = painter.copied(into, into.region), None, None
    blur_px = step.layer.backdrop_blur if glass is None else glass.blur
    if blur_px > 0:
        small = halved(painter, copy, 1)
        soft = blurred(painter, small, reference_gaussian(scene.still_scale * blur_px / 2))
    below, scale = (copy, 1.0) if soft is None else (soft, 0.5)
    painter.draw(
        f"compositing/{shader}.frag", into, textures={"u_layer": layer, "u_backdrop": below}, blend="over",
        scissor=part.intersection(layer.region), uniforms={"u_backdrop_scale": scale, **uniforms},
    )  # fmt: skip
    painter.pool.give_back(copy, small, soft)
    if glass is None:
        how = Compositing(has_8_bits=True)  # the reference draws the layer into its 8-bit buffer
        layer_buffer.draw(painter, into, LayerBuffer(layer), (part,), fixed_function(step), how)


def _glass_uniforms(glass: Glass, scene: Scene) -> dict[str, UniformValue]:
    tint, rim = color.parse(glass.tint_color), color.parse(glass.rim_color)
    width, height = float(scene.frame.width), float(scene.frame.height)
    lengths = (glass.edge_width, glass.refraction, glass.chromatic_aberration, glass.rim_width)
    return {
        "u_frame_size": (width, height),
        "u_pixel_size": (1.0 / width, 1.0 / height),
        "u_saturation": max(0.0, glass.saturation),
        "u_tint": (*tint[:3], tint.alpha * min(max(glass.tint_opacity, 0.0), 1.0)),
        "u_rim_color": tuple(rim[:3]),
        "u_lengths": tuple(scene.still_scale * length for length in lengths),
        "u_lights": (
            math.radians(glass.rim_angle),
            math.radians(glass.specular_angle),
            max(0.0, glass.specular_intensity),
            max(0.1, glass.specular_falloff),
        ),
        "u_rim_opacity": min(max(glass.rim_opacity, 0.0), 1.0),
        "u_grain": glass.grain,
    }
