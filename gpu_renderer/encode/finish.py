"""Join segments of any format into the finished file and check it."""

from __future__ import annotations

import shutil
import struct
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import av

from gpu_renderer.encode.animations import write_gif, write_webp
from gpu_renderer.encode.formats import FilePlan
from gpu_renderer.encode.planes import BT709, LIMITED_RANGE
from gpu_renderer.encode.profile import rate
from gpu_renderer.encode.segments import CONTAINER_OPTIONS
from gpu_renderer.encode.sound_track import Samples, SoundTrack, write_wav
from gpu_renderer.errors import RenderError
from gpu_renderer.progress import OnProgress

SOUND_NAME = "audio.wav"
_ROUNDING_SECONDS = Fraction(1, 1000)
"""Rounding of times in WebM, which are whole milliseconds."""
_UNDECODED: Final[dict[str, Any]] = {"options": {"probesize": "32"}, "stream_options": [{"skip_frame": "all"}]}
"""Options that open a file without decoding its first frames, which take nine tenths of the time. The packets are the same."""


class SegmentUnusable(RenderError):
    """A segment contains no video, or its encoder settings differ from the first one's."""


class VideoNotAsPlanned(RenderError):
    """The file differs from the plan. `faults` lists all differences."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("the video is not what was planned: " + "; ".join(faults))
        self.faults = faults


def finish(
    segments: Sequence[Path],
    output: Path,
    plan: FilePlan,
    sound: Iterable[Samples] | None = None,
    on_progress: OnProgress = lambda _frames: None,
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


def _join(segments: Sequence[Path], output: Path, plan: FilePlan, blocks: Iterable[Samples] | None) -> None:
    """Write the packets of the segments in order to a file with the index at the front. Nothing is decoded.

    The bytes depend only on the segments and the sound. The sound is encoded alongside the video, never far ahead.
    """
    if not segments:
        raise SegmentUnusable("there is no segment to assemble")
    frame_duration, stream, container = 1 / rate(plan.fps), None, plan.format.ending.removeprefix(".")
    sound = None if blocks is None or plan.format.sound is None else SoundTrack(plan.format.sound, blocks)
    options = CONTAINER_OPTIONS if container == "webm" else {**CONTAINER_OPTIONS, "movflags": "+faststart"}
    with av.open(str(output), "w", format=container, options=options) as file:
        for count, (source, packet) in enumerate(_packets(segments, frame_duration), start=1):
            if stream is None:
                # Copying a stream requires an encoder, which dav1d does not have.
                is_only_decoder = source.codec_context.name == "libdav1d"
                stream = file.add_stream_from_template(source, opaque=is_only_decoder)
                stream.time_base = frame_duration
                if plan.keeps_alpha and container == "webm":
                    stream.metadata["alpha_mode"] = "1"
                if sound is not None:
                    sound.begin(file)
            packet.stream = stream
            if sound is not None:
                sound.write_until(file, count * frame_duration)
            file.mux(packet)
        if sound is not None:
            sound.finish(file)
    check(output, plan, has_sound=sound is not None)


def _packets(segments: Sequence[Path], frame_duration: Fraction) -> Iterator[tuple[av.VideoStream, av.Packet]]:
    """Yield the packets of all segments with their streams.

    Timestamps are computed from frame numbers: the presentation time is the frame's number, the decoding time the
    packet's number minus the encoder's reorder delay, which is the same for all segments of a profile.
    """
    first_frame, extradata, delay = 0, None, 0
    for path in segments:
        with av.open(str(path), **({} if path == segments[0] else _UNDECODED)) as segment:
            if not segment.streams.video:
                raise SegmentUnusable(f"{path.name} holds no video")
            source = segment.streams.video[0]
            context = source.codec_context
            if path == segments[0]:
                extradata, delay = context.extradata, context.reorder_depth
            elif context.extradata != extradata:
                raise SegmentUnusable(f"{path.name} was encoded with other parameters than the first segment")
            # Integers, because fractions would take half of the joining time.
            ticks, frames = (source.time_base / frame_duration).as_integer_ratio()[::-1]
            count = 0
            for count, packet in enumerate((packet for packet in segment.demux(source) if packet.size), start=1):
                shown = (2 * packet.pts * frames + ticks) // (2 * ticks)
                packet.time_base, packet.duration = frame_duration, 1
                packet.pts, packet.dts = first_frame + shown, first_frame + count - 1 - delay
                yield source, packet
            first_frame += count


def pictures_of(segments: Sequence[Path]) -> Iterator[bytes]:
    """Yield the picture files of sequence segments, in order."""
    for path in segments:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield archive.read(name)


def _archive(segments: Sequence[Path], output: Path, plan: FilePlan, sound: Iterable[Samples] | None) -> None:
    """Write `frame_0000.png` and so on, numbered from 0 with at least four digits.

    The archive has no compression and no timestamps (audio.md 5).
    """
    ending = "jpg" if plan.format.picture == "jpeg" else "png"
    with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as archive:
        count = 0
        for count, data in enumerate(pictures_of(segments), start=1):
            archive.writestr(zipfile.ZipInfo(f"frame_{count - 1:04d}.{ending}"), data)
        if sound is not None:
            beside = output.with_name(f"{output.name}.{SOUND_NAME}")
            write_wav(beside, sound)
            with beside.open("rb") as read, archive.open(zipfile.ZipInfo(SOUND_NAME), "w", force_zip64=True) as entry:
                shutil.copyfileobj(read, entry, 1 << 20)
            beside.unlink()
    if count != plan.frame_count:
        raise VideoNotAsPlanned([f"it holds {count} frames, not {plan.frame_count}"])


def check(path: Path, plan: FilePlan, *, has_sound: bool = False) -> None:
    """Raise VideoNotAsPlanned unless the file matches the plan.

    The file must have the format's codec, frame count, picture size and rate, BT.709 limited tags, every frame at its
    number, the index before the media, and a sound track if and only if `has_sound` is True.
    """
    try:
        index = [] if plan.format.ending == ".webm" else _container_faults(path)
        faults = [*index, *_stream_faults(path, plan, has_sound)]
    except (av.FFmpegError, struct.error) as error:
        faults = [f"it cannot be read ({error})"]
    if faults:
        raise VideoNotAsPlanned(faults)


def boxes(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the top-level boxes of an MP4 file in order: kind and size in bytes (ISO/IEC 14496-12, 4.2)."""
    with path.open("rb") as file:
        while head := file.read(8):
            size, kind = struct.unpack(">I4s", head)
            if size == 1:
                size = struct.unpack(">Q", file.read(8))[0]
                file.seek(size - 16, 1)
            else:
                file.seek(max(size, 8) - 8, 1)
            yield kind.decode("latin-1"), size


def _container_faults(path: Path) -> Iterator[str]:
    order = [kind for kind, _ in boxes(path)]
    if "moov" not in order or "mdat" not in order or order.index("moov") > order.index("mdat"):
        yield f"the index is not in front ({', '.join(order)})"


def _stream_faults(path: Path, plan: FilePlan, has_sound: bool) -> Iterator[str]:
    is_webm = plan.format.ending == ".webm"
    with av.open(str(path)) as container:
        if not container.streams.video:
            yield "it holds no video"
            return
        stream = container.streams.video[0]
        context, tracks = stream.codec_context, len(container.streams.audio)
        codec = "libx264" if plan.format.codec is None else plan.format.codec.name
        size, color_range, average_rate = (context.width, context.height), context.color_range, stream.average_rate
        tags = (context.colorspace, context.color_primaries, context.color_trc)
        shown = sorted(packet.pts for packet in container.demux(stream) if packet.size)
        time_base = stream.time_base
    for what, found, planned in (
        ("codec", context.codec.canonical_name, av.Codec(codec, "w").canonical_name),
        ("size", size, plan.coded_size),
        ("matrix, primaries, transfer", tags, (BT709, BT709, BT709)),
        ("range", color_range, LIMITED_RANGE),
        ("rate", average_rate, average_rate if is_webm else rate(plan.fps)),
    ):
        if found != planned:
            yield f"{what} is {found}, not {planned}"
    if tracks != int(has_sound):
        yield f"it holds {tracks} sound tracks, not {int(has_sound)}"
    if len(shown) != plan.frame_count:
        yield f"it holds {len(shown)} frames, not {plan.frame_count}"
    if len(shown) == plan.frame_count and not _are_at_their_numbers(
        shown, time_base * rate(plan.fps), _ROUNDING_SECONDS * rate(plan.fps) if is_webm else Fraction(0)
    ):
        yield "frames are not shown at their numbers"


def _are_at_their_numbers(times: Sequence[int], frames_per_tick: Fraction, tolerance: Fraction) -> bool:
    """Return True if each time, in ticks, is within `tolerance` frames of its index. Integers are faster than fractions."""
    frames, ticks = frames_per_tick.as_integer_ratio()
    most = int(tolerance * ticks)
    return all(abs(time * frames - number * ticks) <= most for number, time in enumerate(times))
