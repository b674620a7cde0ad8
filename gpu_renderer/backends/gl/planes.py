"""Planes in 3D space: occlusion between planes, and effects of planes.

Planes are drawn in painter's order if that gives the same pixels, otherwise as geometry with four samples and a depth buffer
(three-d.md 4). Effects run in the layer's own space and the result is projected, so that lengths foreshorten
(three-d.md 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import moderngl

from gpu_renderer import effects
from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.drawable import Drawable, FlatTarget, Inputs, quad_of
from gpu_renderer.backends.gl.quads import Cells, Style
from gpu_renderer.content.raster import WHOLE, UnitRect
from gpu_renderer.display_list import bounds
from gpu_renderer.display_list.graph import Draw, Scene
from gpu_renderer.display_list.paint import Filter, Image
from gpu_renderer.display_list.routing import fixed_function
from gpu_renderer.display_list.space import lights, overlaps, rounding
from gpu_renderer.effects import Box, EffectScene, EffectStack, GlowBuffer
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Placement
from gpu_renderer.geometry.region import Rects, Region, shared
from gpu_renderer.opengl.painter import SAMPLES, Instances, Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Format, Target
from motion.snapshot import EffectSnapshot, Transform2D, Transform3D

SIGMA_APART_MAX_PX = 12.0
"""Largest sigma that is blurred at the reference's size with separate sigmas per axis. A wider blur hides the edge pixels."""

COPLANAR = 1e-6
"""Difference of normals, and distance in px, below which two planes are the same."""


@dataclass(frozen=True, slots=True)
class ProjectedPlane:
    """A plane. `shown` is its drawable content, or None."""

    step: Draw
    shown: Drawable | None
    filter: Filter
    scene: Scene
    writes_depth: bool = True

    @property
    def lighting(self) -> Inputs | None:
        """Return the inputs of the lights on the plane, or None for a plane that accepts no light."""
        plane, shown = self.step.plane, self.shown
        if plane is None or shown is None or not plane.material.accepts_lights or not self.scene.lights:
            return None
        width, height = shown.width + 2 * shown.padding, shown.height + 2 * shown.padding
        uniforms = lights.uniforms(plane, width, height, self.scene)
        return Inputs(lights.defines(plane, self.scene), uniforms=uniforms)


def draw(painter: Painter, into: Target, planes: Sequence[ProjectedPlane], region: Region, rects: Rects) -> None:
    """Draw planes in painter's order over parts of the target. Nearer planes hide those behind them."""
    if hide_in_order(planes):
        for plane in planes:
            draw_alone(painter, into, plane, rects)
    else:
        _draw_depth_tested(painter, into, planes, region, rects)


def draw_alone(painter: Painter, into: Target, plane: ProjectedPlane, rects: Rects) -> None:
    """Draw one plane over parts of the target, with four samples per pixel and without a depth buffer."""
    if plane.shown is not None:
        step = plane.step
        style = Style(step.opacity, plane.filter, fixed_function(step), lighting=plane.lighting)
        quads.draw(painter, plane.shown, quad_of(plane.shown, step.placement), into, style, rects=rects)


def hide_in_order(planes: Sequence[ProjectedPlane]) -> bool:
    """Return True if painter's order gives the same occlusion as a depth buffer."""
    if _coplanar(planes):
        return False
    projected: list[overlaps.ProjectedQuad] = []
    for plane in planes:
        if (shown := plane.shown) is None:
            continue
        if plane.step.is_hard:
            return False  # a body's faces share their edges
        box = shown.content_box if isinstance(shown, (Image, FlatTarget)) else WHOLE
        flat = overlaps.projected_quad(quad_of(shown, plane.step.placement), box, hides=plane.writes_depth)
        if flat is None:
            return False
        projected.append(flat)
    return overlaps.hide_in_order(projected)


def _draw_depth_tested(
    painter: Painter, into: Target, planes: Sequence[ProjectedPlane], region: Region, rects: Rects
) -> None:
    """Draw the planes with a depth buffer.

    The whole `region` is drawn for any rectangles, because its edges affect how rasterisers round vertices. It is drawn
    upside down, as in the reference, because the samples of a pixel are not symmetrical.
    """
    context, area = painter.context, region.intersection(into.region)
    depths = _sample_depths(painter, planes)
    resolved = painter.pool.take(area, into.format, clear=False)
    with _multisampled(painter, area, into.format) as framebuffer:
        buffer = resolved.through(framebuffer)
        framebuffer.use()  # resets the scissor, which would also clip the clear and the blit
        framebuffer.clear(depth=1.0)
        painter.draw("copy.frag", buffer, textures={"u_source": into}, defines={"FLIPPED": 1})
        if depths:
            painter.begin_samples()
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<="
        try:
            for plane in planes:
                framebuffer.depth_mask = plane.writes_depth
                _plane(painter, buffer, plane, depths.get(id(plane), {}))
        finally:
            context.disable(moderngl.DEPTH_TEST)
            framebuffer.depth_mask = True
        framebuffer.scissor = (0, 0, area.width, area.height)
        framebuffer.use()
        context.copy_framebuffer(resolved.framebuffer, framebuffer)
    if parts := shared(rects, area):
        painter.draw("copy.frag", into, textures={"u_source": resolved}, scissor=parts, defines={"UPSIDE_DOWN": 1})
    painter.pool.give_back(resolved)


def _coplanar(planes: Sequence[ProjectedPlane]) -> bool:
    """Return True if a slanted plane lies on one that writes depth. Rounding then decides the depth test.

    Strips of a layer and letters of a text are compared with the one before.
    """
    last: dict[object, ProjectedPlane] = {}
    for plane in planes:
        layer, transform = plane.step.layer, plane.step.layer.transform
        is_slanted = plane.step.placement.matrix[6:8] != (0.0, 0.0)
        if plane.shown is None or not is_slanted or not isinstance(transform, Transform3D):
            continue
        if plane.step.part == WHOLE and transform.sorted_at is None:
            continue
        key = layer.id if transform.sorted_at is None else transform.sorted_at
        before, last[key] = last.get(key), plane
        if before is not None and before.writes_depth and _is_same_plane(before.step.layer.transform, transform):
            return True
    return False


def _is_same_plane(one: Transform2D | Transform3D, other: Transform3D) -> bool:
    """Return True for planes that are equal except for rounding."""
    if not isinstance(one, Transform3D):
        return False
    m, n = one.matrix, other.matrix
    is_parallel = all(abs(m[i] - n[i]) < COPLANAR for i in (2, 6, 10))
    return is_parallel and abs(sum(m[i] * (m[i + 1] - n[i + 1]) for i in (2, 6, 10))) < COPLANAR


def _sample_depths(painter: Painter, planes: Sequence[ProjectedPlane]) -> dict[int, Mapping[str, UniformValue]]:
    """Return the depths of the planes' samples by their ids, or none where the driver's own depths decide."""
    if painter.context.max_samples < SAMPLES or not painter.can_place_samples:
        return {}
    found = {id(plane): _depths(plane, plane.scene.frame.height) for plane in planes if plane.shown is not None}
    return found if all(found.values()) else {}


def _depths(plane: ProjectedPlane, rows: int) -> Mapping[str, UniformValue]:
    """Return the depths of a plane's samples, or none if the eye is not in front of all of it."""
    step, shown = plane.step, plane.shown
    if step.plane is None or shown is None:
        return {}
    quad = quad_of(shown, step.placement)
    if any(w < matrix.NEAR for _, _, w in matrix.corners_of(quad)):
        return {}
    size = shown.width + 2 * shown.padding, shown.height + 2 * shown.padding
    one, other = rounding.triangles(quad, step.plane.world, step.plane.toward, size, rows)
    return {"u_depth_one": one, "u_depth_other": other}


def _plane(painter: Painter, into: Target, plane: ProjectedPlane, depths: Mapping[str, UniformValue]) -> None:
    step, shown = plane.step, plane.shown
    if shown is None:
        return
    quad = quad_of(shown, step.placement)
    to_unit = matrix.inverse(quad)
    if to_unit is None:
        return
    quads.set_filter(painter, shown)
    kind = quads.kind(painter, shown, 0, quad, into, Style(step.opacity, plane.filter, lighting=plane.lighting))
    displaced = quad.fold if isinstance(quad, matrix.FoldedQuad) else (0.0, 0.0)
    geometry: dict[str, UniformValue] = {
        "u_to_frame": matrix.columns(quad), "u_displaced": displaced, "u_subpixels": float(matrix.SUBPIXELS),
    }  # fmt: skip
    attributes = quads.attributes(shown, matrix.folded_columns(quad, to_unit), step.opacity)
    painter.draw(
        "compositing/quad.frag", into, textures=kind.textures, blend=fixed_function(step),
        defines={**kind.defines, "FLIPPED": 1, **({"SAMPLE_DEPTH": 1} if depths else {})},
        uniforms={**kind.uniforms, **geometry, **depths},
        instances=Instances("space/plane.vert", kind.layout[2:], attributes, 1),
    )  # fmt: skip


@contextmanager
def _multisampled(painter: Painter, region: Region, format: Format) -> Iterator[moderngl.Framebuffer]:
    """Yield a framebuffer with depth and four samples, or one sample if the driver has no more (Mesa's softpipe)."""
    context, size = painter.context, (region.width, region.height)
    samples = SAMPLES if context.max_samples >= SAMPLES else 0
    color = context.renderbuffer(size, 4, samples=samples, dtype=format)
    depth = context.depth_renderbuffer(size, samples=samples)
    framebuffer = context.framebuffer([color], depth)
    try:
        yield framebuffer
    finally:
        painter.pool.bind_lasting()
        for resource in (framebuffer, color, depth):
            resource.release()


def flattened(
    painter: Painter,
    shown: Drawable,
    filter: Filter,
    step: Draw,
    scene: Scene,
    layer_target: Callable[[str], Target | None],
) -> FlatTarget:
    """Return the unprojected layer with its effects, in a target of about the frame's size.

    The target is smaller if the layer is only a glow. The caller owns the target.
    """
    padded = shown.width + 2 * shown.padding, shown.height + 2 * shown.padding
    width, height = bounds.flat_box(step, *padded)
    across, down = bounds.world_scale(step)
    lengths = _length_scales(step, scene, width * across, height * down)
    scale_x, scale_y = lengths[0] * across, lengths[1] * down
    buffer = Region(0, 0, *(max(1, math.ceil(side - 1e-6)) for side in (width * scale_x, height * scale_y)))
    own_width, own_height = padded[0] * scale_x, padded[1] * scale_y  # of the quad as in the frame (effects.md 3.5)
    own = Box((buffer.width - own_width) / 2, (buffer.height - own_height) / 2, own_width, own_height)
    place = EffectScene(
        buffer, own, shown.width, shown.height, output_scale=min(lengths), still_scale=scene.still_scale,
        plane_scales=lengths, layer_target=layer_target, layer_id=step.layer.id,
    )  # fmt: skip
    centre = matrix.product(matrix.translation(buffer.width / 2, buffer.height / 2), matrix.scaling(scale_x, scale_y))
    stack = EffectStack.of(step.layer)
    halvings = stack.halvings_before(place)
    cells = Cells(halvings, buffer)
    target, style = painter.pool.take(cells.target_region), Style(filter=filter, is_smooth=False, cells=cells)
    quads.draw(painter, shown, quad_of(shown, Placement(centre)), target, style)
    drawn = effects.buffer_chain(painter, target, stack, place, in_place=True, halvings=halvings)
    size = buffer.width / scale_x, buffer.height / scale_y
    content_box = WHOLE if stack.is_resampled else _share(buffer, own)  # other effects only add a glow
    if (glow := drawn.glow) is None or not drawn.is_glow_alone:
        return FlatTarget(effects.flattened(painter, drawn), *size, content_box=content_box)
    painter.pool.give_back(drawn.sharp)
    return FlatTarget(glow.target, *size, crop=_crop(glow, buffer), content_box=content_box)


def _share(buffer: Region, box: Box) -> UnitRect:
    """Return a box relative to the buffer, 0 to 1."""
    return box.left / buffer.width, box.top / buffer.height, box.width / buffer.width, box.height / buffer.height


def _crop(glow: GlowBuffer, buffer: Region) -> UnitRect:
    """Return the buffer relative to the glow's target, 0 to 1. The target can be larger."""
    (x, y, columns, rows), cell = glow.target.region, glow.cell_px
    return (
        (buffer.x / cell - x) / columns, (buffer.y / cell - y) / rows,
        buffer.width / cell / columns, buffer.height / cell / rows,
    )  # fmt: skip


def _length_scales(step: Draw, scene: Scene, width: float, height: float) -> tuple[float, float]:
    """Return buffer px per world px, across and down. The reference stretches a buffer of the frame's size over the layer.

    `width` and `height` are the layer's size with margins, in world px.
    """
    across, down = scene.frame.width / width, scene.frame.height / height
    if any(_is_round(entry, max(across, down)) for entry in step.layer.effects):
        return min(across, down), min(across, down)
    return across, down


def _is_round(entry: EffectSnapshot, scale: float) -> bool:
    """Return True for an effect that needs square pixels: every effect with isotropic lengths, except narrow blurs."""
    effect = effects.find(entry.type)
    if effect is None or not effect.round_lengths:
        return False
    return entry.type != "blur" or effects.resolve(effect, entry).number("amount") * scale > SIGMA_APART_MAX_PX
