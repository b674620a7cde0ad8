"""Convert decoded video frames to pixels: YUV 4:2:0 to RGB, turned upright, premultiplied.

Matrix and range come from the frame's tags. Untagged frames of any size are BT.709, as in the reference.
"""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any

import av
import numpy as np

from gpu_renderer.cache.lru import LruCache
from gpu_renderer.content.vector.surface import Pixels, premultiplied
from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Samples, weights
from gpu_renderer.kernels.bindings import Kernels, Places

_MATRICES = {1: "bt709", 5: "bt601", 6: "bt601", 7: "smpte240m", 9: "bt2020", 10: "bt2020"}
"""Matrix coefficients (ITU-T H.273 table 4) that say something; other codes are taken as unspecified."""
UNTAGGED_MATRIX = "bt709"
_FULL_RANGE = 2
GRAPHS_MAX = 4
_FLAGS = "bilinear+full_chroma_int+accurate_rnd"
CROP_GRID_PX = 32
"""Parts are cut on this grid, so that their scalers can be used again."""
CROP_MARGIN_PX = 8
"""More than the margin of chroma interpolation, so that a part has the same pixels as the whole."""
LOOP_SIZE_MIN = 8
"""Columns and rows. Libswscale shortens its filters for frames that are smaller."""


class PixelConverter:
    """Converts the frames of one file, from any thread.

    Chroma is interpolated bilinearly about the centre of each block of pixels, as the reference's textures do. Libswscale
    does it; the kernels give the same bytes in a tenth of the time, for the commonest kind of frame (`suits_kernels`). Scalers
    are kept while frames stay alike: each new one costs time and memory.
    """

    def __init__(self, native: Kernels | None) -> None:
        self._native = native
        self._graphs: LruCache[av.filter.Graph] = LruCache(GRAPHS_MAX, lambda _: 1)
        self._lock = threading.Lock()

    def pixels(self, frame: av.VideoFrame) -> Pixels:
        """uint8 RGBA of shape (rows, columns, 4), encoded sRGB, premultiplied, upright."""
        rgba = self._looped(frame, _whole(frame)) if self._has_loop(frame) else self._scaled(frame, None)
        if has_alpha(frame.format):
            rgba = premultiplied(rgba)
        return upright(rgba, frame.rotation)

    def part(self, frame: av.VideoFrame, part: Region) -> Pixels:
        """`pixels[rows, columns]` of a part of an opaque frame of even size that is stored upright, without the rest."""
        if self._has_loop(frame):
            return self._looped(frame, part)
        cut = _on_grid(part.grown(CROP_MARGIN_PX), _whole(frame))
        pixels = self._scaled(frame, cut)
        return pixels[part.y - cut.y : part.bottom - cut.y, part.x - cut.x : part.right - cut.x]

    def resample(self, frame: av.VideoFrame, columns: Places, rows: Places, picture: Pixels) -> None:
        """Fill a picture with an opaque frame through filter taps. Needs native kernels."""
        assert self._native is not None, "only the kernels resample"
        if self._has_loop(frame) and round(frame.rotation / 90) % 4 == 0:
            by = weights(_matrix(frame), full_range=_is_full_range(frame))
            self._native.resampled(samples_of(frame), by, columns, rows, picture)
        else:
            self._native.resampled(np.ascontiguousarray(self.pixels(frame)), None, columns, rows, picture)

    def _has_loop(self, frame: av.VideoFrame) -> bool:
        return self._native is not None and suits_kernels(frame)

    def _looped(self, frame: av.VideoFrame, part: Region) -> Pixels:
        assert self._native is not None, "only the kernels decode"
        by = weights(_matrix(frame), full_range=_is_full_range(frame))
        return self._native.colour_decode(samples_of(frame), by, part)

    def _scaled(self, frame: av.VideoFrame, part: Region | None) -> Pixels:
        """Convert with libswscale. Chroma outside a part of even edges is unknown."""
        full_range = _is_full_range(frame)
        key = (frame.width, frame.height, frame.format.name, _matrix(frame), full_range, part)
        with self._lock:
            graph = self._graphs.get(key, lambda: _graph(frame, full_range=full_range, part=part))
            graph.vpush(frame)
            converted = graph.vpull()
        plane = converted.planes[0]
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(converted.height, plane.line_size)
        return rows[:, : converted.width * 4].reshape(converted.height, converted.width, 4)


def samples_of(frame: av.VideoFrame) -> Samples:
    """Return the planes of a frame of 4:2:0, 8 bits and even size, in its own memory."""
    luma, blue, red = (np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size) for plane in frame.planes)
    rows, columns = frame.height, frame.width
    half = np.s_[: rows // 2, : columns // 2]
    return Samples(luma[:rows, :columns], blue[half], red[half])


def suits_kernels(frame: av.VideoFrame) -> bool:
    """Return True if a frame is of the kind that the kernels convert as libswscale does."""
    is_fit = all(size % 2 == 0 and size >= LOOP_SIZE_MIN for size in (frame.width, frame.height))
    return is_fit and frame.format.name in {"yuv420p", "yuvj420p"}


def is_encoder_colour(frame: av.VideoFrame) -> bool:
    """Return True if a frame has our encoder's samples: 8-bit 4:2:0, limited range, BT.709 or untagged."""
    return frame.format.name == "yuv420p" and frame.color_range != _FULL_RANGE and _matrix(frame) == "bt709"


def _matrix(frame: av.VideoFrame) -> str:
    return _MATRICES.get(frame.colorspace, UNTAGGED_MATRIX)


def _is_full_range(frame: av.VideoFrame) -> bool:
    return bool(frame.color_range == _FULL_RANGE) or frame.format.name.startswith("yuvj")


def _whole(frame: av.VideoFrame) -> Region:
    return Region(0, 0, frame.width, frame.height)


def _on_grid(part: Region, whole: Region) -> Region:
    left, top = part.x // CROP_GRID_PX * CROP_GRID_PX, part.y // CROP_GRID_PX * CROP_GRID_PX
    right, bottom = -(-part.right // CROP_GRID_PX) * CROP_GRID_PX, -(-part.bottom // CROP_GRID_PX) * CROP_GRID_PX
    return Region(left, top, right - left, bottom - top).intersection(whole)


def _graph(frame: av.VideoFrame, *, full_range: bool, part: Region | None) -> av.filter.Graph:
    graph = av.filter.Graph()
    graph.threads = 1
    base = frame.time_base or Fraction(1, 1000)
    given = f"in_color_matrix={_matrix(frame)}:in_range={'pc' if full_range else 'tv'}:out_range=pc"
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


def has_alpha(video_format: Any) -> bool:
    """Return True if a pixel format carries transparency."""
    return video_format is not None and str(video_format.name).startswith(
        ("yuva", "rgba", "bgra", "argb", "abgr", "gbra", "ya")
    )


def alpha_library(stream: av.VideoStream) -> str | None:
    """Return the decoder that reads the transparency of a VP8 or VP9 stream; None where the stream has none."""
    library = {"vp8": "libvpx", "vp9": "libvpx-vp9"}.get(stream.codec_context.name)
    tags = {name.lower(): value for name, value in stream.metadata.items()}
    return library if tags.get("alpha_mode") == "1" and library in av.codecs_available else None


def upright(rgba: Pixels, rotation_degrees: int) -> Pixels:
    """Turned by the file's display matrix; degrees counter-clockwise, in quarters."""
    quarters = round(rotation_degrees / 90) % 4
    return rgba if quarters == 0 else np.ascontiguousarray(np.rot90(rgba, quarters))
