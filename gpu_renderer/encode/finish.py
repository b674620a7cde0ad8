"""Convert segments of any format to the finished, checked file."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import av

from gpu_renderer.encode.animations import Step, write_gif, write_webp
from gpu_renderer.encode.check import Plan, VideoNotAsPlanned, check
from gpu_renderer.encode.profile import rate
from gpu_renderer.encode.segments import CONTAINER_OPTIONS
from gpu_renderer.encode.sound_track import Samples, SoundTrack, write_wav
from gpu_renderer.errors import RenderError

SOUND_NAME = "audio.wav"
FAST_START = {**CONTAINER_OPTIONS, "movflags": "+faststart"}


class SegmentUnusable(RenderError):
    """A segment contains no video, or its encoder settings differ from the first one's."""


def finish(
    segments: Sequence[Path],
    output: Path,
    plan: Plan,
    sound: Iterable[Samples] | None = None,
    on_progress: Step = lambda _frames: None,
) -> None:
    """Write the file and check it.

    Formats without sound ignore `sound`. Raises SegmentUnusable and VideoNotAsPlanned.
    """
    match plan.format.joining:
        case "copy":
            _join(segments, output, plan, sound)
        case "gif":
            write_gif(segments, output, plan, on_progress)
        case "webp":
            write_webp(segments, output, plan, on_progress)
        case "pictures":
            _archive(segments, output, plan, sound)


def _join(segments: Sequence[Path], output: Path, plan: Plan, sound: Iterable[Samples] | None) -> None:
    held = plan.format
    track = None if sound is None or held.sound is None else SoundTrack(held.sound, sound)
    container = held.ending.removeprefix(".")
    keeps_alpha = plan.keeps_alpha and container == "webm"
    assemble(segments, output, plan.fps, container=container, keeps_alpha=keeps_alpha, sound=track)
    check(output, plan, has_sound=track is not None)


def assemble(
    segments: Sequence[Path],
    output: Path,
    fps: float,
    *,
    container: str = "mp4",
    keeps_alpha: bool = False,
    sound: SoundTrack | None = None,
) -> None:
    """Write the packets of the segments in order to a file with the index at the front. Nothing is decoded.

    The bytes depend on the segments and the sound only. `sound` is encoded beside the video, never far ahead. Raises
    SegmentUnusable.
    """
    if not segments:
        raise SegmentUnusable("there is no segment to assemble")
    frame_duration, stream = 1 / rate(fps), None
    options = CONTAINER_OPTIONS if container == "webm" else FAST_START
    with av.open(str(output), "w", format=container, options=options) as file:
        for count, (source, packet) in enumerate(_packets(segments, frame_duration), start=1):
            if stream is None:
                # dav1d only decodes, and the copy of its stream asks for an encoder.
                is_only_decoder = source.codec_context.name == "libdav1d"
                stream = file.add_stream_from_template(source, opaque=is_only_decoder)
                stream.time_base = frame_duration
                if keeps_alpha:
                    stream.metadata["alpha_mode"] = "1"
                if sound is not None:
                    sound.begin(file)
            packet.stream = stream
            if sound is not None:
                sound.write_until(file, count * frame_duration)
            file.mux(packet)
        if sound is not None:
            sound.finish(file)


def _packets(segments: Sequence[Path], frame_duration: Fraction) -> Iterator[tuple[av.VideoStream, av.Packet]]:
    """Yield the packets of all segments with their streams.

    Timestamps are computed from frame numbers: the presentation time is the frame's number, the decoding time the
    packet's number minus the encoder's reorder delay, which is the same for all segments of a profile.
    """
    first_frame, extradata, delay = 0, None, 0
    for path in segments:
        with av.open(str(path)) as segment:
            if not segment.streams.video:
                raise SegmentUnusable(f"{path.name} holds no video")
            source = segment.streams.video[0]
            context = source.codec_context
            if path == segments[0]:
                extradata, delay = context.extradata, context.reorder_depth
            elif context.extradata != extradata:
                raise SegmentUnusable(f"{path.name} was encoded with other parameters than the first segment")
            count = 0
            for count, packet in enumerate((packet for packet in segment.demux(source) if packet.size), start=1):
                shown = round(packet.pts * packet.time_base / frame_duration)
                packet.time_base, packet.duration = frame_duration, 1
                packet.pts, packet.dts = first_frame + shown, first_frame + count - 1 - delay
                yield source, packet
            first_frame += count


def pictures_of(segments: Sequence[Path]) -> Iterator[bytes]:
    """Yield the picture files of sequence segments in order."""
    for path in segments:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield archive.read(name)


def _archive(segments: Sequence[Path], output: Path, plan: Plan, sound: Iterable[Samples] | None) -> None:
    """Write `frame_0000.png` and so on, numbered from 0 with at least four digits.

    The archive has no compression and no times (format/audio.md 5).
    """
    ending = "jpg" if plan.format.picture == "jpeg" else "png"
    with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as archive:
        count = 0
        for count, data in enumerate(pictures_of(segments), start=1):
            archive.writestr(zipfile.ZipInfo(f"frame_{count - 1:04d}.{ending}"), data)
        if sound is not None:
            beside = output.with_name(f"{output.name}.{SOUND_NAME}")
            write_wav(beside, sound)
            with beside.open("rb") as read, archive.open(zipfile.ZipInfo(SOUND_NAME), "w", force_zip64=True) as held:
                shutil.copyfileobj(read, held, 1 << 20)
            beside.unlink()
    if count != plan.frame_count:
        raise VideoNotAsPlanned([f"it holds {count} frames, not {plan.frame_count}"])
