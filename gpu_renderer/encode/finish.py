"""Convert segments of any format to the finished, checked file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gpu_renderer.encode import sound_track
from gpu_renderer.encode.animations import Step, write_gif, write_webp
from gpu_renderer.encode.assemble import assemble
from gpu_renderer.encode.check import Plan, VideoNotAsPlanned, check
from gpu_renderer.encode.sound_track import Samples, SoundTrack

SOUND_NAME = "audio.wav"


def finish(
    segments: Sequence[Path],
    output: Path,
    plan: Plan,
    sound: Iterable[Samples] | None = None,
    on_progress: Step | None = None,
) -> int:
    """Write the file and check it; return its size in bytes.

    Formats without sound ignore `sound`. Raises SegmentUnusable and VideoNotAsPlanned.
    """
    match plan.format.joining:
        case "copy":
            _join(segments, output, plan, sound)
        case "gif":
            write_gif(segments, output, plan.fps, on_progress)
        case "webp":
            write_webp(segments, output, plan.fps, plan.quality, on_progress)
        case "pictures":
            _archive(segments, output, plan, sound)
    return output.stat().st_size


def pictures_of(segments: Sequence[Path]) -> Iterator[bytes]:
    """Yield the picture files of sequence segments in order."""
    for path in segments:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield archive.read(name)


def _join(segments: Sequence[Path], output: Path, plan: Plan, sound: Iterable[Samples] | None) -> None:
    held = plan.format
    track = None if sound is None or held.sound is None else SoundTrack(held.sound, sound)
    container = held.ending.removeprefix(".")
    keeps_alpha = plan.keeps_alpha and container == "webm"
    assemble(segments, output, plan.fps, container=container, keeps_alpha=keeps_alpha, sound=track)
    check(output, plan, has_sound=track is not None)


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
            sound_track.write_wav(beside, sound)
            with beside.open("rb") as read, archive.open(zipfile.ZipInfo(SOUND_NAME), "w", force_zip64=True) as held:
                while block := read.read(1 << 20):
                    held.write(block)
            beside.unlink()
    if count != plan.frame_count:
        raise VideoNotAsPlanned([f"it holds {count} frames, not {plan.frame_count}"])
