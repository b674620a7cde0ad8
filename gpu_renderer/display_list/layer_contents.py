"""Convert a layer's source to paint: an analytic shape or an image, with its filter. No GPU is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gpu_renderer import effects
from gpu_renderer.cache.lru import LruCache
from gpu_renderer.content import masks
from gpu_renderer.content.contents import Contents
from gpu_renderer.content.media.frame_blending import mixed_opacity
from gpu_renderer.content.raster import WHOLE, Raster, UnitRect, field_scale, raster_tier, supersample
from gpu_renderer.content.vector.mask import MaskRaster
from gpu_renderer.content.vector.mesh import PlacedMesh, deformed, on_frame
from gpu_renderer.display_list import shape_route
from gpu_renderer.display_list.graph import Draw, MovedLayer, Scene, Tint
from gpu_renderer.display_list.identity_cache import IdentityCache
from gpu_renderer.display_list.layer_records import LayerRecords, PaintKey
from gpu_renderer.display_list.operations import Operation
from gpu_renderer.display_list.paint import PLAIN, BakedPixels, Filter, Image, Paint, Pixels, Shape, gradient_of
from gpu_renderer.display_list.space import lights
from gpu_renderer.display_list.space.camera import Placed
from gpu_renderer.geometry import color
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Region
from motion.snapshot import (
    CompositionSource,
    EffectSnapshot,
    ImageSource,
    LayerSnapshot,
    LightWash,
    LinearGradient,
    ParticleSource,
    RadialGradient,
    ShapeSource,
    SolidPaint,
    Source,
    SvgSource,
    TextSource,
    VideoSource,
)

MASK_SUPERSAMPLE = 2.0
MESHES_MAX = 4
GRADIENT_SIDE_MAX_PX = 512.0
"""Longest side of a background gradient's raster."""
_WITHOUT_TABLES = (CompositionSource, ParticleSource)
"""Sources that always drop their colour tables.

Masked layers, and planes without spatial effects, drop them too (effects.md 5).
"""


class LayerContents:
    """Factory of the paint and the filter of layers."""

    def __init__(self, rasters: Contents) -> None:
        self.rasters = rasters
        self._meshes: LruCache[tuple[Raster, Image | None]] = LruCache(MESHES_MAX, lambda _: 1)
        self.steps: IdentityCache[list[Placed]] = IdentityCache()
        """Steps of flat layers, for `compile.py`."""
        self.records: LayerRecords[Paint | None] = LayerRecords()
        """Layers that move, with their paint, for `compile.py` and `lower.py`."""
        self.operations: IdentityCache[Operation] = IdentityCache()
        """Operations of bare layers, for `lower.py`."""

    def end_frame(self) -> None:
        """Drop what the current frame did not use."""
        self.records.end_frame()
        self.steps.end_frame()
        self.operations.end_frame()
        self.rasters.end_frame()

    def box(self, layer: LayerSnapshot) -> tuple[float, float]:
        """Return the layer's own box, px, without padding."""
        return (1.0, 1.0) if isinstance(layer.source, LightWash) else self.rasters.box(layer.source)

    def with_mix_opacity(self, step: Draw) -> Draw:
        """Return a step of a frame mix with the opacity of both frames, one over the other (compositing.md, frame blending)."""
        source = step.layer.source
        weight = self.rasters.mix_weight(source) if isinstance(source, VideoSource) and source.blend == "mix" else 0.0
        if not weight:
            return step
        assert isinstance(source, VideoSource), "only videos mix"
        shown = max((sample.opacity for sample in step.samples), default=step.opacity)
        samples = tuple(replace(sample, opacity=mixed_opacity(sample.opacity, weight)) for sample in step.samples)
        layer = replace(step.layer, source=replace(source, mix_opacity=shown))
        return replace(step, layer=layer, opacity=mixed_opacity(step.opacity, weight), samples=samples)

    def paint(self, step: Draw, scene: Scene, *, is_smooth: bool) -> Paint | None:
        """Return the layer's paint, or None if it has none. `is_smooth`: a mesh has four samples a pixel."""
        layer = step.layer
        if effects.needs_baking(layer):
            return self._baked(step, scene, is_smooth)
        raster_px = self._raster_px(step)
        if shape_route.is_analytic(step, raster_px):
            return _shape(step, scene)
        if isinstance(layer.source, LightWash):
            return _image(step, lights.wash(layer.source), scene)
        canvas = shape_route.canvas_of(step, raster_px)
        raster = self.rasters.raster(layer.source, self._samples(step), canvas=canvas)
        if raster is None:
            return None
        if layer.mesh is not None and not _is_undeformed(layer, raster):
            placed = _placed_mesh(step, raster, scene, is_smooth)
            if placed is not None:
                return self._on_frame(raster, placed)
            raster = deformed(raster, layer.mesh)
        return _image(step, raster, scene, has_dither=canvas is not None)

    def moved_paint(self, moved: MovedLayer, wanted: PaintKey, draw: Callable[[], Draw], scene: Scene) -> Paint | None:
        """Return the paint of a layer that moved, from its record if that has it. `draw`: makes the layer's step."""
        paint: Paint | None = moved.record.paint(
            wanted, lambda: self._samples(draw()), lambda: self.paint(draw(), scene, is_smooth=False)
        )
        return paint

    def filter(self, step: Draw, scene: Scene) -> Filter:
        """Return the mask and the colour stage of an unbaked layer. Baking has already applied both."""
        layer, aces = step.layer, scene.is_aces_cg
        if step.is_bare and not aces and not masks.has_paths(layer):
            return PLAIN
        if effects.needs_baking(layer):
            return Filter(aces_cg=aces, gain=step.gain)
        mask = self._mask(step) if masks.has_paths(layer) else None
        stage = effects.color_stage(layer.effects)
        # The pass that draws a plane into the frame has no table. The pass before its effects has one (three-d.md 5).
        is_flat = step.plane is None or has_passes(layer)
        is_tabled = mask is None and is_flat and not isinstance(layer.source, _WITHOUT_TABLES)
        return Filter(mask, stage, _table(stage) if is_tabled else None, aces, step.gain)

    def background_of(self, paint: LinearGradient | RadialGradient, scene: Scene) -> Image | None:
        """Return the image of a composition's background gradient, at most GRADIENT_SIDE_MAX_PX wide or high."""
        scale = min(1.0, GRADIENT_SIDE_MAX_PX / max(scene.width, scene.height))
        return self.image_of(ShapeSource("rect", scene.width * scale, scene.height * scale, (paint,)), scene)

    def image_of(self, source: ShapeSource, scene: Scene) -> Image | None:
        """Return the image of a source without a layer, at its own size, or None without pixels."""
        raster = self.rasters.raster(source, 1.0)
        if raster is None:
            return None
        shown = None if raster.color is None else scene.linear(raster.color)
        return Image(raster.pixels, raster.width, raster.height, raster.padding, color=shown)

    def _samples(self, step: Draw) -> float:
        """Return the raster px per layer px of an unbaked layer's content."""
        layer = step.layer
        width, height = self.rasters.box(layer.source)
        if isinstance(layer.source, ParticleSource):
            return field_scale(step.raster_scale, width, height)
        scale = raster_tier(step.raster_scale, continuous=layer.continuous_raster, width=width, height=height)
        return supersample(scale, max(width, height, 1.0))

    def _raster_px(self, step: Draw) -> float:
        """Return the number of pixels of an unbaked layer's raster, without padding."""
        width, height = self.rasters.box(step.layer.source)
        return width * height * self._samples(step) ** 2

    def _on_frame(self, raster: Raster, placed: PlacedMesh) -> Image | None:
        """Return the raster deformed by its mesh, on the frame's pixels.

        It stays the same object while neither changes.
        """

        def made() -> tuple[Raster, Image | None]:
            region = placed.region(raster.width, raster.height)
            return raster, None if region.is_empty else _of_pixels(on_frame(raster, placed), region)

        return self._meshes.get((id(raster), placed), made)[1]

    def _baked(self, step: Draw, scene: Scene, is_smooth: bool) -> Image | None:
        """Return the content with the pending effects of the raster route."""
        layer = step.layer
        # Masks of an enlarged layer depend on its raster in the video (compositing.md 2.5).
        reduced = scene.still_scale if layer.masks and step.raster_scale > scene.view_scale else 1.0
        plan = effects.baking(
            layer, scene.view_scale / reduced, *self.rasters.box(layer.source), requested=step.raster_scale / reduced
        )
        raster = self.rasters.raster(layer.source, plan.scale, plan.bleed_px)
        if raster is None:
            return None
        paths = masks.paths(layer, raster.width, raster.height)
        own_color = raster.color if raster.color is not None and effects.keeps_color(layer) else None
        size = raster.width, raster.height
        value = (id(raster.pixels), *size, plan.scale, layer.effects, paths, layer.fill_opacity)
        placed = _placed_mesh(step, raster, scene, is_smooth)
        is_coverage = own_color is not None and placed is None
        pixels = BakedPixels(value, raster, layer, plan.scale, plan.mask_scale, is_coverage, placed)
        if placed is not None:
            region = placed.region(raster.width, raster.height)
            return None if region.is_empty else _of_pixels(pixels, region)
        is_picture = isinstance(layer.source, (ImageSource, SvgSource, VideoSource))
        # a picture is stretched over the padding of its effects, as in the reference (effects.md 4.1)
        padding = plan.padding_px if is_picture else raster.padding
        shown = None if own_color is None else _linear(own_color._replace(alpha=1.0), step.gain, scene)
        return Image(
            pixels, raster.width, raster.height, padding, _crop(step, raster), layer.draft_quality, color=shown,
            is_exact=shown is None,  # already rounded to 8 bits: a second rounding is a quarter of a level too bright
        )  # fmt: skip

    def _mask(self, step: Draw) -> Pixels | None:
        """Return the mask of an unbaked layer, or the part of it that belongs to a strip."""
        width, height = self.rasters.box(step.layer.source)
        paths = masks.paths(step.layer, width, height)
        if not masks.is_masked(paths):
            return None
        raster = MaskRaster(width, height, MASK_SUPERSAMPLE)
        return (
            self.rasters.mask(paths, raster) if step.part == WHOLE else self.rasters.mask_part(paths, raster, step.part)
        )


def _is_undeformed(layer: LayerSnapshot, raster: Raster) -> bool:
    """Return True if the layer ignores its mesh, because an unbaked mask or table applies (compositing.md 5.6)."""
    is_tabled = _table(effects.color_stage(layer.effects)) is not None
    return is_tabled or masks.is_masked(masks.paths(layer, raster.width, raster.height))


def _placed_mesh(step: Draw, raster: Raster, scene: Scene, is_smooth: bool) -> PlacedMesh | None:
    """Return the layer's mesh on the frame, or None without a mesh or with several sub-frames."""
    mesh = step.layer.mesh
    if mesh is None or step.samples or min(raster.width, raster.height) <= 0:
        return None
    return PlacedMesh(mesh, step.placement.quad(raster.width, raster.height), scene.frame, is_smooth)


def _of_pixels(pixels: Pixels | BakedPixels, region: Region) -> Image:
    """Return an image of pixels that map one to one to the frame."""
    return Image(pixels, region.width, region.height, region=region, is_nearest=False)


def stage_filter(stack: Sequence[EffectSnapshot]) -> Filter:
    """Return only the colour stage, for pictures that are already linear."""
    stage = effects.color_stage(stack)
    return Filter(None, stage, _table(stage))


def _table(stage: effects.ColorStage | None) -> bytes | None:
    return None if stage is None or stage.table is None else stage.table.tobytes()


def stands_still(step: Draw) -> bool:
    """Return True if the step alone decides the content of its layer, whatever the time: shapes and texts."""
    return step.is_bare and isinstance(step.layer.source, (ShapeSource, TextSource))


def _shape(step: Draw, scene: Scene) -> Shape:
    """Return the content of a layer for which `shape_route.is_analytic` is true."""
    source, is_wall = step.layer.source, step.is_hard
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
    stage = effects.color_stage(step.layer.effects)
    if stage is not None:  # applied to encoded numbers: a quirk of the reference (compositing.md 1.5)
        fill = Rgba(*stage.graded_fill(fill[:3]), fill.alpha)
    return Shape(source.primitive, _linear(fill, step.shade, scene), width, height, radius, is_wall)


def has_passes(layer: LayerSnapshot) -> bool:
    """Return True if spatial effects run on the layer's buffer."""
    return bool(layer.effects) and bool(effects.EffectStack.of(layer).passes)


def part_shown(source: Source, columns: int, rows: int) -> UnitRect:
    """Return the visible part of content of a texel size: the middle of a covering picture (layers.md 9.2)."""
    if not (isinstance(source, (ImageSource, VideoSource)) and source.cover):
        return WHOLE
    own, box = columns / rows, source.width / source.height
    part = box / own if own > box else own / box
    return ((1 - part) / 2, 0.0, part, 1.0) if own > box else (0.0, (1 - part) / 2, 1.0, part)


def _image(step: Draw, raster: Raster, scene: Scene, *, has_dither: bool = False) -> Image:
    """Return the image of an unbaked raster. `has_dither`: it has the reference's dither, which 8 bits would blur.

    Particles and the washes of lights are always filtered in full precision: they are faint, and rounded faint colours
    are several levels off in dark parts.
    """
    is_faint = isinstance(step.layer.source, (LightWash, ParticleSource))
    shown = None if raster.color is None else _linear(raster.color, step.gain, scene)
    return Image(
        raster.pixels, raster.width, raster.height, raster.padding, _crop(step, raster), step.layer.draft_quality,
        raster.is_opaque, shown, raster.content_box if step.part == WHOLE else WHOLE, raster.is_transient,
        is_exact=(step.is_exact or is_faint or has_dither) and shown is None,
    )  # fmt: skip


def _linear(encoded: Rgba, gain: Tint, scene: Scene) -> Rgba:
    """Return a colour in the working space, multiplied by the gain of its plane."""
    red, green, blue, alpha = encoded
    return scene.linear(Rgba(red * gain[0], green * gain[1], blue * gain[2], alpha))


def _crop(step: Draw, raster: Raster) -> UnitRect:
    """Return the visible part of the texture."""
    rows, columns = raster.pixels.shape[:2]
    x, y, width, height = part_shown(step.layer.source, columns, rows)
    left, top, right, down = step.part
    return x + left * width, y + top * height, width * right, height * down
