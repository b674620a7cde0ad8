"""Boxes, rasters and masks of layer sources: the interface of the rasterisers to the display list.

Results are cached by value. Equal sources give the same array, so that its texture can be cached too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from gpu_renderer.cache.lru import LruCache
from gpu_renderer.content.library import MediaLibrary
from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.content.raster import Raster, UnitRect, with_content_box
from gpu_renderer.content.svg.animation import UNPLAYED, played
from gpu_renderer.content.text.character_planes import with_character_planes
from gpu_renderer.content.text.families import FontChain, Fonts, Style
from gpu_renderer.content.text.lines import END_PADDING_PX, SIDE_PADDING_PX, measured_box
from gpu_renderer.content.text.text_raster import text_raster
from gpu_renderer.content.vector.mask import MaskRaster, mask_coverage, part_of
from gpu_renderer.content.vector.paints import Canvas
from gpu_renderer.content.vector.particles import particle_raster
from gpu_renderer.content.vector.shape import shape_raster
from gpu_renderer.content.vector.surface import Pixels
from gpu_renderer.errors import MediaUndecodable
from motion.formulas.expressions import SourceRect
from motion.snapshot import (
    CompositionSource,
    ImageSource,
    LightWash,
    MaskPath,
    ParticleSource,
    ShapeSource,
    Snapshot,
    Source,
    SvgSource,
    TextSource,
    VideoSource,
)

T = TypeVar("T")

KEPT_MAX_BYTES = 96 << 20
IN_USE_MAX_BYTES = 512 << 20
"""Limit for rasters that frames use together and that are kept for the next frame.

It holds two large photographs and more, or the largest possible picture.
"""
CHARACTERS_MAX = 20_000
SOURCE_RECT_SUPERSAMPLE = 2.0


class Contents:
    """Boxes, rasters and masks of sources, cached within a byte budget."""

    def __init__(
        self,
        fonts: Fonts,
        media: MediaLibrary,
        kept_max_bytes: int = KEPT_MAX_BYTES,
        in_use_max_bytes: int = IN_USE_MAX_BYTES,
        name_source: Callable[[str], str] = lambda source: source,
    ) -> None:
        """`name_source`: returns the name of a picture or video for warnings."""
        self._fonts, self._name_source = fonts, name_source
        self._media = media
        self._rasters: LruCache[Raster | None] = LruCache(kept_max_bytes, _raster_bytes, in_use_max_bytes)
        self._pixels: LruCache[Pixels] = LruCache(kept_max_bytes // 4, lambda pixels: pixels.nbytes)
        self._faults: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about content that is drawn differently or not at all."""
        return (*self._fonts.warnings, *self._media.warnings, *self._faults)

    def end_frame(self) -> None:
        """Drop rasters above the budget that no recent frame used."""
        self._rasters.end_frame()

    def end_use(self) -> None:
        """Drop rasters above the budget, even recently used ones. Call it when no frame follows soon."""
        self._rasters.end_use()

    def close(self) -> None:
        """Drop all rasters and masks. Evaluated frames refer to this object in cycles, so it can outlive its document."""
        self._rasters.clear()
        self._pixels.clear()

    def counter_faces(self) -> FontChain:
        """Return the faces in which counters are drawn: the system's fixed-width family."""
        return self._fonts.chain(Style("monospace", 400, italic=False))

    def box(self, source: Source) -> tuple[float, float]:
        """Return width and height of the layer box, px, or (0, 0) for a source that draws nothing."""
        if isinstance(source, TextSource):
            return self._if_finite(lambda: measured_box(self._bounded(source), self._fonts), (0.0, 0.0))
        if isinstance(source, (ShapeSource, ImageSource, VideoSource, SvgSource, CompositionSource, ParticleSource)):
            return source.width, source.height
        if isinstance(source, LightWash):
            return 2 * max(1.0, source.radius), 2 * max(1.0, source.radius)
        return 0.0, 0.0

    def source_rect(self, source: TextSource, extents: bool) -> SourceRect | None:
        """Return the rectangle of a text's painted pixels, or with `extents` of its font box, px from the centre of the layer box.

        Used by expressions (animation.md 4.5, sourceRectAtTime). None for a text that paints nothing.
        """
        if extents:
            width, height = self.box(source)
            inner = max(0.0, width - 2 * SIDE_PADDING_PX), max(0.0, height - 2 * END_PADDING_PX)
            return SourceRect(-inner[0] / 2, -inner[1] / 2, *inner)
        raster = self.raster(source, SOURCE_RECT_SUPERSAMPLE)
        if raster is None:
            return None
        painted = (raster.pixels if raster.color is not None else raster.pixels[..., 3]) > 0
        rows, columns = np.flatnonzero(painted.any(axis=1)), np.flatnonzero(painted.any(axis=0))
        if not rows.size:
            return None
        scale = raster.pixels.shape[1] / (raster.width + 2 * raster.padding)
        (left, right), (top, bottom) = ((float(at[0]), float(at[-1] + 1)) for at in (columns, rows))
        x, y = -raster.width / 2 - raster.padding, -raster.height / 2 - raster.padding
        return SourceRect(x + left / scale, y + top / scale, (right - left) / scale, (bottom - top) / scale)

    def with_character_planes(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot with each text layer of per-character 3D as a plane for each glyph."""
        return with_character_planes(snapshot, self._fonts)

    def raster(
        self, source: Source, supersample: float, bleed_px: float = 0.0, canvas: Canvas | None = None
    ) -> Raster | None:
        """Return the source's pixels at `supersample` raster px per layer px, or None if there is nothing to draw.

        A picture keeps its own size at any supersampling. A file that cannot be decoded gives a warning.
        `canvas`: the canvas whose edges and dither a shape gets, or None to choose by the scale.
        """
        if isinstance(source, VideoSource):
            return self._video(source)
        if isinstance(source, (ImageSource, SvgSource)):
            return self._picture(source)
        key = (source, supersample, bleed_px, canvas)
        return self._rasters.get(key, lambda: self._if_finite(lambda: self._drawn(*key), None))

    def footage(self, source: VideoSource) -> DecodedFrame | None:
        """Return the single decoded frame that a video shows, or None if it shows none or mixes several."""
        return self._attempted(source.src, lambda: self._media.shown_frame(source))

    def mix_weight(self, source: VideoSource) -> float:
        """Return the weight of the later frame of a video's frame mix, or 0 if one frame is drawn."""
        return self._attempted(source.src, lambda: self._media.mix_weight(source)) or 0.0

    def mask(self, paths: Sequence[MaskPath], raster: MaskRaster) -> Pixels:
        """Return the coverage of mask paths over a box and its padding, shape (rows, columns), full if no path masks."""
        key = (tuple(paths), raster)
        return self._pixels.get(key, lambda: mask_coverage(*key))

    def mask_part(self, paths: Sequence[MaskPath], raster: MaskRaster, part: UnitRect) -> Pixels:
        """Return the coverage of mask paths over a part of a box, in as many pixels as the whole box has."""
        key = (tuple(paths), raster, part)
        return self._pixels.get(key, lambda: part_of(self.mask(paths, raster), part))

    def _drawn(self, source: Source, supersample: float, bleed_px: float, canvas: Canvas | None) -> Raster | None:
        if isinstance(source, ShapeSource):
            return with_content_box(shape_raster(source, supersample, bleed_px, canvas))
        if isinstance(source, TextSource) and source.content.strip():
            return with_content_box(text_raster(self._bounded(source), supersample, self._fonts, bleed_px))
        if isinstance(source, ParticleSource):
            return particle_raster(source, supersample)
        return None

    def _if_finite(self, make: Callable[[], T], otherwise: T) -> T:
        """Return the result of `make`, or `otherwise` if the document's numbers are not finite or out of range."""
        try:
            return make()
        except (ValueError, OverflowError):
            self._faults.setdefault("A layer whose numbers are not finite is not drawn.")
            return otherwise

    def _bounded(self, source: TextSource) -> TextSource:
        """Return the text, cut after CHARACTERS_MAX so that its layout time is bounded."""
        longest = max(len(source.content), len(source.measured_content))
        if longest <= CHARACTERS_MAX:
            return source
        self._faults.setdefault(f"A text of {longest} characters is cut after {CHARACTERS_MAX}.")
        cut = slice(CHARACTERS_MAX)
        return replace(source, content=source.content[cut], measured_content=source.measured_content[cut])

    def _picture(self, source: ImageSource | SvgSource) -> Raster | None:
        """Return the raster of a picture. Boxes of every size share one pixel array."""
        key: tuple[Any, ...]
        decode: Callable[[], Pixels | None]
        if isinstance(source, ImageSource):
            name, key = source.src, ("picture", source.src, source.svg_fill)
            decode = partial(self._media.picture, source.src, source.svg_fill)
        else:
            source, name = self._at_its_time(source), "an SVG layer"
            intrinsic = source.intrinsic_width, source.intrinsic_height
            key = ("picture", source.markup, source.svg_fill, intrinsic)
            decode = partial(self._media.svg, source.markup, intrinsic, source.svg_fill)

        def decoded() -> Raster | None:
            pixels = self._attempted(name, decode)
            return None if pixels is None else Raster(pixels, source.width, source.height)

        found = self._rasters.get(key, decoded)
        return None if found is None else replace(found, width=source.width, height=source.height)

    def _at_its_time(self, source: SvgSource) -> SvgSource:
        """Return the document with its animation, if it has any, at the source's time."""
        seconds = source.time
        if seconds is None:
            return source
        if UNPLAYED.search(source.markup):
            self._faults.setdefault("Motion paths and style sheet animations of an SVG layer are not played.")
        markup = self._attempted("an SVG layer", lambda: played(source.markup, max(0.0, seconds)))
        return source if markup is None else replace(source, markup=markup)

    def _video(self, source: VideoSource) -> Raster | None:
        if self._media.is_picture(source.src):
            return self._picture(ImageSource(source.src, source.width, source.height))
        frame = self._attempted(source.src, lambda: self._media.blended_frame(source))
        return None if frame is None else replace(frame, width=source.width, height=source.height)

    def _attempted(self, name: str, make: Callable[[], T | None]) -> T | None:
        try:
            return make()
        except MediaUndecodable as error:
            self._faults.setdefault(f"{self._name_source(name)}: {error.public_message}")
            return None


def _raster_bytes(raster: Raster | None) -> int:
    return 64 if raster is None else raster.pixels.nbytes
