"""Segments joined into one MP4 by copying packets: nothing is decoded, and the bytes depend on the segments alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av

from gpu_renderer.encode.profile import rate
from gpu_renderer.encode.segment import CONTAINER_OPTIONS
from gpu_renderer.errors import RenderError

FAST_START = {**CONTAINER_OPTIONS, "movflags": "+faststart"}


class SegmentUnusable(RenderError):
    """A segment holds no video, or was encoded in another way than the first one."""


class _Timed(NamedTuple):
    packet: av.Packet
    shown: int
    """The frame number within the segment at which the picture is shown."""


def assemble(segments: Sequence[Path], output: Path, fps: float) -> int:
    """Writes the segments in order, with the index at the front, to a real file; returns its size in bytes.

    Timestamps are counted from frame numbers: shown at the frame's number, decoded at the packet's number less the
    encoder's reorder delay, all in frames. Raises SegmentUnusable.
    """
    if not segments:
        raise SegmentUnusable("there is no segment to assemble")
    frame_duration = 1 / rate(fps)
    with av.open(str(output), "w", format="mp4", options=FAST_START) as container:
        stream, delay, first_frame, extradata = None, 0, 0, None
        for path in segments:
            with av.open(str(path)) as segment:
                source = _video_stream(segment, path)
                if stream is None:
                    stream = container.add_stream_from_template(source)
                    stream.time_base = frame_duration
                    extradata, delay = source.codec_context.extradata, _reorder_delay(path)
                elif source.codec_context.extradata != extradata:
                    raise SegmentUnusable(f"{path.name} was encoded with other parameters than the first segment")
                count = 0
                for count, (packet, shown) in enumerate(_packets(segment, frame_duration), start=1):
                    packet.stream, packet.time_base = stream, frame_duration
                    packet.pts, packet.dts, packet.duration = first_frame + shown, first_frame + count - 1 - delay, 1
                    container.mux(packet)
                first_frame += count
    return output.stat().st_size


def _video_stream(container: av.container.InputContainer, path: Path) -> av.VideoStream:
    if not container.streams.video:
        raise SegmentUnusable(f"{path.name} holds no video")
    return container.streams.video[0]


def _reorder_delay(path: Path) -> int:
    """How many frames decoding runs ahead of showing: the same for every segment of a profile."""
    with av.open(str(path)) as segment:
        return int(segment.streams.video[0].codec_context.reorder_depth)


def _packets(segment: av.container.InputContainer, frame_duration: Fraction) -> Iterator[_Timed]:
    for packet in segment.demux(video=0):
        if packet.size:
            yield _Timed(packet, round(packet.pts * packet.time_base / frame_duration))
