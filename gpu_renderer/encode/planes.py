"""A finished frame as the two planes of NV12: BT.709, limited range, chroma on the even columns (MPEG-2 siting).

One pass of a shader writes them into three ordinary 8-bit RGBA targets: even rows of Y, odd rows of Y, rows of CbCr. Their
rows are exactly the rows of an encoder's frame, so 12 bits a pixel are read back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import av
import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.geometry.samples import Rows, Samples
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

PIXEL_FORMAT = "nv12"
BT709 = 1
"""The code point of ITU-R BT.709 for matrix, primaries and transfer alike (ITU-T H.273, tables 2 to 4)."""
LIMITED_RANGE = 1


@dataclass(frozen=True, slots=True)
class PlaneLayout:
    """Where the samples of a `width` x `height` frame lie. Odd sizes grow by one: the last column or row is repeated once."""

    width: int
    height: int
    stride_bytes: int
    """Bytes from one row to the next, the same in both planes."""

    @property
    def coded_width(self) -> int:
        """Columns of the Y plane that are shown."""
        return self.width + self.width % 2

    @property
    def coded_height(self) -> int:
        """Rows of the Y plane."""
        return self.height + self.height % 2


def layout(width: int, height: int) -> PlaneLayout:
    """The layout of the frames that `encoder_frame` makes for a picture of this size."""
    probe = av.VideoFrame(width + width % 2, height + height % 2, PIXEL_FORMAT)
    luma, chroma = probe.planes
    assert luma.line_size == chroma.line_size, "both planes of NV12 have rows of the same length"
    return PlaneLayout(width, height, luma.line_size)


def encoder_frame(of: PlaneLayout) -> av.VideoFrame:
    """A frame of undefined content in the layout, tagged as what the shaders write."""
    return tagged(av.VideoFrame(of.coded_width, of.coded_height, PIXEL_FORMAT))


def tagged(frame: av.VideoFrame) -> av.VideoFrame:
    """The same frame, said to be what the shaders write."""
    frame.colorspace = frame.color_primaries = frame.color_trc = BT709
    frame.color_range = LIMITED_RANGE
    return frame


class VideoPassthrough(NamedTuple):
    """A video whose own samples are the frame's, except for those that pixels within `drawn` have a part in."""

    samples: Callable[[], Samples]
    drawn: Rects
    """They may overlap."""

    def copy_samples(self, into: av.VideoFrame, of: PlaneLayout) -> None:
        """Writes the video's samples into a frame of the layout."""
        for plane, samples in zip(into.planes, self.samples().interleaved(), strict=True):
            rows = np.frombuffer(plane, np.uint8).reshape(-1, of.stride_bytes)
            rows[: samples.shape[0], : samples.shape[1]] = samples


def rows_of(frame: av.VideoFrame, of: PlaneLayout) -> tuple[Rows, Rows, Rows]:
    """An encoder frame's own memory as `Planes` has it: even rows of Y, odd rows of Y, rows of CbCr."""
    luma, chroma = (np.frombuffer(plane, np.uint8).reshape(-1, of.stride_bytes) for plane in frame.planes)
    return luma[: of.coded_height : 2], luma[1 : of.coded_height : 2], chroma[: of.coded_height // 2]


class Planes:
    """The targets that hold one converted frame. Rows of texels are rows of samples, four bytes to a texel."""

    def __init__(self, painter: Painter, of: PlaneLayout) -> None:
        self._painter = painter
        region = Region(0, 0, of.stride_bytes // 4, of.coded_height // 2)
        self.region = region
        """Texels of each."""
        self._targets = tuple(painter.pool.take(region, "f1") for _ in range(3))
        self.framebuffer = painter.context.framebuffer([target.texture for target in self._targets])
        """Even rows of Y, odd rows of Y, rows of CbCr: one attachment each, of one size, so that one pass writes them."""

    @property
    def textures(self) -> tuple[moderngl.Texture, ...]:
        """What `framebuffer` draws into, in its order."""
        return tuple(target.texture for target in self._targets)

    def convert(self, frame: Target, rects: Rects) -> None:
        """Writes what shows the parts of a display-encoded, opaque 8-bit frame into the planes."""
        into = self._targets[0].through(self.framebuffer)
        texels = tuple(texels_of(part) for part in rects)
        self._painter.draw("convert/nv12.frag", into, textures={"u_source": frame}, scissor=texels)

    def release(self) -> None:
        """Gives the targets back to the pool."""
        self._painter.pool.bind_lasting()
        self.framebuffer.release()
        self._painter.pool.give_back(*self._targets)


def texels_of(part: Region) -> Region:
    """The texels of each target that depend on a part of the frame: four columns, two rows to one.

    Chroma, on the even columns, takes one pixel from the left of its own; an odd edge is repeated once.
    """
    left, top = max(0, part.x // 4), max(0, part.y // 2)
    right, bottom = -(-(part.right + 1) // 4), -(-part.bottom // 2)
    return Region(left, top, right - left, bottom - top)


def reference_planes(rgb: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The same conversion in numpy, for checks: Y of shape (rows, columns) and CbCr of (rows / 2, columns / 2, 2).

    `rgb`: uint8, (rows, columns, 3), display-encoded. Weights: as in shaders/include/bt709.glsl, for every implementation
    gives the same bytes; chroma 1 2 1 across, 1 1 down.
    """
    even = np.pad(rgb, ((0, rgb.shape[0] % 2), (0, rgb.shape[1] % 2), (0, 0)), mode="edge").astype(np.int64)
    luma = even @ np.array([5983, 20127, 2032]) + (33 << 14) >> 15
    rows = np.pad(even[0::2] + even[1::2], ((0, 0), (1, 1), (0, 0)), mode="edge")
    sums = rows[:, 0:-2:2] + 2 * rows[:, 1:-1:2] + rows[:, 2::2]
    chroma = sums @ np.array([[-824, 3598], [-2774, -3268], [3598, -330]]) + (257 << 15) >> 16
    return luma.astype(np.uint8), chroma.astype(np.uint8)
