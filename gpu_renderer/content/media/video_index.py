"""Index of a video file: the time of each frame, and its entry point for decoding. Built once, without decoding."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import av

from gpu_renderer.content.media.video_pixels import alpha_library, has_alpha
from gpu_renderer.content.media.video_size import opened
from gpu_renderer.errors import MediaUndecodable

FRAMES_MAX = 2_000_000
"""More packets than any film; beyond that the file is refused."""


class EntryPoint(NamedTuple):
    """A picture that needs no other: when it is shown, and the timestamp by which a container finds it."""

    shown_at: int
    decoded_at: int


@dataclass(frozen=True, slots=True)
class VideoIndex:
    """Frames of a file in the order shown. Timestamps are the container's, in units of its time base."""

    shown_at: tuple[int, ...]
    """Timestamp of each frame, ascending."""
    seconds: tuple[float, ...]
    """Time of each frame from the first one on, seconds."""
    entry_points: tuple[EntryPoint, ...]
    """Frames from which decoding can start, in the order shown."""
    frames_per_second: float | None
    is_opaque: bool = True

    def frame_at(self, seconds: float) -> int:
        """Return the last frame that has begun, a microsecond of grace for rounded times (animation.md 3.3); clamped to the ends."""
        begun = (max(0.0, round(seconds * 1e6)) + 1.0) / 1e6
        return max(0, bisect_right(self.seconds, begun) - 1)

    def entry_point(self, frame_index: int) -> EntryPoint:
        """Return the point from which decoding makes the frame complete: the last entry shown no later.

        Frames of an open group that are shown before its entry picture refer to the former group, and start there.
        """
        before = bisect_right(self.entry_points, self.shown_at[frame_index], key=lambda entry: entry.shown_at)
        return self.entry_points[max(0, before - 1)]


def read_index(path: Path) -> VideoIndex:
    """Return the index of a file's first video stream. Raises MediaUndecodable."""
    try:
        with opened(path) as container:
            if not container.streams.video:
                raise MediaUndecodable(f"{path.name} holds no video", "A video holds no pictures.")
            return _indexed(container, container.streams.video[0])
    except (av.FFmpegError, OSError) as error:
        raise MediaUndecodable(f"{path.name}: {error}", "A video cannot be read.") from error


def _indexed(container: av.container.InputContainer, stream: av.VideoStream) -> VideoIndex:
    shown_at: list[int] = []
    entry_points: list[EntryPoint] = []
    for packet in container.demux(stream):
        timestamp = packet.pts if packet.pts is not None else packet.dts
        if packet.size == 0 or packet.is_discard or timestamp is None:
            continue
        shown_at.append(timestamp)
        if packet.is_keyframe:
            entry_points.append(EntryPoint(timestamp, packet.dts if packet.dts is not None else timestamp))
        if len(shown_at) > FRAMES_MAX:
            raise MediaUndecodable("the video has too many frames", "A video has too many frames.")
    if not shown_at or not entry_points:
        raise MediaUndecodable("the video has no pictures with timestamps", "A video holds no pictures.")
    shown_at.sort()
    unit = float(stream.time_base)
    seconds = tuple((timestamp - shown_at[0]) * unit for timestamp in shown_at)
    rate = float(stream.average_rate) if stream.average_rate else None
    return VideoIndex(tuple(shown_at), seconds, tuple(sorted(entry_points)), rate, not _is_transparent(stream))


def _is_transparent(stream: av.VideoStream) -> bool:
    return has_alpha(stream.codec_context.format) or alpha_library(stream) is not None
