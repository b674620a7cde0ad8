"""Encode animated GIF and WebP from lossless segments, with only a few frames in memory."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
import numpy.typing as npt
from PIL import Image

from gpu_renderer.encode.formats import FilePlan, Quality
from gpu_renderer.encode.profile import rate
from gpu_renderer.encode.segments import CONTAINER_OPTIONS
from gpu_renderer.progress import OnProgress

WEBP_QUALITY: Final[dict[Quality, int]] = {"high": 90, "medium": 75, "draft": 60}
"""Quality of libwebp, 0 to 100."""
WEBP_METHOD: Final = 4
"""Effort of libwebp, 0 to 6."""
ALPHA_THRESHOLD: Final = 128
_PALETTE: Final = "stats_mode=full:max_colors=256:reserve_transparent=1"
"""One palette for the whole clip.

The editor's palette counts only changing pixels, and it uses ordered dithering (audio.md 5), which makes flat areas
uneven.
"""
_DITHER: Final = f"dither=sierra2_4a:diff_mode=rectangle:alpha_threshold={ALPHA_THRESHOLD}"
_CENTISECOND: Final = Fraction(1, 100)
_HAS_ALPHA, _IS_ANIMATED, _OVERWRITE = 0x10, 0x02, 0x02
"""Flags of an animated WebP, and flag of a frame that replaces the pixels below it, including alpha."""
_PICTURE_CHUNKS: Final = (b"ALPH", b"VP8 ", b"VP8L")

Pixels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]
"""Left, top, right and bottom in px."""


def write_gif(segments: Sequence[Path], output: Path, plan: FilePlan, on_progress: OnProgress) -> None:
    """Write a GIF that loops forever, with one palette of 255 colours and 1-bit transparency."""
    palette = next(_filtered(segments, plan.fps, "palettegen", _PALETTE, on_frame=lambda: on_progress(0)))
    with av.open(str(output), "w", format="gif", options={**CONTAINER_OPTIONS, "loop": "0"}) as file:
        stream: Any = file.add_stream("gif", rate=rate(plan.fps))
        context = stream.codec_context
        context.width, context.height, context.pix_fmt = plan.width, plan.height, "pal8"
        context.time_base = _CENTISECOND
        for index, frame in enumerate(_filtered(segments, plan.fps, "paletteuse", _DITHER, palette)):
            frame.pts, frame.time_base = round(index * 100 / rate(plan.fps)), _CENTISECOND
            file.mux(stream.encode(frame))
            on_progress(index + 1)
        file.mux(stream.encode(None))


def write_webp(segments: Sequence[Path], output: Path, plan: FilePlan, on_progress: OnProgress) -> None:
    """Write an animated WebP that loops forever, with straight alpha if the plan keeps it.

    libwebp's animation encoder skips pixels that differ little from the previous frame, so slow fades stall. This function
    encodes every changed pixel from its source, so errors do not accumulate. Container: Google's "WebP Container
    Specification".
    """
    end = (_milliseconds(plan.frame_count, plan.fps), (0, 0, 0, 0), b"")
    with output.open("wb") as file:
        file.write(b"RIFF\0\0\0\0WEBP")
        flags = struct.pack("<I", _IS_ANIMATED | (_HAS_ALPHA if plan.keeps_alpha else 0))
        file.write(_chunk(b"VP8X", flags + _uint24(plan.width - 1) + _uint24(plan.height - 1)))
        file.write(_chunk(b"ANIM", struct.pack("<IH", 0, 0)))
        changes = chain(_changes(segments, plan, on_progress), (end,))
        for (start_ms, (left, top, right, bottom), picture), (end_ms, *_) in pairwise(changes):
            numbers = (left // 2, top // 2, right - left - 1, bottom - top - 1, end_ms - start_ms)
            file.write(_chunk(b"ANMF", b"".join(map(_uint24, numbers)) + bytes([_OVERWRITE]) + picture))
        size = file.tell()
        file.seek(4)
        file.write(struct.pack("<I", size - 8))


def _changes(segments: Sequence[Path], plan: FilePlan, on_progress: OnProgress) -> Iterator[tuple[int, Box, bytes]]:
    """Yield each change of the picture: time in ms, rectangle, and the WebP chunks of the rectangle's pixels."""
    last: Pixels | None = None
    for index, frame in enumerate(_frames(segments)):
        pixels = frame.to_ndarray(format="rgba")
        if (box := _changed(last, pixels)) is not None:
            left, top, right, bottom = box
            shown = Image.fromarray(pixels[top:bottom, left:right, : 4 if plan.keeps_alpha else 3])
            still = io.BytesIO()
            shown.save(still, "WEBP", quality=WEBP_QUALITY[plan.quality], method=WEBP_METHOD)
            yield _milliseconds(index, plan.fps), box, b"".join(_picture_chunks(still.getvalue()))
            last = pixels
        on_progress(index + 1)


def _changed(last: Pixels | None, pixels: Pixels) -> Box | None:
    """Return the smallest rectangle with even left and top that contains all differing pixels, or None if all are equal."""
    if last is None:
        return 0, 0, pixels.shape[1], pixels.shape[0]
    differs = (last != pixels).any(axis=2)
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not rows.size:
        return None
    return int(columns[0]) & ~1, int(rows[0]) & ~1, int(columns[-1]) + 1, int(rows[-1]) + 1


def _picture_chunks(file: bytes) -> Iterator[bytes]:
    """Yield the pixel chunks of a still WebP, including padding."""
    place = 12
    while place < len(file):
        name, size = struct.unpack_from("<4sI", file, place)
        end = place + 8 + size + size % 2
        if name in _PICTURE_CHUNKS:
            yield file[place:end]
        place = end


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def _uint24(value: int) -> bytes:
    return value.to_bytes(3, "little")


def _milliseconds(index: int, fps: float) -> int:
    return round(index * 1000 / rate(fps))


def _frames(segments: Sequence[Path]) -> Iterator[av.VideoFrame]:
    for path in segments:
        with av.open(str(path)) as segment:
            yield from segment.decode(video=0)


def _filtered(
    segments: Sequence[Path],
    fps: float,
    name: str,
    options: str,
    palette: av.VideoFrame | None = None,
    on_frame: Callable[[], None] = lambda: None,
) -> Iterator[av.VideoFrame]:
    """Yield the output frames of an FFmpeg filter. A palette is its second input. `on_frame` is called for each input frame."""
    frames, graph = _numbered(segments, fps), av.filter.Graph()
    first = next(frames)
    made, sink = graph.add(name, options), graph.add("buffersink")
    source = _linked(graph, made, 0, first)
    if palette is not None:
        palette.pts, palette.time_base = 0, 1 / rate(fps)
        colors = _linked(graph, made, 1, palette)
    graph.link_nodes(made, sink).configure()
    if palette is not None:
        colors.push(palette)
        colors.push(None)
    for frame in chain((first,), frames, (None,)):
        source.push(frame)
        on_frame()
        try:
            while True:
                yield sink.pull()
        except (av.BlockingIOError, av.EOFError):
            pass


def _numbered(segments: Sequence[Path], fps: float) -> Iterator[av.VideoFrame]:
    for index, frame in enumerate(_frames(segments)):
        shown = frame.reformat(format="bgra")
        shown.pts, shown.time_base = index, 1 / rate(fps)
        yield shown


def _linked(graph: Any, to: Any, place: int, like: av.VideoFrame) -> Any:
    """Return a buffer source for frames like this one, linked to an input of a filter."""
    source = graph.add_buffer(width=like.width, height=like.height, format=like.format.name, time_base=like.time_base)
    source.link_to(to, 0, place)
    return source
