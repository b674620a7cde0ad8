"""A decoded video frame as pixels: matrix and range by its tags (BT.709 where it has none, whatever its size, as the reference draws it), turned upright, premultiplied."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import av
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

_MATRICES = {1: "bt709", 5: "bt601", 6: "bt601", 7: "smpte240m", 9: "bt2020", 10: "bt2020"}
"""Matrix coefficients (ITU-T H.273 table 4) that say something; other codes are taken as unspecified."""
UNTAGGED_MATRIX = "bt709"
_FULL_RANGE = 2
_FLAGS = "bilinear+full_chroma_int+accurate_rnd"


class PixelConverter:
    """Converts the frames of one file. The scaler is kept while frames stay alike: each new one costs time and memory.

    Chroma is interpolated bilinearly about the centre of each block of pixels, as the reference's textures do.
    """

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._graph: av.filter.Graph | None = None

    def pixels(self, frame: av.VideoFrame) -> Pixels:
        """uint8 RGBA of shape (rows, columns, 4), encoded sRGB, premultiplied, upright."""
        rgba = self._rgba(frame)
        if has_alpha(frame.format):
            rgba = premultiplied(rgba)
        return upright(rgba, frame.rotation)

    def _rgba(self, frame: av.VideoFrame) -> Pixels:
        graph = self._graph_for(frame)
        graph.vpush(frame)
        converted = graph.vpull()
        plane = converted.planes[0]
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(frame.height, plane.line_size)
        return rows[:, : frame.width * 4].reshape(frame.height, frame.width, 4)

    def _graph_for(self, frame: av.VideoFrame) -> av.filter.Graph:
        full_range = frame.color_range == _FULL_RANGE or frame.format.name.startswith("yuvj")
        matrix = _MATRICES.get(frame.colorspace, UNTAGGED_MATRIX)
        key = (frame.width, frame.height, frame.format.name, matrix, full_range)
        if self._graph is None or key != self._key:
            self._key, self._graph = key, _graph(frame, matrix, full_range=full_range)
        return self._graph


def _graph(frame: av.VideoFrame, matrix: str, *, full_range: bool) -> av.filter.Graph:
    graph = av.filter.Graph()
    graph.threads = 1
    base = frame.time_base or Fraction(1, 1000)
    source = graph.add_buffer(width=frame.width, height=frame.height, format=frame.format, time_base=base)
    given = f"in_color_matrix={matrix}:in_range={'pc' if full_range else 'tv'}:out_range=pc"
    scale = graph.add("scale", f"{given}:in_chroma_loc=center:flags={_FLAGS}")
    rgba, sink = graph.add("format", "pix_fmts=rgba"), graph.add("buffersink")
    source.link_to(scale)
    scale.link_to(rgba)
    rgba.link_to(sink)
    graph.configure()
    return graph


def has_alpha(video_format: Any) -> bool:
    """Whether a pixel format carries transparency."""
    return video_format is not None and str(video_format.name).startswith(
        ("yuva", "rgba", "bgra", "argb", "abgr", "gbra", "ya")
    )


def alpha_library(stream: av.VideoStream) -> str | None:
    """The decoder that reads the transparency of a VP8 or VP9 stream; None where the stream has none."""
    library = {"vp8": "libvpx", "vp9": "libvpx-vp9"}.get(stream.codec_context.name)
    tags = {name.lower(): value for name, value in stream.metadata.items()}
    return library if tags.get("alpha_mode") == "1" and library in av.codecs_available else None


def premultiplied(rgba: Pixels) -> Pixels:
    """Colours times alpha, rounded."""
    alpha = rgba[..., 3:].astype(np.uint16)
    rgb = (rgba[..., :3].astype(np.uint16) * alpha + 127) // 255
    return np.concatenate([rgb.astype(np.uint8), rgba[..., 3:]], axis=-1)


def upright(rgba: Pixels, rotation_degrees: int) -> Pixels:
    """Turned by the file's display matrix; degrees counter-clockwise, in quarters."""
    quarters = round(rotation_degrees / 90) % 4
    return rgba if quarters == 0 else np.ascontiguousarray(np.rot90(rgba, quarters))
