"""A decoded video frame and its conversion to pixels: YUV 4:2:0 to RGB, turned upright, premultiplied.

Matrix and range come from the frame's tags. Untagged frames of any size are BT.709, as in the reference. Chroma is
interpolated bilinearly and sited at the centre of each block of pixels, as in the reference's textures. Libswscale converts
most frames. For the commonest kind (`suits_kernels`), the kernels give the same bytes in a tenth of the time.
"""

from __future__ import annotations

import struct
import threading
from fractions import Fraction
from typing import Final, NamedTuple

import av
import numpy as np
from av.sidedata.sidedata import SideDataContainer
from av.sidedata.sidedata import Type as SideDataType

from gpu_renderer.cache.lru import LruCache
from gpu_renderer.content.media.video_file import has_alpha
from gpu_renderer.content.vector.surface import Pixels, premultiplied
from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Samples, Weights, weights
from gpu_renderer.kernels.bindings import FilterTaps, Kernels

_MATRICES = {1: "bt709", 5: "bt601", 6: "bt601", 7: "smpte240m", 9: "bt2020", 10: "bt2020"}
"""Supported matrix coefficients (ITU-T H.273 table 4). Other codes count as unspecified."""
UNTAGGED_MATRIX = "bt709"
_FULL_RANGE = 2
UNSPECIFIED: Final = 2
"""Code of a colour tag that states nothing (ITU-T H.273)."""
GRAPHS_MAX = 4
_FLAGS = "bilinear+full_chroma_int+accurate_rnd"
CROP_GRID_PX = 32
"""Grid for parts of a frame, so that their scalers can be reused."""
CROP_MARGIN_PX = 8
"""Margin around a part. It exceeds that of chroma interpolation, so that a part has the same pixels as the whole."""
KERNEL_SIZE_MIN = 8
"""Minimum columns and rows for the kernels. Libswscale shortens its filters for smaller frames."""


class Orientation(NamedTuple):
    """How a file's display matrix turns its frames: transpose first, then mirror."""

    is_transposed: bool
    is_mirrored: bool
    """Columns from right to left."""
    is_flipped: bool
    """Rows from bottom to top."""

    def upright(self, pixels: Pixels) -> Pixels:
        """Return the decoded pixels as they are shown."""
        turned = pixels.swapaxes(0, 1) if self.is_transposed else pixels
        return turned[:: -1 if self.is_flipped else 1, :: -1 if self.is_mirrored else 1]


UPRIGHT: Final = Orientation(is_transposed=False, is_mirrored=False, is_flipped=False)


class DecodedFrame:
    """A decoded frame with its samples and pixels. Pixels are converted at first use, for the whole frame or a part."""

    def __init__(self, frame: av.VideoFrame, scalers: Scalers) -> None:
        self._frame, self._scalers = frame, scalers
        self._orientation = _orientation(frame)
        self._pixels: Pixels | None = None

    @property
    def was_converted(self) -> bool:
        """Return True if the whole frame was converted to pixels."""
        return self._pixels is not None

    @property
    def pixels(self) -> Pixels:
        """Return upright, premultiplied, encoded sRGB pixels: uint8 RGBA (rows, columns, 4), the same array at every call."""
        if self._pixels is None:
            self._pixels = self._converted()
        return self._pixels

    def pixels_of(self, part: Region) -> Pixels:
        """Return the pixels of a part without converting the rest. The frame must be opaque, upright and of even size."""
        if self._pixels is not None:
            return self._pixels[part.y : part.bottom, part.x : part.right]
        decoded = self._decoded(part)
        if decoded is not None:
            return decoded
        cut = _on_grid(part.grown(CROP_MARGIN_PX), Region(0, 0, *self.size))
        pixels = self._scalers.scaled(self._frame, cut)
        return pixels[part.y - cut.y : part.bottom - cut.y, part.x - cut.x : part.right - cut.x]

    def resample(self, columns: FilterTaps, rows: FilterTaps, picture: Pixels) -> None:
        """Resample the opaque, upright frame into a picture with filter taps. Requires native kernels."""
        native = self._scalers.native
        assert native is not None, "only the kernels resample"
        if self.has_plain_samples:
            native.resample(self.samples(), self.weights(), columns, rows, picture)
        else:
            native.resample(np.ascontiguousarray(self._converted()), None, columns, rows, picture)

    @property
    def is_opaque(self) -> bool:
        """Return True if no pixel can be transparent."""
        return not has_alpha(self._frame.format)

    @property
    def has_samples(self) -> bool:
        """Return True if an encoder frame of the same size can contain the decoded samples unchanged.

        Encoder frames are 8-bit 4:2:0, limited range, BT.709.
        """
        frame = self._frame
        is_fit = self._orientation == UPRIGHT and frame.width % 4 == 0 and frame.height % 2 == 0 and _is_top_down(frame)
        is_limited = frame.format.name == "yuv420p" and frame.color_range != _FULL_RANGE
        return is_fit and is_limited and _matrix(frame) == "bt709"

    @property
    def has_plain_samples(self) -> bool:
        """Return True if the frame is upright and the kernels can convert its `samples` with `weights`."""
        return self._orientation == UPRIGHT and suits_kernels(self._frame)

    @property
    def size(self) -> tuple[int, int]:
        """Return the decoded columns and rows."""
        return self._frame.width, self._frame.height

    @property
    def upright_size(self) -> tuple[int, int]:
        """Return the columns and rows of the upright pixels."""
        return self.size[::-1] if self._orientation.is_transposed else self.size

    def samples(self) -> Samples:
        """Return the planes of an 8-bit 4:2:0 frame of even size, in its own memory."""
        frame = self._frame
        luma, blue, red = (np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size) for plane in frame.planes)
        half = np.s_[: frame.height // 2, : frame.width // 2]
        return Samples(luma[: frame.height, : frame.width], blue[half], red[half])

    def weights(self) -> Weights:
        """Return the weights that convert the samples to colours."""
        return weights(_matrix(self._frame), full_range=_is_full_range(self._frame))

    def _converted(self) -> Pixels:
        rgba = self._decoded(Region(0, 0, *self.size))
        if rgba is None:
            rgba = self._scalers.scaled(self._frame, None)
        if not self.is_opaque:
            rgba = premultiplied(rgba)
        return rgba if self._orientation == UPRIGHT else np.ascontiguousarray(self._orientation.upright(rgba))

    def _decoded(self, part: Region) -> Pixels | None:
        """Convert with the kernels, or return None if they do not support the frame."""
        native = self._scalers.native
        if native is None or not suits_kernels(self._frame):
            return None
        return native.colour_decode(self.samples(), self.weights(), part)


class Scalers:
    """Converter of a file's frames, usable from any thread. It caches libswscale's contexts by kind of frame."""

    def __init__(self, native: Kernels | None) -> None:
        self.native = native
        self._graphs: LruCache[av.filter.Graph] = LruCache(GRAPHS_MAX, lambda _: 1)
        self._lock = threading.Lock()

    def scaled(self, frame: av.VideoFrame, part: Region | None) -> Pixels:
        """Convert with libswscale to straight uint8 (rows, columns, 4). A part has even edges; chroma outside it is not used."""
        key = (frame.width, frame.height, frame.format.name, _matrix(frame), _is_full_range(frame), part)
        # These tags do not affect the conversion, but libswscale refuses unknown codes.
        frame.color_primaries = frame.color_trc = UNSPECIFIED
        with self._lock:
            graph = self._graphs.get(key, lambda: _graph(frame, part))
            graph.vpush(frame)
            converted = graph.vpull()
        plane = converted.planes[0]
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(converted.height, plane.line_size)
        return rows[:, : converted.width * 4].reshape(converted.height, converted.width, 4)


def _orientation(frame: av.VideoFrame) -> Orientation:
    """Return the orientation of a frame. Its display matrix maps (x, y) to (a x + c y, b x + d y). Other angles snap to quarters."""
    # Not frame.side_data: that refers to the frame in a cycle, which keeps its samples in memory. The stub lacks the argument.
    stored = SideDataContainer(frame).get(SideDataType.DISPLAYMATRIX)  # type: ignore[call-arg]
    if stored is None:
        return UPRIGHT
    a, b, _, c, d = struct.unpack_from("=5i", bytes(stored))
    if abs(a) >= abs(b):
        return Orientation(is_transposed=False, is_mirrored=a < 0, is_flipped=d < 0)
    return Orientation(is_transposed=True, is_mirrored=c < 0, is_flipped=b < 0)


def suits_kernels(frame: av.VideoFrame) -> bool:
    """Return True if the kernels can convert a frame with the same result as libswscale."""
    is_fit = all(size % 2 == 0 and size >= KERNEL_SIZE_MIN for size in (frame.width, frame.height))
    return is_fit and frame.format.name in {"yuv420p", "yuvj420p"} and _is_top_down(frame)


def _is_top_down(frame: av.VideoFrame) -> bool:
    """Return True if the rows of all planes ascend in memory. Uncompressed video can begin with the bottom row.

    PyAV's buffer of such a plane begins at its last row in memory and ends beyond it.
    """
    return all(plane.line_size > 0 for plane in frame.planes)


def _matrix(frame: av.VideoFrame) -> str:
    return _MATRICES.get(frame.colorspace, UNTAGGED_MATRIX)


def _is_full_range(frame: av.VideoFrame) -> bool:
    return bool(frame.color_range == _FULL_RANGE) or frame.format.name.startswith("yuvj")


def _on_grid(part: Region, whole: Region) -> Region:
    left, top = part.x // CROP_GRID_PX * CROP_GRID_PX, part.y // CROP_GRID_PX * CROP_GRID_PX
    right, bottom = -(-part.right // CROP_GRID_PX) * CROP_GRID_PX, -(-part.bottom // CROP_GRID_PX) * CROP_GRID_PX
    return Region(left, top, right - left, bottom - top).intersection(whole)


def _graph(frame: av.VideoFrame, part: Region | None) -> av.filter.Graph:
    graph = av.filter.Graph()
    graph.threads = 1
    base = frame.time_base or Fraction(1, 1000)
    given = f"in_color_matrix={_matrix(frame)}:in_range={'pc' if _is_full_range(frame) else 'tv'}:out_range=pc"
    chain = [
        graph.add_buffer(width=frame.width, height=frame.height, format=frame.format, time_base=base),
        graph.add("scale", f"{given}:in_chroma_loc=center:flags={_FLAGS}"),
        graph.add("format", "pix_fmts=rgba"),
        graph.add("buffersink"),
    ]
    if part is not None:
        chain.insert(1, graph.add("crop", f"{part.width}:{part.height}:{part.x}:{part.y}"))
    graph.link_nodes(*chain).configure()
    return graph
