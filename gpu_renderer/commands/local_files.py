"""Write the output of a local render: a video, an animation, a sequence as a folder or an archive, or one picture.

The file extension of the output selects the format. `--format` selects one if an extension has several.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from gpu_renderer.commands.interruption import stopped_by_signals
from gpu_renderer.commands.local_job import OpenedJob, parts_of, render_parts
from gpu_renderer.encode import formats
from gpu_renderer.encode.finish import SOUND_NAME, finish, pictures_of
from gpu_renderer.encode.formats import FilePlan
from gpu_renderer.encode.segments import picture_file
from gpu_renderer.encode.sound_track import Samples, write_wav
from gpu_renderer.errors import RenderError
from gpu_renderer.progress import Callbacks, OnProgress
from gpu_renderer.session import RenderSession
from gpu_renderer.sound import JobSound
from motion.notices import of_document

STILLS: Final[dict[str, Literal["png", "jpeg"]]] = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg"}
FOLDER_FORMAT: Final = "png-sequence"
SILENT_SECONDS: Final = 10.0
"""Longest silence while frames are drawn."""


def format_of(output: Path, wanted: str | None) -> str:
    """Return the name of the output's format. Raises FormatUnavailable, and RenderError for contradictory options."""
    ending = output.suffix.lower()
    if (kind := _still(output)) is not None or is_folder(output):
        chosen = formats.named(wanted or ("jpg-sequence" if kind == "jpeg" else FOLDER_FORMAT))
        if chosen.picture is None or kind not in (None, chosen.picture):
            raise RenderError(f"{output}: the format {chosen.name} cannot be written there")
        return chosen.name
    by_ending = formats.of_ending(ending)
    if by_ending is None:
        endings = sorted({file_format.ending for file_format in formats.FORMATS.values()} | {*STILLS})
        raise RenderError(f"{output}: {ending} is not a format of this command; use {', '.join(endings)}, or a folder")
    chosen = formats.named(wanted or by_ending.name)
    if chosen.ending != ending:
        raise RenderError(f"{output}: a file of the format {chosen.name} ends with {chosen.ending}")
    return chosen.name


def is_folder(output: Path) -> bool:
    """Return True if the output is a folder of pictures."""
    ending = output.suffix.lower()
    return ending == "" or (output.is_dir() and formats.of_ending(ending) is None and ending not in STILLS)


def _still(output: Path) -> Literal["png", "jpeg"] | None:
    """Return the format of a single picture, or None if the output is not a single picture."""
    return STILLS.get(output.suffix.lower())


def write(
    session: RenderSession,
    opened_job: OpenedJob,
    frames: range,
    output: Path,
    workers: int = 1,
    *,
    has_sound: bool = True,
    shows_progress: bool = True,
) -> tuple[int, tuple[str, ...]]:
    """Render the frames to the output, which appears only when it is complete. Return the frame count and the warnings.

    With `has_sound`, also render the document's sound if the format supports sound.
    """
    opened = opened_job.opened
    output.parent.mkdir(parents=True, exist_ok=True)
    if not is_folder(output) and output.is_dir():
        raise IsADirectoryError(f"{output} is a folder")
    if (kind := _still(output)) is not None:
        picture = session.still(opened, frames.start)
        output.write_bytes(picture_file(picture, kind, keeps_alpha=opened.output.is_transparent))
        return 1, opened.warnings
    with _folder_beside(output) as folder:
        progress = _progress("drawing", len(frames), is_shown=shows_progress)
        with progress as on_progress, stopped_by_signals() as should_stop:
            callbacks = Callbacks(on_progress, should_stop)
            segments, warnings = _segments(session, opened_job, frames, folder, workers, callbacks)
        sound = _sound(opened_job, frames, folder) if has_sound and opened_job.job.format.sound is not None else None
        blocks = sound.blocks() if sound is not None and sound.is_heard else None
        if is_folder(output):
            _unpack(segments, frames, output, opened_job.job.format.picture or "png", blocks)
        else:
            with _progress("writing", len(frames), is_shown=shows_progress) as on_progress:
                _finish(opened_job, segments, len(frames), output, blocks, on_progress)
        unheard = [notice.message for notice in of_document(opened_job.document)] if sound is None else sound.warnings
    return len(frames), tuple(dict.fromkeys((*warnings, *unheard)))


@contextmanager
def _folder_beside(output: Path) -> Iterator[Path]:
    """Yield a folder for the segments. Signals cannot cut its creation and its removal, which would leave it behind."""
    folder: Path | None = None
    try:
        with stopped_by_signals():
            folder = Path(tempfile.mkdtemp(prefix=".render-", dir=output.parent))
        yield folder
    finally:
        if folder is not None:
            with stopped_by_signals():
                shutil.rmtree(folder, ignore_errors=True)


def _segments(
    session: RenderSession, opened_job: OpenedJob, frames: range, folder: Path, workers: int, callbacks: Callbacks
) -> tuple[list[Path], tuple[str, ...]]:
    job, ending = opened_job.job, opened_job.job.format.segment_ending
    if workers > 1:
        parts = parts_of(frames, opened_job.opened.fps, folder, ending)
        return [part.path for part in parts], render_parts(job, parts, workers, callbacks)
    path = folder / f"segment{ending}"
    return [path], session.render_segment(opened_job.opened, frames.start, len(frames), path, callbacks).warnings


def _sound(opened_job: OpenedJob, frames: range, folder: Path) -> JobSound:
    opened = opened_job.opened
    return JobSound(opened_job.document, opened.composition, opened_job.media.resolve, folder, frames, opened.fps)


def _finish(
    opened_job: OpenedJob,
    segments: list[Path],
    count: int,
    output: Path,
    blocks: Iterable[Samples] | None,
    on_progress: OnProgress,
) -> None:
    job, opened = opened_job.job, opened_job.opened
    keeps_alpha = opened.output.is_transparent and job.format.has_alpha
    plan = FilePlan(job.format, opened.width, opened.height, opened.fps, count, keeps_alpha, job.preset.quality)
    finished = segments[0].with_name(f"finished{job.format.ending}")
    finish(segments, finished, plan, blocks, on_progress)
    finished.replace(output)


def _unpack(
    segments: list[Path], frames: range, folder: Path, kind: Literal["png", "jpeg"], sound: Iterable[Samples] | None
) -> None:
    """Extract the pictures into the folder, as `00012.png` for frame 12, and the sound beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    ending = "jpg" if kind == "jpeg" else "png"
    for index, data in zip(frames, pictures_of(segments), strict=True):
        (folder / f"{index:05d}.{ending}").write_bytes(data)
    if sound is not None:
        write_wav(folder / SOUND_NAME, sound)


@contextmanager
def _progress(name: str, frame_count: int, *, is_shown: bool) -> Iterator[OnProgress]:
    """Show a progress bar for a stage on standard error. Yield a function that takes the number of frames done."""
    console = Console(stderr=True)
    if not is_shown:
        yield lambda done: None
    elif not console.is_terminal:  # where a transient bar would leave empty lines
        with _lines(name, frame_count) as on_progress:
            yield on_progress
    else:
        columns = (
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(),
            TextColumn("{task.completed}/{task.total} frames"), _Speed(), TimeRemainingColumn(),
        )  # fmt: skip
        with Progress(*columns, console=console, transient=True) as shown:
            task = shown.add_task(name, total=frame_count)
            yield lambda done: shown.update(task, completed=done)


@contextmanager
def _lines(name: str, frame_count: int) -> Iterator[OnProgress]:
    """Print the number of frames done every SILENT_SECONDS, also while a frame takes longer. Yield a function that takes it."""
    began, done, ended = time.monotonic(), 0, threading.Event()

    def on_progress(count: int) -> None:
        nonlocal done
        done = count

    def report() -> None:
        while not ended.wait(SILENT_SECONDS):
            seconds = time.monotonic() - began
            print(f"{name}: {done}/{frame_count} frames after {seconds:.0f} s", file=sys.stderr, flush=True)

    thread = threading.Thread(target=report, name="report", daemon=True)
    thread.start()
    try:
        yield on_progress
    finally:
        ended.set()
        thread.join()


class _Speed(ProgressColumn):
    """Column with the frames per second so far."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f} fps" if task.speed else "", style="progress.data.speed")
