"""Draw operations of the kernels: content on quads, layer buffers and glows.

A draw operation holds the values that are uniforms of `shaders/compositing/quad.frag` and `layer.frag`, and texels in
main memory.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl import drawable, quads
from gpu_renderer.backends.gl.drawable import Drawable, GroupTarget
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.cache.lru import LruCache
from gpu_renderer.content.raster import UnitRect
from gpu_renderer.display_list.graph import UNTINTED
from gpu_renderer.display_list.operations import DrawMoved
from gpu_renderer.display_list.paint import Filter, Gradient, Image, PlacedQuad, Shape
from gpu_renderer.effects import GlowBuffer, LayerBuffer
from gpu_renderer.effects.layer_buffer import Compositing
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region, outside
from gpu_renderer.kernels.bindings import Kernels
from gpu_renderer.kernels.draw_ops import (
    BUFFER,
    CELLS,
    COVERAGE,
    ELLIPSE,
    GLOW,
    GLOWING_BUFFER,
    GROUP,
    HALF_CELLS,
    IMAGE,
    MODES_KNOWN,
    NO_EXTENTS,
    NOTHING,
    RECTANGLE,
    Content,
    DrawOp,
    Extents,
    Grade,
    Texels,
    Variant,
    buffer_op,
    content_op,
    packed_content,
    quads_op,
    table_pairs,
)
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import CHANNELS, Target

SIDE_MAX = 8192
"""Largest side of a texture, texels. Single floats cannot resolve 1/256 of a texel in a larger one."""
QUAD_MAX = 1e9
"""Largest number in a quad's matrix. Above it, rasterisers can round numbers of the inverse to 0."""
MATRIX_MAX = 1e30
"""Largest number in a colour matrix. Sums of larger numbers overflow single floats before they are clamped to 0..1."""
TEXELS_BYTES_MAX = 32 << 20
"""Budget of texels read back from targets, bytes."""
_NO_COLOR = (0.0,) * 4


@lru_cache(maxsize=64)
def _numbers_of(gradient: Gradient) -> npt.NDArray[np.float32]:
    """Return the numbers of `struct gradient`: position, first colour and ramps."""
    return np.array([*gradient.place, *gradient.stops[0][1], *chain.from_iterable(gradient.ramps)], np.float32)


_pairs_of = lru_cache(maxsize=64)(table_pairs)


def is_within_limits(quad: Matrix3) -> bool:
    """Return True if a kernel places a quad exactly as rasterisers do."""
    return max(quad) <= QUAD_MAX and min(quad) >= -QUAD_MAX


class ReadableContent(NamedTuple):
    """A drawable as the kernels read it, wherever it is placed."""

    shown: Drawable
    kind: int
    content: Content
    gradient: int
    """See `Variant.gradient`."""
    ramp_count: int
    packed: bytes
    """Result of `packed_content`."""


class KernelTexels:
    """Texels of content in main memory. A target's texels are read back once for each of its versions.

    If two successive frames use the same version of a target, its texels stay in main memory and its texture is freed.
    """

    def __init__(self, painter: Painter, kernels: Kernels | None = None) -> None:
        """`kernels`: they find the extents of cells, which are unknown without."""
        self._painter, self._kernels = painter, kernels
        self._extents: dict[tuple[int, UnitRect], Extents] = {}
        self._read: LruCache[Texels] = LruCache(TEXELS_BYTES_MAX, lambda texels: texels.nbytes)
        self._used: set[int] = set()
        self._used_before: set[int] = set()
        """Versions used in this frame and in the previous one."""
        self._paints: dict[int, ReadableContent] = {}
        self._paints_before = self._paints
        """Paint used in this frame and in the previous one, by identity. A layer's paint is the same object in each frame."""

    def begin_frame(self) -> None:
        """Begin a frame. Call this before its first operation."""
        self._used_before, self._used = self._used, set()
        self._paints_before, self._paints = self._paints, {}
        if self._extents:
            self._extents = {key: found for key, found in self._extents.items() if key[0] in self._used_before}

    def of(self, source: object) -> Texels | None:
        """Return texels as bytes, half-float patterns or floats, or None for other formats.

        Shape (rows, columns) or (rows, columns, 4), without padding.
        """
        if isinstance(source, Target):
            return self._of_target(source)
        if not isinstance(source, np.ndarray) or max(source.shape) > SIDE_MAX:
            return None
        is_fit = (source.ndim == 2 or source.shape[2] == 4) and source.flags.c_contiguous
        return source if is_fit else None

    def bytes_of(self, source: object) -> Texels | None:
        """Return texels as bytes, or None unless they are bytes with at least two columns and rows, as the filter requires."""
        found = self.of(source)
        return found if found is not None and found.dtype == np.uint8 and min(found.shape[:2]) > 1 else None

    def readable(self, shown: Drawable) -> ReadableContent | None:
        """Return a drawable as the kernels read it, or None if its texels are unsupported."""
        found = self._paints.get(id(shown)) or self._paints_before.get(id(shown))
        if found is None:
            found = _readable(shown, self)
        if found is not None and _stays(shown):
            self._paints[id(shown)] = found
        return found

    def halves(self, source: Target) -> Texels | None:
        """Return half-float patterns of shape (rows, columns, 4), or None for a target of another format."""
        return self.of(source) if source.format == "f2" else None

    def extents(self, source: Target, crop: UnitRect) -> Extents:
        """Return the extents of cells that also the previous frame used. For others, finding them would not pay."""
        if self._kernels is None or source.version not in self._used_before:
            return NO_EXTENTS
        key = (source.version, crop)
        found = self._extents.get(key)
        if found is None:
            texels, (left, top, width, height) = self._of_target(source), crop
            rows, columns = texels.shape[:2]
            # Filters read one texel more on each side.
            x, y = math.floor(left * columns) - 1, math.floor(top * rows) - 1
            right, bottom = math.ceil((left + width) * columns) + 1, math.ceil((top + height) * rows) + 1
            part = Region(x, y, right - x, bottom - y).intersection(Region(0, 0, columns, rows))
            found = self._extents[key] = self._kernels.extents(texels, part)
        return found

    def _of_target(self, source: Target) -> Texels:
        if source.texels is not None:
            self._used.add(source.version)
            return source.texels
        texels = self._read.get(source.version, lambda: self._texels(source))
        self._used.add(source.version)
        if source.version in self._used_before:
            self._painter.pool.keep_in_memory(source, texels)
        return texels

    def _texels(self, source: Target) -> Texels:
        components, kind = CHANNELS[source.format]
        width, height = source.size
        shape = (height, width) if components == 1 else (height, width, components)
        texels: Texels = np.empty(shape, {"f1": np.uint8, "f2": np.uint16, "f4": np.float32}[kind])
        self._painter.finish()
        self._painter.calls.read_texels(
            source.texture, Region(0, 0, width, height), texels.ctypes.data, texels.strides[0]
        )
        return texels


def of_glow(
    glow: GlowBuffer, texels: KernelTexels, within: Region, opacity: float = 1.0, matte: DrawOp | None = None
) -> DrawOp | None:
    """Return the operation of a glow, or None if its cells are not RGBA floats."""
    region, matte_mode = glow.region.intersection(within), 0 if matte is None else matte.variant.mode
    if not glow.levels:
        halves, variant = texels.halves(glow.target), Variant(GLOW, is_nearest=True, matte_mode=matte_mode)
        if halves is None:
            return None
        return buffer_op(variant, region, Content(_region_of(glow.target), texels=halves), opacity, matte=matte)
    cells = texels.of(glow.target)
    if cells is None or cells.dtype != np.float32 or cells.ndim != 3:
        return None
    (x, y, width, height), (right, down) = glow.target.region, glow.origin
    placed = (x + right / glow.cell_px, y + down / glow.cell_px, float(width), float(height))
    variant, content = Variant(GLOW, matte_mode=matte_mode), Content(placed, texels=cells)
    return buffer_op(variant, region, content, opacity, matte=matte, cells_per_px=1 / glow.cell_px)


def of_buffer(layer: LayerBuffer, texels: KernelTexels, within: Region, how: Compositing) -> list[DrawOp | None]:
    """Return the operations of a layer's buffer and its glow, with the layer's matte applied."""
    through, opacity = None, how.opacity
    if how.matte is not None:
        seen = texels.halves(how.matte)
        if seen is None:
            return [None]
        variant = Variant(BUFFER, mode=how.matte_mode)
        through = buffer_op(variant, within, Content(_region_of(how.matte), texels=seen))
    glow = layer.glow
    if glow is not None and layer.is_glow_alone:
        return [of_glow(glow, texels, within, opacity, through)]
    halves, region = texels.halves(layer.sharp), layer.sharp.region.intersection(within)
    if halves is None:
        return [None]
    content = Content(_region_of(layer.sharp), texels=halves)
    made = partial(buffer_op, content=content, opacity=opacity, matte=through)
    alone = Variant(BUFFER, matte_mode=how.matte_mode)
    if glow is None:
        return [made(alone, region)]
    behind = of_glow(glow, texels, within)
    if behind is None:
        return [None]
    over = Variant(GLOWING_BUFFER, is_nearest=behind.variant.is_nearest, matte_mode=how.matte_mode)
    around = outside((glow.region.intersection(within),), layer.sharp.region)
    return [
        made(over, region.intersection(glow.region), glow=behind),
        *(made(alone, part) for part in outside((region,), glow.region)),
        *(of_glow(glow, texels, part, opacity, through) for part in around),
    ]


def _region_of(target: Target) -> tuple[float, float, float, float]:
    x, y, width, height = target.region
    return float(x), float(y), float(width), float(height)


def of_drawable(
    shown: Drawable,
    quad: Matrix3,
    texels: KernelTexels,
    within: Region,
    style: Style,
    *,
    mode: int = 0,
    known: PlacedQuad | None = None,
) -> DrawOp | None:
    """Return the operation of a drawable on a quad, or None if the kernels cannot draw it. It is equal to `quads.draw`.

    For an invisible drawable, return an operation that touches no pixel.
    """
    mask = style.filter.mask
    if mode not in MODES_KNOWN:
        return None
    if mask is not None and (not isinstance(shown, Image) or texels.bytes_of(mask) is None):
        return None
    placed = quads.sampled_on(shown, quad, within, is_smooth=style.is_smooth, known=known)
    if placed is None:
        return NOTHING
    found = texels.readable(placed.shown)
    if found is None or not is_within_limits(quad):
        return None
    shown, kind, content, gradient, ramp_count, packed = found
    steps = drawable.grading(shown, style.filter)
    variant = Variant(
        kind, placed.samples, not matrix.is_affine(quad), isinstance(shown, Image) and shown.is_nearest, mode,
        drawable.is_exact(shown, style.filter, feeds_effects=False), gradient, ramp_count, mask is not None,
        grading=steps,
    )  # fmt: skip
    region, to_unit = placed.quad.touched.intersection(within), matrix.folded_columns(quad, placed.quad.to_unit)
    grade = grade_of(style.filter, steps) if steps else None
    return content_op(variant, region, content, to_unit, style.opacity, mask, grade, packed)


def of_moved(moved: DrawMoved, texels: KernelTexels, within: Region) -> DrawOp | None:
    """Return one operation with the quads of all layers, or None if the kernels cannot draw one of them."""
    contents = [found for paint in moved.paints if (found := texels.readable(drawable.smooth(paint))) is not None]
    if len(contents) < len(moved.paints):
        return None
    rows, clip = moved.rows, np.array((within.x, within.y, within.right, within.bottom))[:, None]
    is_low = np.arange(4)[:, None] < 2
    regions = np.where(is_low, np.maximum(rows.touched, clip), np.minimum(rows.touched, clip))
    is_nearest = rows.is_one_to_one | [isinstance(one.shown, Image) and one.shown.is_nearest for one in contents]
    is_exact = ~is_nearest & [isinstance(one.shown, Image) and one.shown.is_exact for one in contents]
    kinds, samples = [one.kind for one in contents], rows.samples
    variants = np.stack((kinds, samples, np.zeros_like(samples), is_nearest, np.zeros_like(samples), is_exact))
    return quads_op(moved.bounds, variants, regions, rows.to_unit, moved.places[-1], contents)


def _stays(shown: Drawable) -> bool:
    """Return True if a drawable can be the same object in the next frame, with the same texels."""
    return isinstance(shown, Shape) or (
        isinstance(shown, Image) and not shown.is_transient and isinstance(shown.pixels, np.ndarray)
    )


def _readable(shown: Drawable, texels: KernelTexels) -> ReadableContent | None:
    found = _content_of(shown, texels)
    if found is None:
        return None
    kind, content = found
    gradient, ramp_count = _gradient_of(shown)
    return ReadableContent(shown, kind, content, gradient, ramp_count, packed_content(content, gradient, ramp_count))


def _gradient_of(shown: Drawable) -> tuple[int, int]:
    """Return the gradient kind of a shape (0 none, 1 linear, 2 radial) and the number of its ramps."""
    if not isinstance(shown, Shape) or not isinstance(shown.fill, Gradient):
        return 0, 0
    return 2 if shown.fill.is_radial else 1, len(shown.fill.stops) - 1


def grade_of(by: Filter, steps: tuple[str, ...]) -> Grade:
    """Return the kernels' colour stage with the given steps."""
    affine = by.matrix.affine.clip(-MATRIX_MAX, MATRIX_MAX) if by.matrix is not None and "MATRIX" in steps else None
    return Grade(
        by.gain if "GAIN" in steps else UNTINTED,
        "ACES" in steps,
        None if affine is None else tuple(affine.T.ravel().tolist()),
        _pairs_of(by.table) if by.table is not None and "TABLES" in steps else None,
    )


def _content_of(shown: Drawable, texels: KernelTexels) -> tuple[int, Content] | None:
    """Return the kind and content of a drawable for the kernels, or None if its texels are unsupported."""
    if isinstance(shown, Shape):
        kind = RECTANGLE if shown.primitive == "rect" else ELLIPSE
        geometry = (shown.width, shown.height, shown.radius, float(shown.is_hard))
        if isinstance(shown.fill, Gradient):
            return kind, Content(geometry, texels=_numbers_of(shown.fill))
        return kind, Content(geometry, shown.fill)
    if isinstance(shown, Image):
        found = texels.bytes_of(shown.pixels)
        if found is None or (found.ndim == 2) != (shown.color is not None):
            return None
        kind = IMAGE if shown.color is None else COVERAGE
        return kind, Content(shown.crop, shown.color or _NO_COLOR, found)
    if isinstance(shown, GroupTarget):
        found = texels.halves(shown.target)
        return None if found is None else (GROUP, Content(_region_of(shown.target), texels=found))
    found = texels.of(shown.target)
    if found is None or found.ndim != 3 or found.dtype == np.uint8:
        return None
    content = Content(shown.crop, texels=found, extents=texels.extents(shown.target, shown.crop))
    return CELLS if found.dtype == np.float32 else HALF_CELLS, content
