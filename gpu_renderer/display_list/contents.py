"""Convert a layer's source to paint: an analytic shape or an image, with its filter. No GPU is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_renderer import effects
from gpu_renderer.content import masks
from gpu_renderer.content.contents import Contents
from gpu_renderer.content.raster import WHOLE, Raster, Share, field_scale, supersample, tier
from gpu_renderer.content.vector.mesh import PlacedMesh, deformed, on_frame
from gpu_renderer.display_list import analytic
from gpu_renderer.display_list.gradients import gradient_of
from gpu_renderer.display_list.graph import UNTINTED, Draw, Scene, Tint
from gpu_renderer.display_list.paint import PLAIN, BakedPixels, Filter, Image, Paint, Pixels, Shape
from gpu_renderer.display_list.space import lights
from gpu_renderer.geometry import color
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Region
from motion.snapshot import (
    ColorManagement,
    CompositionSource,
    EffectSnapshot,
    ImageSource,
    LayerSnapshot,
    LightWash,
    ParticleSource,
    ShapeSource,
    SolidPaint,
    Source,
    SvgSource,
    TextSource,
    VideoSource,
)

MASK_SUPERSAMPLE = 2.0
MESHES_MAX = 4
_WITHOUT_TABLES = (CompositionSource, ParticleSource)
"""Sources whose colour tables are dropped under masks and on planes (effects.md 5)."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Paint of a source, with everything else that it depends on."""

    paint: Paint
    source: Source
    raster_scale: float
    is_continuous: bool
    is_draft: bool
    is_exact: bool
    color: ColorManagement


class LayerContents:
    """Factory of the paint and the filter of layers.

    Most layers move and show the same content from frame to frame. The paint of a plain layer is cached by its source
    object while consecutive frames use it.
    """

    def __init__(self, source: Contents) -> None:
        self.source = source
        self._now: dict[int, _Known] = {}
        self._before: dict[int, _Known] = {}
        self._meshes: dict[str, tuple[Raster, PlacedMesh, Image]] = {}

    def end_frame(self) -> None:
        """Forget the paint that this frame did not use."""
        self._before, self._now = self._now, {}

    def box(self, layer: LayerSnapshot) -> tuple[float, float]:
        """Return the layer's own box, px, without padding."""
        return (1.0, 1.0) if isinstance(layer.source, LightWash) else self.source.box(layer.source)

    def paint(self, step: Draw, scene: Scene, *, is_smooth: bool = True) -> Paint | None:
        """Return the layer's content, or None if it has nothing to draw.

        `is_smooth`: a mesh has four samples a pixel.
        """
        layer = step.layer
        known = self._find(step, scene) if step.is_bare else None
        if known is not None:
            return known.paint
        if effects.needs_baking(layer):
            return self._baked(step, scene, is_smooth)
        if analytic.is_analytic(layer, is_shaded=step.shade != UNTINTED):
            return self._remembered(step, scene, self._shape(step, scene))
        if isinstance(layer.source, LightWash):
            return _image(step, lights.wash(layer.source), scene)
        raster = self.source.raster(layer.source, self._samples(step))
        if raster is None:
            return None
        if layer.mesh is not None and not _is_undeformed(layer, raster):
            placed = _placed_mesh(step, raster, scene, is_smooth)
            if placed is not None:
                return self._on_frame(step, raster, placed)
            raster = deformed(raster, layer.mesh)
        return self._remembered(step, scene, _image(step, raster, scene))

    def filter(self, step: Draw, scene: Scene) -> Filter:
        """Return the mask and the colour stage of an unbaked layer. A baked layer has applied both."""
        layer = step.layer
        aces = scene.color.working_space == "aces-cg"
        if step.is_bare and not aces and not masks.has_paths(layer):
            return PLAIN
        if effects.needs_baking(layer):
            return Filter(aces_cg=aces, gain=step.gain)
        mask = self._mask(layer)
        stage = effects.color_stage(layer.effects)
        is_tabled = mask is None and step.plane is None and not isinstance(layer.source, _WITHOUT_TABLES)
        table = stage.table.tobytes() if is_tabled and stage is not None and stage.table is not None else None
        return Filter(mask, stage, table, aces, step.gain)

    def image_of(self, source: ShapeSource, scene: Scene) -> Image | None:
        """A raster of a source that belongs to no layer, at its own size."""
        raster = self.source.raster(source, 1.0)
        if raster is None:
            return None
        shown = _linear(raster.color, UNTINTED, scene)
        return Image(raster.pixels, raster.width, raster.height, raster.padding, color=shown)

    def _find(self, step: Draw, scene: Scene) -> _Known | None:
        layer = step.layer
        key = id(layer.source)
        known = self._now.get(key) or self._before.get(key)
        if known is None or known.source is not layer.source or known.raster_scale != step.raster_scale:
            return None
        look = (known.is_continuous, known.is_draft, known.is_exact)
        if look != (layer.continuous_raster, layer.draft_quality, step.is_exact):
            return None
        if known.color is not scene.color and known.color != scene.color:
            return None
        self._now[key] = known
        return known

    def _remembered(self, step: Draw, scene: Scene, paint: Paint) -> Paint:
        layer = step.layer
        if step.is_bare and isinstance(layer.source, (ShapeSource, TextSource)):
            self._now[id(layer.source)] = _Known(
                paint, layer.source, step.raster_scale, layer.continuous_raster, layer.draft_quality, step.is_exact,
                scene.color,
            )  # fmt: skip
        return paint

    def _shape(self, step: Draw, scene: Scene) -> Shape:
        layer, source, is_wall = step.layer, step.layer.source, step.is_hard
        assert isinstance(source, ShapeSource)
        assert source.primitive != "path"
        width, height, radius = source.width, source.height, source.radii[0]
        paint = source.fills[0]
        if not isinstance(paint, SolidPaint):
            gradient = gradient_of(paint, width, height)
            assert gradient is not None
            is_hard = is_wall or (source.primitive == "rect" and radius <= 0.0)
            return Shape(source.primitive, gradient, width, height, radius, is_hard)
        fill = color.parse(paint.color)
        stage = effects.color_stage(layer.effects)
        if stage is not None:  # on encoded numbers here: a quirk of the reference (compositing.md 1.5)
            fill = color.Rgba(*stage.graded_fill(fill[:3]), fill.alpha)
        red, green, blue = (part * shade for part, shade in zip(fill[:3], step.shade, strict=True))
        lit = color.Rgba(red, green, blue, fill.alpha)
        linear = color.linear(lit, aces_cg=scene.color.working_space == "aces-cg")
        return Shape(source.primitive, linear, width, height, radius, is_wall)

    def _samples(self, step: Draw) -> float:
        """Return the raster px per layer px of an unbaked layer's content."""
        layer = step.layer
        width, height = self.source.box(layer.source)
        if isinstance(layer.source, ParticleSource):
            return field_scale(step.raster_scale, width, height)
        scale = tier(step.raster_scale, continuous=layer.continuous_raster, width=width, height=height)
        return supersample(scale, max(width, height, 1.0))

    def _on_frame(self, step: Draw, raster: Raster, placed: PlacedMesh) -> Image | None:
        """Return the raster deformed by its mesh, on the frame's pixels: the same object while neither changes."""
        known = self._meshes.get(step.layer.id)
        if known is None or known[0] is not raster or known[1] != placed:
            if len(self._meshes) >= MESHES_MAX:
                self._meshes.clear()
            region = placed.region(raster.width, raster.height)
            if region.is_empty:
                return None
            pixels = on_frame(raster, placed)
            known = self._meshes[step.layer.id] = (raster, placed, _of_pixels(pixels, region))
        return known[2]

    def _baked(self, step: Draw, scene: Scene, is_smooth: bool) -> Image | None:
        """Return the content with the pending effects of the raster route."""
        layer = step.layer
        plan = effects.baking(layer, scene.view_scale, *self.source.box(layer.source), requested=step.raster_scale)
        raster = self.source.raster(layer.source, plan.scale, plan.bleed_px)
        if raster is None:
            return None
        paths = masks.paths(layer, raster.width, raster.height)
        flat = _baked_color(raster, layer)
        value = (
            id(raster.pixels), raster.width, raster.height, plan.scale, layer.effects, paths, layer.fill_opacity,
        )  # fmt: skip
        placed = _placed_mesh(step, raster, scene, is_smooth)
        if placed is not None:
            region = placed.region(raster.width, raster.height)
            pixels = BakedPixels(value, raster, layer, plan.scale, plan.mask_scale, is_coverage=False, mesh=placed)
            return None if region.is_empty else _of_pixels(pixels, region)
        pixels = BakedPixels(value, raster, layer, plan.scale, plan.mask_scale, is_coverage=flat is not None)
        is_picture = isinstance(layer.source, (ImageSource, SvgSource, VideoSource))
        # a picture is stretched over the room of its effects, as in the reference (effects.md 4.1)
        padding = plan.padding_px if is_picture else raster.padding
        shown = _linear(flat, step.gain, scene)
        crop = _crop(step, raster)
        is_exact = step.is_exact and shown is None
        return Image(
            pixels, raster.width, raster.height, padding, crop, layer.draft_quality, color=shown, is_exact=is_exact
        )

    def _mask(self, layer: LayerSnapshot) -> Pixels | None:
        if not masks.has_paths(layer):
            return None
        box = self.source.box(layer.source)
        paths = masks.paths(layer, *box)
        if not masks.is_masked(paths):
            return None
        return self.source.mask(paths, *box, MASK_SUPERSAMPLE)


def _is_undeformed(layer: LayerSnapshot, raster: Raster) -> bool:
    """Return True if a mask or a table, neither of them baked, makes the layer ignore its mesh (compositing.md 5.6)."""
    stage = effects.color_stage(layer.effects)
    is_tabled = stage is not None and stage.table is not None
    return is_tabled or masks.is_masked(masks.paths(layer, raster.width, raster.height))


def _placed_mesh(step: Draw, raster: Raster, scene: Scene, is_smooth: bool) -> PlacedMesh | None:
    """Return the layer's mesh on the frame, or None without a mesh or with several sub-frames."""
    mesh = step.layer.mesh
    if mesh is None or step.samples or min(raster.width, raster.height) <= 0:
        return None
    return PlacedMesh(mesh, step.placement.quad(raster.width, raster.height), scene.frame, is_smooth)


def _of_pixels(pixels: Pixels | BakedPixels, region: Region) -> Image:
    """Return an image of pixels that map one to one onto the frame."""
    return Image(pixels, region.width, region.height, region=region, is_nearest=False)


def stage_filter(stack: Sequence[EffectSnapshot]) -> Filter:
    """Return the colour stage alone, for pictures that are already linear."""
    stage = effects.color_stage(stack)
    return Filter(None, stage, stage.table.tobytes() if stage is not None and stage.table is not None else None)


def has_passes(layer: LayerSnapshot) -> bool:
    """Return True if spatial effects run on the layer's buffer."""
    return bool(layer.effects) and effects.has_chain(layer.effects, after_baking=effects.needs_baking(layer))


def part_shown(source: Source, columns: int, rows: int) -> Share:
    """Return the visible part of content of the given texel size.

    Of a picture that covers its box, that is the middle (layers.md 9.2).
    """
    if not (isinstance(source, (ImageSource, VideoSource)) and source.cover):
        return WHOLE
    own, box = columns / rows, source.width / source.height
    if own > box:
        part = box / own
        return ((1 - part) / 2, 0.0, part, 1.0)
    part = own / box
    return (0.0, (1 - part) / 2, 1.0, part)


def _image(step: Draw, raster: Raster, scene: Scene) -> Image:
    layer = step.layer
    return Image(
        raster.pixels, raster.width, raster.height, raster.padding, _crop(step, raster), layer.draft_quality,
        raster.is_opaque, _linear(raster.color, step.gain, scene), raster.content_box if step.part == WHOLE else WHOLE, raster.is_fleeting,
        is_exact=step.is_exact and raster.color is None,
    )  # fmt: skip


def _baked_color(raster: Raster, layer: LayerSnapshot) -> Rgba | None:
    """Return the colour of all pixels of a baked canvas whose alpha is the coverage, or None."""
    own = raster.color
    return own._replace(alpha=1.0) if own is not None and effects.keeps_color(layer) else None


def _linear(encoded: Rgba | None, gain: Tint, scene: Scene) -> color.Rgba | None:
    """Return the colour of a one-colour raster in the working space, with the gain of its plane."""
    if encoded is None:
        return None
    red, green, blue, alpha = encoded
    lit = color.Rgba(red * gain[0], green * gain[1], blue * gain[2], alpha)
    return color.linear(lit, aces_cg=scene.color.working_space == "aces-cg")


def _crop(step: Draw, raster: Raster) -> Share:
    """Return the visible part of the texture."""
    rows, columns = raster.pixels.shape[:2]
    x, y, width, height = part_shown(step.layer.source, columns, rows)
    left, top, right, down = step.part
    return x + left * width, y + top * height, width * right, height * down
