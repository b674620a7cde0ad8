"""Open video files within limits and index them without decoding: times of frames, and entry points for decoding."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import av
from av.stream import Disposition

from gpu_renderer.errors import MediaUndecodable, is_of_machine

PIXELS_MAX: Final = 36_000_000
"""Largest picture: slightly more than 8192 x 4320."""
FRAMES_MAX = 2_000_000
"""Largest number of frames, more than any film has. Files with more are refused."""
_CONFINED: Final = {
    "format_whitelist": "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mp3,wav,gif",
    "protocol_whitelist": "file",
}
"""Options that stop libav from opening other files and addresses for a file that looks like a playlist or SDP."""


def opened(path: Path) -> av.container.InputContainer:
    """Open a file in one of the accepted formats. Its decoders refuse larger pictures than PIXELS_MAX.

    Raises MediaUndecodable for a stream that states a larger size.
    """
    options = {"max_pixels": str(PIXELS_MAX), **_CONFINED}
    container = av.open(str(path), options=options, metadata_errors="replace")  # tags can have any encoding
    for stream in container.streams.video:
        codec = stream.codec_context
        if codec is None:  # a format that the library does not support
            continue
        limit(codec)
        if codec.width * codec.height > PIXELS_MAX:
            container.close()
            raise MediaUndecodable(
                f"a video of {codec.width} x {codec.height} pixels",
                f"A video's pictures have {codec.width} x {codec.height} pixels; at most {PIXELS_MAX:,} can be drawn.",
            )
    return container


def limit(codec: av.VideoCodecContext) -> None:
    """Let an unopened decoder refuse too large pictures. A stream can change its size anywhere."""
    if not codec.is_open:
        codec.options = {**codec.options, "max_pixels": str(PIXELS_MAX)}


def shown_stream(container: av.container.InputContainer) -> av.VideoStream:
    """Return the first video stream, in MP4 the first that is enabled (ISO/IEC 14496-12, 8.3.1). The file must have one."""
    streams = container.streams.video
    if "mp4" not in container.format.name:
        return streams[0]
    return next((stream for stream in streams if stream.disposition & Disposition.default), streams[0])


def has_alpha(video_format: Any) -> bool:
    """Return True if a pixel format has alpha."""
    return video_format is not None and str(video_format.name).startswith(
        ("yuva", "rgba", "bgra", "argb", "abgr", "gbra", "ya")
    )


def alpha_library(stream: av.VideoStream) -> str | None:
    """Return the name of the decoder for the alpha of a VP8 or VP9 stream, or None if the stream has no alpha."""
    library = {"vp8": "libvpx", "vp9": "libvpx-vp9"}.get(stream.codec_context.name)
    tags = {name.lower(): value for name, value in stream.metadata.items()}
    return library if tags.get("alpha_mode") == "1" and library in av.codecs_available else None


class EntryPoint(NamedTuple):
    """A picture that can be decoded without others: its display time, and the timestamp to seek to.

    If an edit list hides the picture, `shown_at` belongs to the first visible frame after it. `decoded_at` still leads to it.
    """

    shown_at: int
    decoded_at: int


@dataclass(frozen=True, slots=True)
class VideoIndex:
    """Frames of a file in display order. Timestamps are in units of the container's time base."""

    shown_at: tuple[int, ...]
    """Timestamp of each frame, ascending."""
    seconds: tuple[float, ...]
    """Time of each frame relative to the first one, seconds."""
    entry_points: tuple[EntryPoint, ...]
    """Frames from which decoding can start, in display order."""
    frames_per_second: float | None
    is_opaque: bool = True

    def frame_at(self, seconds: float) -> int:
        """Return the index of the frame at a time, clamped to the ends, with 1 us of tolerance for rounding (animation.md 3.3)."""
        begun = (max(0.0, round(seconds * 1e6)) + 1.0) / 1e6
        return max(0, bisect_right(self.seconds, begun) - 1)

    def entry_number(self, frame_index: int) -> int:
        """Return the index of the entry point from which to decode the frame: the last one that is not shown later.

        Frames of an open GOP that are shown before its entry picture refer to the previous GOP, so they start there.
        """
        before = bisect_right(self.entry_points, self.shown_at[frame_index], key=lambda entry: entry.shown_at)
        return max(0, before - 1)


def read_index(path: Path) -> VideoIndex:
    """Return the index of the video stream that is shown. Raises MediaUndecodable."""
    try:
        with opened(path) as container:
            if not container.streams.video:
                raise MediaUndecodable(f"{path.name} holds no video", "A video holds no pictures.")
            stream = shown_stream(container)
            if stream.codec_context is None:
                raise MediaUndecodable(f"{path.name}: no decoder", "A video has a format that cannot be decoded.")
            return _indexed(container, stream)
    except (av.FFmpegError, OSError) as error:
        if is_of_machine(error):
            raise
        raise MediaUndecodable(f"{path.name}: {error}", "A video cannot be read.") from error


def _indexed(container: av.container.InputContainer, stream: av.VideoStream) -> VideoIndex:
    shown_at: list[int] = []
    entry_points: list[EntryPoint] = []
    has_hidden_key = is_hidden_group = False
    for packet in packets(container, stream):
        timestamp = packet.pts if packet.pts is not None else packet.dts
        if packet.size == 0 or timestamp is None:
            continue
        if packet.is_discard:  # the edit list starts later, but visible frames need this packet
            has_hidden_key = has_hidden_key or packet.is_keyframe
            continue
        shown_at.append(timestamp)
        if packet.is_keyframe or has_hidden_key:
            entry_points.append(EntryPoint(timestamp, packet.dts if packet.dts is not None else timestamp))
            is_hidden_group, has_hidden_key = not packet.is_keyframe, False
        elif is_hidden_group and timestamp < entry_points[-1].shown_at:
            entry_points[-1] = entry_points[-1]._replace(shown_at=timestamp)
        if len(shown_at) > FRAMES_MAX:
            raise MediaUndecodable("the video has too many frames", "A video has too many frames.")
    if not shown_at or not entry_points:
        raise MediaUndecodable("the video has no pictures with timestamps", "A video holds no pictures.")
    shown_at.sort()
    unit = float(stream.time_base)
    seconds = tuple((timestamp - shown_at[0]) * unit for timestamp in shown_at)
    rate = float(stream.average_rate) if stream.average_rate else None
    is_opaque = not has_alpha(stream.codec_context.format) and alpha_library(stream) is None
    return VideoIndex(tuple(shown_at), seconds, tuple(sorted(entry_points)), rate, is_opaque)


def packets(container: av.container.InputContainer, stream: av.VideoStream) -> Iterator[av.Packet]:
    """Yield the packets of a stream up to the first unreadable one, as players do with a truncated file."""
    is_any = False
    try:
        for packet in container.demux(stream):
            is_any = True
            yield packet
    except av.FFmpegError:
        if not is_any:
            raise
