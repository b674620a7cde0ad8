"""Writes the files of a local render: a video, an animation, a sequence as a folder or an archive, or one picture.

The ending of the output says which; `--format` chooses where an ending has several.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from gpu_renderer.commands.local_job import OpenedJob
from gpu_renderer.commands.parallel import parts_of, render_parts
from gpu_renderer.commands.progress import RenderProgress
from gpu_renderer.encode import formats
from gpu_renderer.encode.check import Plan
from gpu_renderer.encode.finish import SOUND_NAME, finish, pictures_of
from gpu_renderer.encode.segments import picture_file
from gpu_renderer.encode.sound_track import Samples, write_wav
from gpu_renderer.errors import RenderError
from gpu_renderer.session import RenderSession
from gpu_renderer.sound import JobSound
from motion.notices import of_document

STILLS: Final[dict[str, Literal["png", "jpeg"]]] = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg"}
FOLDER_FORMAT: Final = "png-sequence"


@dataclass(frozen=True, slots=True)
class Written:
    """A written file."""

    width: int
    height: int
    frame_count: int
    warnings: tuple[str, ...]


def format_of(output: Path, wanted: str | None) -> str:
    """Return the name of the format that an output is written in. Raises FormatUnavailable, and RenderError for what contradicts."""
    ending = output.suffix.lower()
    if ending in STILLS or is_folder(output):
        return _of_pictures(output, wanted)
    by_ending = formats.of_ending(ending)
    if by_ending is None:
        endings = sorted({held.ending for held in formats.FORMATS.values()} | {*STILLS})
        raise RenderError(f"{output}: {ending} is not a format of this command; use {', '.join(endings)}, or a folder")
    held = formats.named(wanted or by_ending.name)
    if held.ending != ending:
        raise RenderError(f"{output}: a file of the format {held.name} ends with {held.ending}")
    return held.name


def is_folder(output: Path) -> bool:
    """Return True if the output is a folder of pictures."""
    return output.suffix == "" or (
        output.is_dir() and formats.of_ending(output.suffix) is None and output.suffix.lower() not in STILLS
    )


def write(
    session: RenderSession,
    held: OpenedJob,
    frames: range,
    output: Path,
    workers: int = 1,
    *,
    has_sound: bool = True,
    shows_progress: bool = True,
) -> Written:
    """Render the frames to the output, which is there only when it is whole.

    `has_sound`: the document's sound is rendered too, if it has any and the format can hold it.
    """
    opened = held.opened
    output.parent.mkdir(parents=True, exist_ok=True)
    if not is_folder(output) and output.is_dir():
        raise IsADirectoryError(f"{output} is a folder")
    if (kind := STILLS.get(output.suffix.lower())) is not None and not is_folder(output):
        _write_still(session, held, frames.start, output, kind)
        return Written(opened.width, opened.height, 1, opened.warnings)
    with tempfile.TemporaryDirectory(prefix=".render-", dir=output.parent) as name:
        folder, progress = Path(name), RenderProgress(is_shown=shows_progress)
        segments, warnings = _segments(session, held, frames, folder, workers, progress)
        sound = _sound(held, frames, folder) if has_sound else None
        blocks = sound.blocks() if sound is not None and sound.is_heard else None
        _finish(held, segments, frames, folder, output, blocks, progress)
        unheard = of_document(held.document) if sound is None else ()
        lines = (*warnings, *(sound.warnings if sound else ()), *(notice.message for notice in unheard))
    return Written(opened.width, opened.height, len(frames), tuple(dict.fromkeys(lines)))


def _sound(held: OpenedJob, frames: range, folder: Path) -> JobSound | None:
    """Return the document's sound; None for formats without sound."""
    if held.job.format.sound is None:
        return None
    opened = held.opened
    return JobSound(held.document, opened.composition, held.media.resolve, folder, frames, opened.fps)


def _finish(
    held: OpenedJob,
    segments: list[Path],
    frames: range,
    folder: Path,
    output: Path,
    blocks: Iterable[Samples] | None,
    progress: RenderProgress,
) -> None:
    job = held.job
    if is_folder(output):
        _unpack(segments, frames, output, job.format.picture or "png", blocks)
        return
    opened, keeps_alpha = held.opened, job.is_transparent and job.format.has_alpha
    plan = Plan(job.format, opened.width, opened.height, opened.fps, len(frames), keeps_alpha, job.quality)
    finished = folder / f"finished{job.format.ending}"
    with progress.stage("writing", len(frames)) as step:
        finish(segments, finished, plan, blocks, step)
    finished.replace(output)


def _of_pictures(output: Path, wanted: str | None) -> str:
    kind = None if is_folder(output) else STILLS[output.suffix.lower()]
    by_ending = "jpg-sequence" if kind == "jpeg" else FOLDER_FORMAT
    held = formats.named(wanted or by_ending)
    if held.picture is None or (kind is not None and held.picture != kind):
        raise RenderError(f"{output}: the format {held.name} cannot be written there")
    return held.name


def _segments(
    session: RenderSession,
    held: OpenedJob,
    frames: range,
    folder: Path,
    workers: int,
    progress: RenderProgress,
) -> tuple[list[Path], tuple[str, ...]]:
    job, ending = held.job, held.job.format.segment_ending
    with progress.stage("drawing", len(frames)) as step:
        if workers > 1:
            parts = parts_of(frames, held.opened.fps, folder, ending)
            warnings = render_parts(job, parts, workers, step)
            return [part.path for part in parts], warnings
        path = folder / f"segment{ending}"
        return [path], job.render(session, held.opened, frames, path, step).warnings


def _write_still(
    session: RenderSession, held: OpenedJob, index: int, output: Path, kind: Literal["png", "jpeg"]
) -> None:
    picture = session.still(held.opened, index)
    output.write_bytes(picture_file(picture, kind, keeps_alpha=held.job.is_transparent))


def _unpack(
    segments: list[Path], frames: range, folder: Path, kind: Literal["png", "jpeg"], sound: Iterable[Samples] | None
) -> None:
    """`00012.png` for frame 12, and the sound beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    ending = "jpg" if kind == "jpeg" else "png"
    for index, data in zip(frames, pictures_of(segments), strict=True):
        (folder / f"{index:05d}.{ending}").write_bytes(data)
    if sound is not None:
        write_wav(folder / SOUND_NAME, sound)
