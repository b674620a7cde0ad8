"""Join segments into one file by copying packets.

Nothing is decoded; the bytes depend on the segments and the sound only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av

from gpu_renderer.encode.profile import rate
from gpu_renderer.encode.segment import CONTAINER_OPTIONS
from gpu_renderer.encode.sound_track import SoundTrack
from gpu_renderer.errors import RenderError

FAST_START = {**CONTAINER_OPTIONS, "movflags": "+faststart"}


class SegmentUnusable(RenderError):
    """A segment contains no video, or its encoder settings differ from the first one's."""


class _Timed(NamedTuple):
    packet: av.Packet
    shown: int
    """Frame number within the segment at which the picture is shown."""


def assemble(
    segments: Sequence[Path],
    output: Path,
    fps: float,
    *,
    container: str = "mp4",
    keeps_alpha: bool = False,
    sound: SoundTrack | None = None,
) -> int:
    """Write the segments in order to a file with the index at the front; return its size in bytes.

    Timestamps are computed from frame numbers: the presentation time is the frame's number, the decoding time the
    packet's number minus the encoder's reorder delay. `sound` is encoded beside the video, never far ahead. Raises
    SegmentUnusable.
    """
    if not segments:
        raise SegmentUnusable("there is no segment to assemble")
    options = CONTAINER_OPTIONS if container == "webm" else FAST_START
    with av.open(str(output), "w", format=container, options=options) as file:
        joined = _Joined(file, 1 / rate(fps), keeps_alpha, sound)
        for path in segments:
            joined.append(path)
        joined.finish()
    return output.stat().st_size


class _Joined:
    """File that segments are appended to."""

    def __init__(
        self, file: av.container.OutputContainer, frame_duration: Fraction, keeps_alpha: bool, sound: SoundTrack | None
    ) -> None:
        self._file, self._frame_duration, self._keeps_alpha = file, frame_duration, keeps_alpha
        self._sound = sound
        self._stream: av.VideoStream | None = None
        self._extradata: bytes | None = None
        self._delay = self._first_frame = 0

    def append(self, path: Path) -> None:
        """Copy the packets of a segment."""
        with av.open(str(path)) as segment:
            source = _video_stream(segment, path)
            if self._stream is None:
                self._begin(source, path)
            elif source.codec_context.extradata != self._extradata:
                raise SegmentUnusable(f"{path.name} was encoded with other parameters than the first segment")
            count = 0
            for count, (packet, shown) in enumerate(_packets(segment, self._frame_duration), start=1):
                packet.stream, packet.time_base = self._stream, self._frame_duration
                packet.pts, packet.duration = self._first_frame + shown, 1
                packet.dts = self._first_frame + count - 1 - self._delay
                if self._sound is not None:
                    self._sound.write_until(self._file, (self._first_frame + count) * self._frame_duration)
                self._file.mux(packet)
            self._first_frame += count

    def finish(self) -> None:
        """Write the rest of the sound."""
        if self._sound is not None:
            self._sound.finish(self._file)

    def _begin(self, source: av.VideoStream, path: Path) -> None:
        is_encoded_by_another = (
            source.codec_context.name == "libdav1d"
        )  # it only decodes, and the copy asks for an encoder
        self._stream = stream = self._file.add_stream_from_template(source, opaque=is_encoded_by_another)
        stream.time_base = self._frame_duration
        if self._keeps_alpha:
            stream.metadata["alpha_mode"] = "1"
        self._extradata, self._delay = source.codec_context.extradata, _reorder_delay(path)
        if self._sound is not None:
            self._sound.begin(self._file)


def _video_stream(container: av.container.InputContainer, path: Path) -> av.VideoStream:
    if not container.streams.video:
        raise SegmentUnusable(f"{path.name} holds no video")
    return container.streams.video[0]


def _reorder_delay(path: Path) -> int:
    """Return the number of frames by which decoding precedes display. It is the same for all segments of a profile."""
    with av.open(str(path)) as segment:
        return int(segment.streams.video[0].codec_context.reorder_depth)


def _packets(segment: av.container.InputContainer, frame_duration: Fraction) -> Iterator[_Timed]:
    for packet in segment.demux(video=0):
        if packet.size:
            yield _Timed(packet, round(packet.pts * packet.time_base / frame_duration))
