"""Draw operations of the native kernels, packed as `native/src/draw_op.h` declares them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.region import Region

(
    RECTANGLE, ELLIPSE, COVERAGE, IMAGE, CELLS, HALF_CELLS, GROUP, BUFFER, GLOWING_BUFFER, GLOW, QUANTISE, ADJUST,
) = range(12)  # fmt: skip
"""`enum kind` of `draw_op.h`."""
MODES_KNOWN = frozenset((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 17, 22))
"""Blend modes of `blending.h`, by the numbers of `graph.MODES`."""
_CONTENT_FORMAT = "<4f4ff2iqqqq2iq8i"
_PLACE, _CONTENT = struct.Struct("<10i12ff").pack, struct.Struct(_CONTENT_FORMAT).pack
"""The two parts of `struct draw_op` of `draw_op.h`: its place and opacity, and its content."""
_GRADE = struct.Struct("<3f2i12f4xq").pack
"""`struct grade` of `draw_op.h`."""
_ROW = np.dtype(
    [("variant", np.int32, 6), ("region", np.int32, 4), ("to_unit", np.float32, 12), ("opacity", np.float32),
     ("content", np.void, struct.calcsize(_CONTENT_FORMAT))]
)  # fmt: skip
"""`struct draw_op` as a row of an array."""
RAMP_PASS, NOISE_PASS = range(2)
"""`enum pass_kind` of `adjustment.h`."""
PASS_NUMBERS = 12
Extents = tuple[int, int, int, int, int, int, int, int]
"""Texels that a draw operation need not sample: left, top, right and bottom of the visible ones and of flat ones."""
NO_EXTENTS: Extents = (0,) * 8
_PASS = struct.Struct(f"<2i{PASS_NUMBERS}f").pack
"""`struct pass` of `adjustment.h`."""
Texels = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.float32]


class Variant(NamedTuple):
    """Features of a draw operation. Each combination corresponds to one shader variant."""

    kind: int
    samples: int = 0
    is_projective: bool = False
    is_nearest: bool = False
    mode: int = 0
    is_exact: bool = False
    """Filter bytes in single floats instead of 8 bits."""
    gradient: int = 0
    """Gradient kind: 0 none, 1 linear, 2 radial."""
    ramp_count: int = 0
    is_masked: bool = False
    matte_mode: int = 0
    grading: tuple[str, ...] = ()
    """Steps of the colour stage, by the names of their defines in the quad shader."""


class Grade(NamedTuple):
    """The colour stage of a draw operation, in the order of its steps."""

    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Factor of encoded colours."""
    is_aces: bool = False
    """Convert linear colours from Rec.709 to ACEScg."""
    matrix: tuple[float, ...] | None = None
    """Affine map of linear colours: three columns, then the offset. Results are clamped to 0..1."""
    table: npt.NDArray[np.uint32] | None = None
    """Result of `table_pairs`."""


class Content(NamedTuple):
    """Geometry, colour and texels of a draw operation."""

    geometry: tuple[float, ...] = (0.0,) * 4
    """Four numbers. Shape: width, height and corner radius in layer px, and 1 for a hard edge or 0 for a soft one. COVERAGE,
    IMAGE and cells: left, top, width and height of the visible texels, 0 to 1. GROUP, buffers and glows: region of the
    texels in frame px, or in cells for a glow with linear filtering."""
    color: tuple[float, ...] = (0.0,) * 4
    """Linear straight RGBA of a shape or of coverage."""
    texels: Texels | None = None
    """Unpadded texels of shape (rows, columns) or (rows, columns, 4), or the numbers of `struct gradient` or of passes."""
    extents: Extents = NO_EXTENTS
    """Of cells, if they are known."""
    cells_per_px: float = 0.0
    """Resolution of a GLOW that is not nearest."""


class PackedContent(Protocol):
    """Content, packed by `packed_content`."""

    @property
    def packed(self) -> bytes:
        """The part of `struct draw_op` that a place does not change."""
        ...


class Pass(NamedTuple):
    """A pointwise pass over opaque colours."""

    kind: int
    is_monochrome: bool
    numbers: tuple[float, ...]
    """Uniforms of its shader in the order of `struct pass`, at most PASS_NUMBERS."""


class DrawOp(NamedTuple):
    """A draw operation of the kernels: content on a quad, a layer buffer, a glow, or a change of the backdrop."""

    region: Region
    """Pixels that the operation can touch."""
    variant: Variant
    packed: bytes
    """Operation as `struct draw_op`, or several of them one after the other."""
    texels: object = None
    """Arrays that the operation reads. The reference keeps them alive."""


class References(NamedTuple):
    """What a draw operation uses beside its texels."""

    glow: DrawOp | None = None
    """Glow behind a GLOWING_BUFFER."""
    matte: DrawOp | None = None
    """A BUFFER whose `mode` is that of shaders/include/matte.glsl."""
    mask: npt.NDArray[np.uint8] | None = None
    """Coverage of the unit square, shape (rows, columns)."""
    grade: Grade | None = None
    """None if colours stay unchanged."""


NO_REFERENCES = References()
_NO_POINTERS = (0,) * 6
_NO_PLACE = (0.0,) * 12
NOTHING = DrawOp(Region(0, 0, 0, 0), Variant(QUANTISE), b"")
"""An operation that touches no pixel."""


def quantise_op(region: Region) -> DrawOp:
    """Return the operation that quantises the backdrop in a region to 8 bits."""
    return draw_op(Variant(QUANTISE), region, Content())


def adjust_op(region: Region, grade: Grade | None, passes: Sequence[Pass], grading: tuple[str, ...]) -> DrawOp:
    """Return the operation that grades the backdrop in a region, clamps it to 0..1 and runs passes over it."""
    numbers = [(*each.numbers, *(0.0,) * (PASS_NUMBERS - len(each.numbers))) for each in passes]
    packed = b"".join(_PASS(each.kind, each.is_monochrome, *of) for each, of in zip(passes, numbers, strict=True))
    found = np.frombuffer(packed, np.uint8).reshape(1, len(passes), -1) if passes else None
    return draw_op(Variant(ADJUST, grading=grading), region, Content(texels=found), uses=References(grade=grade))


def quads_op(
    region: Region,
    variants: npt.NDArray[np.int64],
    regions: npt.NDArray[np.int64],
    to_unit: npt.NDArray[np.float64],
    opacities: npt.NDArray[np.float64],
    contents: Sequence[PackedContent],
) -> DrawOp:
    """Return one operation that draws several quads without masks and grades, bottom first. Columns of arrays are quads.

    `region`: around all quads. `variants`: the numbers of `Variant` up to `is_exact`. `regions`: left, top, right and bottom of the
    pixels that each quad can touch. `to_unit`: see `draw_op`.
    """
    rows = np.empty(len(contents), _ROW)
    rows["variant"], rows["region"], rows["to_unit"], rows["opacity"] = variants.T, regions.T, to_unit.T, opacities
    rows["content"] = np.frombuffer(b"".join([content.packed for content in contents]), _ROW["content"])
    visible = (regions[0] < regions[2]) & (regions[1] < regions[3])
    return DrawOp(region, Variant(int(variants[0, 0])), rows[visible].tobytes(), contents)


def draw_op(
    variant: Variant,
    region: Region,
    content: Content,
    opacity: float = 1.0,
    uses: References = NO_REFERENCES,
    to_unit: tuple[float, ...] = _NO_PLACE,
) -> DrawOp:
    """Return the operation of content on a quad, of a layer buffer, or of a glow.

    `to_unit`, of a quad alone: matrix from frame px to the quad's unit square, column by column, and the quad's fold.
    """
    glow, matte = (None if op is None else np.frombuffer(op.packed, np.uint8) for op in (uses.glow, uses.matte))
    grade = None if uses.grade is None else _packed_grade(uses.grade)
    columns, rows = (0, 0) if uses.mask is None else uses.mask.shape[::-1]
    pointers = _address(glow), _address(matte), _address(uses.mask), columns, rows, _address(grade)
    packed = packed_content(content, variant.gradient, variant.ramp_count, pointers)
    return placed_op(variant, region, packed, (content.texels, uses, glow, matte, grade), to_unit, opacity)


def packed_content(content: Content, gradient: int, ramp_count: int, pointers: tuple[int, ...] = _NO_POINTERS) -> bytes:
    """Pack the part of a draw operation that its place does not change. `gradient`, `ramp_count`: as in `Variant`.

    `pointers`: addresses of glow, matte and mask, the mask's columns and rows, and the address of the colour stage.
    """
    geometry, color, texels, extents, cells_per_px = content
    counts = 0, 0
    if gradient:
        counts = ramp_count, gradient
    elif texels is not None:
        counts = texels.shape[1], texels.shape[0]
    return _CONTENT(*color, *geometry, cells_per_px, *counts, _address(texels), *pointers, *extents)


def placed_op(
    variant: Variant, region: Region, packed: bytes, kept: object, to_unit: tuple[float, ...], opacity: float
) -> DrawOp:
    """Return the operation of packed content on a quad. `kept`: the arrays that it points to. `to_unit`: see `draw_op`."""
    x, y, width, height = region
    place = _PLACE(*variant[:6], x, y, x + width, y + height, *to_unit, opacity)
    return DrawOp(region, variant, place + packed, kept)


def table_pairs(table: bytes) -> npt.NDArray[np.uint32]:
    """Return a colour table in the kernels' format, shape (3, 257).

    `table`: RGB8, 256 entries. A number contains a level in its lower half and the next level in its upper half. The first
    number comes before the first level and repeats it.
    """
    levels = np.frombuffer(table, np.uint8).reshape(256, 3).T.astype(np.uint32)
    repeated = np.pad(levels, ((0, 0), (1, 1)), "edge")
    return np.ascontiguousarray(repeated[:, :-1] | repeated[:, 1:] << 16)


def _packed_grade(grade: Grade) -> npt.NDArray[np.uint8]:
    matrix = (0.0,) * 12 if grade.matrix is None else grade.matrix
    packed = _GRADE(*grade.gain, grade.is_aces, grade.matrix is not None, *matrix, _address(grade.table))
    return np.frombuffer(packed, np.uint8)


def _address(array: npt.NDArray[Any] | None) -> int:
    return 0 if array is None else array.ctypes.data


class DrawOps:
    """Draw operations from bottom to top, packed for the kernel."""

    def __init__(self, draw_ops: Sequence[DrawOp]) -> None:
        self.visible = tuple([op for op in draw_ops if not op.region.is_empty])
        self.packed = b"".join([op.packed for op in self.visible])
        self.count = len(self.packed) // _ROW.itemsize
