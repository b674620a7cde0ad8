"""A decoded video frame as pixels: matrix and range by its tags (BT.709 where it has none), turned upright, premultiplied."""

from __future__ import annotations

from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

Pixels = npt.NDArray[np.uint8]

_MATRICES = {
    1: Colorspace.ITU709,
    5: Colorspace.ITU601,
    6: Colorspace.ITU601,
    7: Colorspace.SMPTE240M,
    9: Colorspace.BT2020,
    10: Colorspace.BT2020,
}
"""Matrix coefficients (ITU-T H.273 table 4) that say something; other codes are taken as unspecified."""
_FULL_RANGE = 2
UNTAGGED = Colorspace.ITU709
"""What the reference takes a video without tags for, of any size: measured on its frames."""
_FAST_FORMATS = ("yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuva420p")
"""Formats that the library's unscaled conversion rounds well; others need its full chroma path."""


class PixelConverter:
    """Converts the frames of one file. The library's scaler is kept: each new one would cost time and memory."""

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()

    def pixels(self, frame: av.VideoFrame) -> Pixels:
        """uint8 RGBA of shape (rows, columns, 4), encoded sRGB, premultiplied, upright."""
        rgba = self._rgba(frame)
        if has_alpha(frame.format):
            rgba = premultiplied(rgba)
        return upright(rgba, frame.rotation)

    def _rgba(self, frame: av.VideoFrame) -> Pixels:
        format_name = frame.format.name
        flags = Interpolation.BILINEAR
        if format_name not in _FAST_FORMATS:
            flags |= Interpolation.FULL_CHR_H_INT | Interpolation.ACCURATE_RND
        full_range = frame.color_range == _FULL_RANGE or format_name.startswith("yuvj")
        converted = self._reformatter.reformat(
            frame,
            format="rgba",
            src_colorspace=_matrix(frame),
            src_color_range=ColorRange.JPEG if full_range else ColorRange.MPEG,
            dst_color_range=ColorRange.JPEG,
            interpolation=flags,
            threads=1,
        )
        plane = converted.planes[0]
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(frame.height, plane.line_size)
        return rows[:, : frame.width * 4].reshape(frame.height, frame.width, 4)


def _matrix(frame: av.VideoFrame) -> Colorspace:
    return _MATRICES.get(frame.colorspace, UNTAGGED)


def has_alpha(video_format: Any) -> bool:
    """Whether a pixel format carries transparency."""
    return str(video_format.name).startswith(("yuva", "rgba", "bgra", "argb", "abgr", "gbra", "ya"))


def premultiplied(rgba: Pixels) -> Pixels:
    """Colours times alpha, rounded."""
    alpha = rgba[..., 3:].astype(np.uint16)
    rgb = (rgba[..., :3].astype(np.uint16) * alpha + 127) // 255
    return np.concatenate([rgb.astype(np.uint8), rgba[..., 3:]], axis=-1)


def upright(rgba: Pixels, rotation_degrees: int) -> Pixels:
    """Turned by the file's display matrix; degrees counter-clockwise, in quarters."""
    quarters = round(rotation_degrees / 90) % 4
    return rgba if quarters == 0 else np.ascontiguousarray(np.rot90(rgba, quarters))
