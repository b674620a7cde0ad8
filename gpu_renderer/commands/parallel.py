"""Segments of a local render on several processes, each with a session of its own."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gpu_renderer.commands.local_job import LocalJob, OpenedJob
from gpu_renderer.errors import RenderError
from gpu_renderer.session import RenderSession

POLL_SECONDS = 0.2
"""Interval of reading the progress."""


class Part(NamedTuple):
    """Frames [first, end), and the segment that they go to."""

    first: int
    end: int
    path: Path


class _Worker(NamedTuple):
    session: RenderSession
    opened: OpenedJob
    done: Any


_own: list[_Worker] = []
"""State of this worker process. Empty in the parent process."""


def parts_of(frames: range, fps: float, folder: Path, ending: str) -> list[Part]:
    """Return the frames in parts of about a second, on a grid that does not depend on the number of processes."""
    step = max(1, round(fps))
    starts = range(frames.start, frames.stop, step)
    return [
        Part(first, min(first + step, frames.stop), folder / f"{index:05d}{ending}")
        for index, first in enumerate(starts)
    ]


def render_parts(
    job: LocalJob, parts: Sequence[Part], workers: int, on_progress: Callable[[int], None]
) -> tuple[str, ...]:
    """Render every part; return the warnings, each once. Raises what a process raised."""
    context = multiprocessing.get_context("spawn")
    done = context.Value("q", 0)
    threads = max(0, (os.cpu_count() or 1) // workers - 1)
    machine = job.machine if job.machine.raster_threads is not None else replace(job.machine, raster_threads=threads)
    started = (replace(job, machine=machine), done)
    pool = ProcessPoolExecutor(min(workers, len(parts)), context, _start, started)
    try:
        open_parts: set[Future[tuple[str, ...]]] = {pool.submit(_render, part) for part in parts}
        warnings: dict[str, None] = {}
        while open_parts:
            ended, open_parts = wait(open_parts, POLL_SECONDS, FIRST_COMPLETED)
            warnings |= {line: None for future in ended for line in future.result()}
            on_progress(done.value)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    return tuple(warnings)


def _start(job: LocalJob, done: Any) -> None:
    session = RenderSession(job.session_options)
    _own.append(_Worker(session, job.open(session), done))


def _render(part: Part) -> tuple[str, ...]:
    worker, frames = _own[0], range(part.first, part.end)
    counted = 0

    def count(done: int) -> None:
        nonlocal counted
        with worker.done.get_lock():
            worker.done.value += done - counted
        counted = done

    try:
        report = worker.opened.job.render(worker.session, worker.opened.opened, frames, part.path, count)
    except RenderError as error:
        raise RenderError(str(error)) from None  # its own class may not survive the way between processes
    return report.warnings
