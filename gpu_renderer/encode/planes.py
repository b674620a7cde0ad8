"""Frames of an encoder: NV12 layout and tags, and the samples of a video that passes through.

BT.709, limited range, chroma on the even columns (MPEG-2 siting). `backends/gl/readback.py` and the kernels convert to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import av
import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.geometry.samples import Rows, Samples

PIXEL_FORMAT = "nv12"
BT709 = 1
"""Code point of ITU-R BT.709 for matrix, primaries and transfer (ITU-T H.273, tables 2 to 4)."""
LIMITED_RANGE = 1
Tagged = TypeVar("Tagged", av.VideoFrame, av.VideoCodecContext)


@dataclass(frozen=True, slots=True)
class PlaneLayout:
    """Layout of the samples of a `width` x `height` frame.

    Odd sizes grow by one: the last column or row is repeated.
    """

    width: int
    height: int
    stride_bytes: int
    """Distance between rows of both planes, bytes."""

    @property
    def coded_width(self) -> int:
        """Return the visible columns of the Y plane."""
        return self.width + self.width % 2

    @property
    def coded_height(self) -> int:
        """Return the rows of the Y plane."""
        return self.height + self.height % 2


def layout(width: int, height: int) -> PlaneLayout:
    """Return the layout of the encoder frames for a picture of this size."""
    probe = av.VideoFrame(width + width % 2, height + height % 2, PIXEL_FORMAT)
    luma, chroma = probe.planes
    assert luma.line_size == chroma.line_size, "both planes of NV12 have rows of the same length"
    return PlaneLayout(width, height, luma.line_size)


def encoder_frame(of: PlaneLayout) -> av.VideoFrame:
    """Return a frame of undefined content in the layout, tagged with the shaders' colour properties."""
    return tagged(av.VideoFrame(of.coded_width, of.coded_height, PIXEL_FORMAT))


def grey_frame(width: int, height: int) -> av.VideoFrame:
    """Return a grey encoder frame for a picture of this size."""
    frame = encoder_frame(layout(width, height))
    for plane in frame.planes:
        plane.update(b"\x80" * plane.buffer_size)
    return frame


def tagged(tags: Tagged) -> Tagged:
    """Set the colour properties of the shaders on a frame or codec context and return it."""
    tags.colorspace = tags.color_primaries = tags.color_trc = BT709
    tags.color_range = LIMITED_RANGE
    return tags


class VideoPassthrough(NamedTuple):
    """A video whose own samples are used for the frame, except samples that depend on pixels in `drawn`."""

    samples: Callable[[], Samples]
    drawn: Rects
    """Rectangles drawn over the video. They can overlap."""

    def copy_samples(self, into: av.VideoFrame, of: PlaneLayout) -> None:
        """Copy the video's samples into a frame of the layout."""
        for plane, samples in zip(into.planes, self.samples().interleaved(), strict=True):
            rows = np.frombuffer(plane, np.uint8).reshape(-1, of.stride_bytes)
            rows[: samples.shape[0], : samples.shape[1]] = samples


def rows_of(frame: av.VideoFrame, of: PlaneLayout) -> tuple[Rows, Rows, Rows]:
    """Return an encoder frame's memory in the order of `Nv12Targets`: even rows of Y, odd rows of Y, rows of CbCr."""
    luma, chroma = (np.frombuffer(plane, np.uint8).reshape(-1, of.stride_bytes) for plane in frame.planes)
    return luma[: of.coded_height : 2], luma[1 : of.coded_height : 2], chroma[: of.coded_height // 2]


def texels_of(part: Region) -> Region:
    """Return the texels of each target that depend on a part of the frame. A texel covers four columns and two rows.

    Chroma on an even column reads one pixel to its left. An odd edge is repeated once.
    """
    left, top = max(0, part.x // 4), max(0, part.y // 2)
    right, bottom = -(-(part.right + 1) // 4), -(-part.bottom // 2)
    return Region(left, top, right - left, bottom - top)


def reference_planes(rgb: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Convert a picture in numpy, for probes and tests: Y (rows, columns), CbCr (rows // 2, columns // 2, 2).

    `rgb`: uint8, (rows, columns, 3), display-encoded. Weights as in shaders/include/bt709.glsl, which give the same
    bytes in every implementation. Chroma: 1 2 1 horizontally, 1 1 vertically.
    """
    even = np.pad(rgb, ((0, rgb.shape[0] % 2), (0, rgb.shape[1] % 2), (0, 0)), mode="edge").astype(np.int64)
    luma = even @ np.array([5983, 20127, 2032]) + (33 << 14) >> 15
    rows = np.pad(even[0::2] + even[1::2], ((0, 0), (1, 1), (0, 0)), mode="edge")
    sums = rows[:, 0:-2:2] + 2 * rows[:, 1:-1:2] + rows[:, 2::2]
    chroma = sums @ np.array([[-824, 3598], [-2774, -3268], [3598, -330]]) + (257 << 15) >> 16
    return luma.astype(np.uint8), chroma.astype(np.uint8)
