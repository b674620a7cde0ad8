"""Animated GIF and WebP, encoded from lossless segments. Memory holds a few frames, whatever the length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, Final

import av

from gpu_renderer.encode.animated_webp import AnimatedWebp
from gpu_renderer.encode.formats import Quality
from gpu_renderer.encode.profile import rate
from gpu_renderer.encode.segment import CONTAINER_OPTIONS

WEBP_QUALITY: Final[dict[Quality, int]] = {"high": 90, "medium": 75, "draft": 60}
ALPHA_THRESHOLD: Final = 128
_PALETTE: Final = "stats_mode=full:max_colors=256:reserve_transparent=1"
"""One palette for the whole clip.

The editor counts only pixels that change and dithers by a pattern (format/audio.md 5), which makes plain areas uneven.
"""
_DITHER: Final = f"dither=sierra2_4a:diff_mode=rectangle:alpha_threshold={ALPHA_THRESHOLD}"
_CENTISECOND: Final = Fraction(1, 100)

Step = Callable[[int], None]


def write_gif(segments: Sequence[Path], output: Path, fps: float, on_progress: Step | None = None) -> int:
    """Write a GIF that repeats forever; return its size in bytes.

    It has one palette of 255 colours and transparency of one bit.
    """
    palette = _palette(segments, fps)
    with av.open(str(output), "w", format="gif", options={**CONTAINER_OPTIONS, "loop": "0"}) as file:
        stream: Any = None
        for count, frame in enumerate(_mapped(segments, palette, fps), start=1):
            if stream is None:
                stream = file.add_stream("gif", rate=rate(fps))
                context = stream.codec_context
                context.width, context.height, context.pix_fmt = frame.width, frame.height, "pal8"
                context.time_base = _CENTISECOND
            frame.pts, frame.time_base = round((count - 1) * 100 / rate(fps)), _CENTISECOND
            file.mux(stream.encode(frame))
            (on_progress or _ignored)(count)
        file.mux(stream.encode(None))
    return output.stat().st_size


def write_webp(
    segments: Sequence[Path], output: Path, fps: float, quality: Quality, on_progress: Step | None = None
) -> int:
    """Write an animated WebP that repeats forever; return its size in bytes.

    It has straight alpha if the segments have it.
    """
    with output.open("wb") as file:
        animation: AnimatedWebp | None = None
        count = 0
        for count, frame in enumerate(_frames(segments), start=1):
            if animation is None:
                has_alpha = frame.format.name == "bgra"
                animation = AnimatedWebp(file, frame.width, frame.height, WEBP_QUALITY[quality], has_alpha=has_alpha)
            animation.add(frame.to_ndarray(format="rgba"), _milliseconds(count - 1, fps))
            (on_progress or _ignored)(count)
        assert animation is not None, "a segment has frames"
        animation.close(_milliseconds(count, fps))
    return output.stat().st_size


def _milliseconds(index: int, fps: float) -> int:
    return round(index * 1000 / rate(fps))


def _frames(segments: Sequence[Path]) -> Iterator[av.VideoFrame]:
    for path in segments:
        with av.open(str(path)) as segment:
            yield from segment.decode(video=0)


def _numbered(segments: Sequence[Path], fps: float) -> Iterator[av.VideoFrame]:
    for index, frame in enumerate(_frames(segments)):
        shown = frame.reformat(format="bgra")
        shown.pts, shown.time_base = index, 1 / rate(fps)
        yield shown


def _palette(segments: Sequence[Path], fps: float) -> av.VideoFrame:
    frames, graph = _numbered(segments, fps), av.filter.Graph()
    first = next(frames)
    source, sink = _source(graph, first, fps), graph.add("buffersink")
    graph.link_nodes(source, graph.add("palettegen", _PALETTE), sink).configure()
    for frame in chain((first,), frames):
        source.push(frame)
    source.push(None)
    return sink.pull()


def _mapped(segments: Sequence[Path], palette: av.VideoFrame, fps: float) -> Iterator[av.VideoFrame]:
    frames, graph = _numbered(segments, fps), av.filter.Graph()
    first = next(frames)
    source, colors, sink = _source(graph, first, fps), _source(graph, palette, fps), graph.add("buffersink")
    mapper = graph.add("paletteuse", _DITHER)
    source.link_to(mapper, 0, 0)
    colors.link_to(mapper, 0, 1)
    graph.link_nodes(mapper, sink).configure()
    palette.pts, palette.time_base = 0, 1 / rate(fps)
    colors.push(palette)
    colors.push(None)
    for frame in chain((first,), frames):
        source.push(frame)
        yield from _ready(sink)
    source.push(None)
    yield from _ready(sink)


def _source(graph: Any, frame: av.VideoFrame, fps: float) -> Any:
    return graph.add_buffer(width=frame.width, height=frame.height, format=frame.format.name, time_base=1 / rate(fps))


def _ready(sink: Any) -> Iterator[av.VideoFrame]:
    while True:
        try:
            yield sink.pull()
        except (av.BlockingIOError, av.EOFError):
            return


def _ignored(_count: int) -> None:
    """Ignore the progress."""
