"""Local render jobs as plain data, so that several processes can render parts of one, and named presets."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from gpu_renderer.commands.local import LocalMedia, read_local, with_inputs
from gpu_renderer.commands.options import Machine, default_session_options
from gpu_renderer.encode.formats import FORMATS, FileFormat, Quality
from gpu_renderer.errors import RenderError
from gpu_renderer.pipeline import RenderStopped
from gpu_renderer.progress import Callbacks
from gpu_renderer.session import OpenDocument, Output, RenderSession, SessionOptions
from motion.schema.compositions import chosen
from motion.stored import Document, record

DRAFT_BLUR_SAMPLES: Final = 4
POLL_SECONDS = 0.2
"""Interval of reading the progress of other processes."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Values of a preset. For None, the other options, the document or the file extension decide."""

    help: str = ""
    quality: Quality = "high"
    scale: float = 1.0
    fps_max: float | None = None
    format: str | None = None
    is_transparent: bool = False
    is_draft: bool = False


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "high": Preset("full size, the best quality (the default)"),
        "medium": Preset("full size, smaller files", quality="medium"),
        "draft": Preset("half size, fewer samples of motion blur, small files", "draft", 0.5, is_draft=True),
        "gif": Preset("a GIF of half size at 15 frames per second at most", scale=0.5, fps_max=15.0, format="gif"),
        "webm-alpha": Preset("WebM (VP9) without the background", format="webm", is_transparent=True),
        "prores-alpha": Preset("MOV (ProRes 4444) without the background", format="mov", is_transparent=True),
        "png-alpha": Preset("a sequence of PNGs without the background", format="png-sequence", is_transparent=True),
    }
)
"""Presets of the editor's render queue (audio.md 5), by name."""


@dataclass(frozen=True, slots=True)
class LocalJob:
    """A local render. The default width and height are the composition's, times the preset's scale."""

    file: Path
    format_name: str = "mp4"
    inputs: tuple[tuple[str, str], ...] = ()
    output: Output = field(default_factory=Output)
    media: Path | None = None
    fonts: str = "installed"
    preset: Preset = field(default_factory=Preset)
    machine: Machine = field(default_factory=Machine)

    @property
    def format(self) -> FileFormat:
        """Return the format of the finished file."""
        return FORMATS[self.format_name]

    @property
    def session_options(self) -> SessionOptions:
        """Return the options of the job's sessions."""
        return default_session_options(self.machine, self.fonts)

    def open(self, session: RenderSession) -> OpenedJob:
        """Read the file and open it in a session. Raises DocumentError."""
        document, media = read_local(self.file), LocalMedia(self.media)
        if self.inputs:
            document = with_inputs(document, dict(self.inputs), media, self.output.composition_id)
        if self.preset.is_draft:
            fewer = {"samples": DRAFT_BLUR_SAMPLES, "adaptiveSampleLimit": DRAFT_BLUR_SAMPLES}
            document = cast(Document, {**document, "motionBlur": {**record(document, "motionBlur"), **fewer}})
        return OpenedJob(self, document, media, session.open(document, self._sized(document), media.resolve))

    def _sized(self, document: Document) -> Output:
        settings, asked = chosen(document, self.output.composition_id), self.output
        limits = [rate for rate in (self.preset.fps_max, self.format.fps_max) if rate is not None]
        return replace(
            asked,
            width=asked.width or scaled(settings.width, self.preset.scale),
            height=asked.height or scaled(settings.height, self.preset.scale),
            fps=min([asked.fps or settings.fps, *limits]),
            format=self.format,
            quality=self.preset.quality,
        )


def scaled(side: float, scale: float) -> int:
    """Return a side of the output in pixels: even and at least 2, or the rounded original side at full scale."""
    return round(side) if scale == 1.0 else max(2, 2 * round(side * scale / 2))


@dataclass(frozen=True, slots=True)
class OpenedJob:
    """A job's document, opened in a session. Close `opened` when done."""

    job: LocalJob
    document: Document
    media: LocalMedia
    opened: OpenDocument


class Part(NamedTuple):
    """Frames and their segment file."""

    frames: range
    path: Path


class Shared(NamedTuple):
    """Values in memory that the parent process and its worker processes share."""

    done: Any
    """Frames done by all workers, with a lock."""
    stops: Any
    """True once the workers must stop."""


_shared: list[Shared] = []
"""The values, in a worker process. Empty in the parent process."""


def parts_of(frames: range, fps: float, folder: Path, ending: str) -> list[Part]:
    """Divide the frames into parts of about a second. The division does not depend on the number of processes."""
    step = max(1, round(fps))
    starts = range(0, len(frames), step)
    return [Part(frames[at : at + step], folder / f"{index:05d}{ending}") for index, at in enumerate(starts)]


def render_parts(job: LocalJob, parts: Sequence[Part], workers: int, callbacks: Callbacks) -> tuple[str, ...]:
    """Render the parts in several processes, each with its own session.

    Return the unique warnings. Raises the error of a process, and RenderStopped soon after `should_stop` returns True. No process
    is at work afterwards.
    """
    context = multiprocessing.get_context("spawn")
    shared = Shared(context.Value("q", 0), context.Value("b", False, lock=False))
    threads = max(0, (os.cpu_count() or 1) // workers - 1)
    machine = job.machine if job.machine.raster_threads is not None else replace(job.machine, raster_threads=threads)
    pool = ProcessPoolExecutor(min(workers, len(parts)), context, _start, (shared,))
    try:
        with _unseen_interrupts():
            open_parts = {pool.submit(_render, replace(job, machine=machine), part) for part in parts}
        warnings: dict[str, None] = {}
        while open_parts:
            ended, open_parts = wait(open_parts, POLL_SECONDS, FIRST_COMPLETED)
            warnings |= {line: None for future in ended for line in future.result()}
            callbacks.on_progress(shared.done.value)
            if callbacks.should_stop():
                raise RenderStopped("stopped on request", "The render was stopped.")
    except BaseException:
        shared.stops.value = True
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return tuple(warnings)


@contextmanager
def _unseen_interrupts() -> Iterator[None]:
    """Let processes that a block starts never see Ctrl-C of a terminal, which is for their parent: they inherit blocked signals."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(shared: Shared) -> None:
    _shared.append(shared)


@cache
def _opened(job: LocalJob) -> tuple[RenderSession, OpenDocument]:
    """Open the job in this worker process."""
    session = RenderSession(job.session_options)
    return session, job.open(session).opened


def _render(job: LocalJob, part: Part) -> tuple[str, ...]:
    counted, shared = 0, _shared[0]

    def count(done: int) -> None:
        nonlocal counted
        with shared.done.get_lock():
            shared.done.value += done - counted
        counted = done

    callbacks = Callbacks(count, lambda: bool(shared.stops.value))
    try:
        session, opened = _opened(job)
        return session.render_segment(opened, part.frames.start, len(part.frames), part.path, callbacks).warnings
    except RenderError as error:
        raise RenderError(str(error)) from None  # its own class may not be picklable
