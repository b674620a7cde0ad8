"""One decoded frame of a video: turned into pixels when they are asked for, wholly or in part, and its own samples."""

from __future__ import annotations

from typing import NamedTuple

import av
import numpy as np
import numpy.typing as npt

from gpu_renderer.media.video_pixels import PixelConverter, Pixels, is_encoder_colour
from gpu_renderer.region import Region

CROP_GRID_PX = 32
"""Parts are cut on this grid, so that their scalers can be used again."""
CROP_MARGIN_PX = 8
"""More than the reach of chroma interpolation: a part is the very pixels of the whole."""


class Samples(NamedTuple):
    """The planes of a frame as NV12, BT.709 of limited range: uint8, (rows, columns) and (rows / 2, columns)."""

    luma: npt.NDArray[np.uint8]
    chroma: npt.NDArray[np.uint8]


class DecodedFrame:
    """A frame as the decoder gave it. Conversions are made once; `was_converted` tells whether its pixels were wanted."""

    def __init__(self, frame: av.VideoFrame, converter: PixelConverter) -> None:
        self._frame, self._converter = frame, converter
        self._pixels: Pixels | None = None

    @property
    def was_converted(self) -> bool:
        """Whether the whole frame has been turned into pixels."""
        return self._pixels is not None

    @property
    def pixels(self) -> Pixels:
        """uint8 RGBA of shape (rows, columns, 4), encoded sRGB, premultiplied, upright; the same array at every call."""
        if self._pixels is None:
            self._pixels = self._converter.pixels(self._frame)
        return self._pixels

    def pixels_of(self, part: Region) -> Pixels:
        """The pixels of a part of a frame that has samples of its own: `pixels[rows, columns]`, without the rest."""
        if self._pixels is not None:
            return self._pixels[part.y : part.bottom, part.x : part.right]
        whole = Region(0, 0, self._frame.width, self._frame.height)
        cut = _on_grid(part.grown(CROP_MARGIN_PX), whole)
        pixels = self._converter.cropped(self._frame, cut)
        return pixels[part.y - cut.y : part.bottom - cut.y, part.x - cut.x : part.right - cut.x]

    @property
    def has_samples(self) -> bool:
        """Whether an encoder's frame of the same size could hold the decoded samples as they are."""
        frame = self._frame
        return is_encoder_colour(frame) and frame.rotation % 360 == 0 and frame.width % 4 == 0 and frame.height % 2 == 0

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows as decoded."""
        return self._frame.width, self._frame.height

    def samples(self) -> Samples:
        """The decoded samples, interleaved as encoders take them. To be asked for only where there are such."""
        luma, blue, red = map(_rows, self._frame.planes)
        rows, columns = self._frame.height, self._frame.width
        pairs = red[: rows // 2, : columns // 2].astype("<u2")
        pairs <<= 8
        pairs |= blue[: rows // 2, : columns // 2]
        return Samples(luma[:rows, :columns], pairs.view(np.uint8))


def _rows(plane: av.video.plane.VideoPlane) -> npt.NDArray[np.uint8]:
    return np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)


def _on_grid(part: Region, whole: Region) -> Region:
    left, top = part.x // CROP_GRID_PX * CROP_GRID_PX, part.y // CROP_GRID_PX * CROP_GRID_PX
    right, bottom = -(-part.right // CROP_GRID_PX) * CROP_GRID_PX, -(-part.bottom // CROP_GRID_PX) * CROP_GRID_PX
    return Region(left, top, right - left, bottom - top).intersection(whole)
