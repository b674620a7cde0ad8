"""Videos for tests: grey frames whose level is their number."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

LEVEL_STEP = 6
TICK = Fraction(1, 1000)


def level(number: int) -> int:
    """Return the grey level of a frame, 0..255. Frames 0..39 have different levels."""
    return 8 + LEVEL_STEP * number


def number(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> int:
    """Return the number of the frame in this picture."""
    return round((float(np.median(pixels[..., :3])) - level(0)) / LEVEL_STEP)


def make_video(
    path: Path,
    *,
    shown_at_ms: Sequence[int] = range(0, 40 * 40, 40),
    x264: str = "",
    gop_frames: int = 12,
    bframes: int = 3,
    size: tuple[int, int] = (64, 48),
    tags: tuple[int, int] = (0, 0),
) -> Path:
    """Write an H.264 file in MP4 with a frame at each of the times. `tags` are the codes of matrix and range."""
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=25, options={"x264-params": x264, "crf": "10"})
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = stream.time_base = TICK
        stream.codec_context.gop_size, stream.codec_context.max_b_frames = gop_frames, bframes
        stream.codec_context.colorspace, stream.codec_context.color_range = tags
        for index, at_ms in enumerate(shown_at_ms):
            grey = np.full((size[1], size[0], 3), level(index), np.uint8)
            frame = av.VideoFrame.from_ndarray(grey, format="rgb24").reformat(format="yuv420p")
            frame.pts, frame.time_base = at_ms, TICK
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def turn(path: Path, matrix: Sequence[int]) -> None:
    """Write a display matrix (nine numbers, 16.16 and 2.30 fixed) into a file's track header."""
    contents = bytearray(path.read_bytes())
    start = contents.index(b"tkhd") + 4 + 40
    contents[start : start + 36] = struct.pack(">9i", *matrix)
    path.write_bytes(contents)


QUARTER_CLOCKWISE = (0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30)


def make_noise_video(path: Path, size: tuple[int, int], frame_count: int, fps: int = 30) -> Path:
    """Write a video whose pixels take every value, with a different picture in each frame."""
    rng = np.random.default_rng(11)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps, options={"crf": "8"})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for _ in range(frame_count):
            noise = rng.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(noise, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def make_bottom_up_video(path: Path, size: tuple[int, int] = (64, 48)) -> Path:
    """Write one uncompressed 4:2:0 frame whose luma is the number of its row in the file. Players turn it upside down."""
    with av.open(str(path), "w", format="matroska", options={"allow_raw_vfw": "1"}) as container:
        stream = container.add_stream("rawvideo", rate=25)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.codec_tag = "I420"
        stream.codec_context.extradata = b"BottomUp\0" * 2  # the muxer removes one
        frame = av.VideoFrame(*size, "yuv420p")
        luma, *chroma = frame.planes
        luma.update(np.repeat(np.arange(size[1], dtype=np.uint8), luma.line_size).tobytes())
        for plane in chroma:
            plane.update(b"\x80" * plane.buffer_size)
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path
