"""Many workers on a machine with few cores: each gets the same small share of a core, held by a control group of the kernel.

16 and 64 workers of the real farm (API, scheduler, Ray actors, Postgres) run as they would on so many slow cores. A quarter of the
machine is left to the other processes. Needs Linux, root and the kernel's `cpu` controller.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

import psutil

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.scaling import scene
from benchmarks.service.cpu_groups import CpuGroups
from benchmarks.service.farm import Rendered, ServedFarm, served_farm
from benchmarks.service.processor_time import seconds_of
from cluster.local.machine import BASE_BYTES
from examples.documents import bundle
from farm_core.user_error import UserError

SEGMENTS: Final = {16: 8, 64: 4}
"""Numbers of workers, with the segments for each where all have work of their own. A segment is one second."""
WORKERS_PART: Final = 0.75
"""Part of the machine's processor time that all workers share; the rest of the farm has what is left."""
WANTED: Final = 0.9
SIZE: Final = (640, 360)
WORKER_BYTES: Final = 200_000_000
"""Memory of a worker that has drawn such frames, with its part of what workers share: 165 MB, and some to spare."""
STALL_SECONDS: Final = 180.0
"""Workers start a few at a time. After so long without a further one that is ready, something is wrong."""
ACTOR: Final = "RenderActor"
"""Part of the title that Ray gives to a worker's process. While a method runs, its name follows, and the worker's name precedes."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Jobs rendered together, and the workers' processor milliseconds for a frame, including what they do between frames."""

    rendered: Rendered
    frame_ms: float

    @property
    def fps(self) -> float:
        """Return the frames of all workers per second, from the first POST to the last end."""
        return self.rendered.frames / self.rendered.seconds


class TooManyWorkers(UserError):
    """The machine cannot run so many workers."""


def _rows(quick: bool) -> Iterator[Row]:
    """Two rows for each number of workers: all of them with jobs of their own, and with one job.

    Raises NoShares, TooManyWorkers.
    """
    numbers = list(SEGMENTS)[: 1 if quick else None]
    # Both are known at once, not after a farm has started.
    CpuGroups().close()
    check_memory(max(numbers), psutil.virtual_memory().available)
    for workers in numbers:
        cores = WORKERS_PART * len(os.sched_getaffinity(0)) / workers
        one, all_busy, one_job = _measured(workers, SEGMENTS[workers], cores)
        yield _row(f"{workers} jobs on {workers} workers", workers, cores, one, all_busy)
        yield _row(f"one job of {workers} segments on {workers} workers", workers, cores, one, one_job)


def check_memory(workers: int, available: int) -> None:
    """Raise TooManyWorkers if so many workers need more than the `available` bytes of memory."""
    needed = BASE_BYTES + workers * WORKER_BYTES
    if needed > available:
        raise TooManyWorkers(
            f"{workers} workers need {needed / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB are free. "
            f"`./farm bench shares --quick` measures {min(SEGMENTS)} alone."
        )


def _measured(workers: int, segments: int, cores: float) -> tuple[Measured, Measured, Measured]:
    """Return the cost of a job on one worker, of a job for each of all workers, and of one job on all workers."""
    with served_farm(1, 0) as farm, _warm_and_limited(farm, 1, cores) as actors:
        _told(f"one worker with {cores:.3f} of a core renders {segments} segments")
        one = _measure(farm, actors, segments, 1, 0)
    with served_farm(workers, 0) as farm, _warm_and_limited(farm, workers, cores) as actors:
        _told(f"{workers} workers with {cores:.3f} of a core each render {segments} segments each")
        all_busy = _measure(farm, actors, segments, workers, 100)
        _told(f"{workers} workers render one job of {workers} segments")
        return one, all_busy, _measure(farm, actors, workers, 1, 1000)


def _measure(farm: ServedFarm, actors: Sequence[psutil.Process], seconds: int, jobs: int, first_hue: int) -> Measured:
    before = seconds_of(actors)
    rendered = _render(farm, seconds, jobs, first_hue)
    return Measured(rendered, 1000 * (seconds_of(actors) - before) / rendered.frames)


def _render(farm: ServedFarm, seconds: int, jobs: int, first_hue: int) -> Rendered:
    """Render so many jobs at once, each of other colours: no segment is known already."""
    templates = [farm.imported(bundle(scene(seconds, first_hue + index))) for index in range(jobs)]
    return farm.render_each(templates, *SIZE)


@contextmanager
def _warm_and_limited(farm: ServedFarm, workers: int, cores: float) -> Iterator[Sequence[psutil.Process]]:
    """Let every worker of the farm draw something once all of them are ready, then hold them to a share each. Yield their processes."""
    _wait_for_workers(farm, workers)
    _render(farm, 2 * workers, 1, 10_000)
    groups = CpuGroups()
    try:
        actors = _actors(workers)
        for process in actors:
            groups.limit(process.pid, cores)
        yield actors
    finally:
        groups.close()


def _wait_for_workers(farm: ServedFarm, workers: int) -> None:
    """Wait until so many workers can be given work. Raises TooManyWorkers if no further one becomes ready."""
    began = changed = time.monotonic()
    ready = -1
    while ready < workers:
        farm.farm.poll()
        now, found = time.monotonic(), farm.workers_ready()
        if found != ready:
            ready, changed = found, now
            _told(f"{ready} of {workers} workers are ready after {now - began:.0f} s")
        elif now - changed > STALL_SECONDS:
            raise TooManyWorkers(
                f"only {ready} of {workers} workers are ready, and no further one for {STALL_SECONDS:.0f} s"
            )
        time.sleep(1.0)


def _actors(workers: int) -> list[psutil.Process]:
    """Return the processes of the render actors of the farm that this process started. Raises TooManyWorkers."""
    found = [process for process in psutil.Process().children(recursive=True) if _is_actor(process)]
    if len(found) != workers:
        raise TooManyWorkers(f"{len(found)} processes of workers live, not {workers}")
    return found


def _is_actor(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        title = " ".join(process.cmdline()[:1])
        return title.startswith("ray::") and ACTOR in title
    return False


def _told(what: str) -> None:
    print(f"shares: {what}", file=sys.stderr, flush=True)


def _row(what: str, workers: int, cores: float, one: Measured, many: Measured) -> Row:
    gain = many.fps / one.fps
    return {
        "what": what,
        "share of a core": round(cores, 3),
        "one worker fps": round(one.fps, 2),
        "fps": round(many.fps, 2),
        "times one": round(gain, 1),
        "efficiency": round(gain / workers, 3),
        "busy": round(many.rendered.busy, 3),
        "efficiency while busy": round(gain / workers * one.rendered.busy / many.rendered.busy, 3),
        "one worker ms a frame": round(one.frame_ms, 1),
        "ms a frame": round(many.frame_ms, 1),
        "workers used": many.rendered.workers,
    }


def _advice(rows: Sequence[Row]) -> str:
    short = [str(row["what"]) for row in rows[::2] if row["efficiency"] < WANTED]
    gains = ", ".join(f"{row['times one']} times as fast on {row['workers used']} workers" for row in rows[1::2])
    return (
        f"Below {WANTED} of one worker's speed for each worker: {'; '.join(short) or 'none'}. "
        f"One job alone, of a segment for each worker, is {gains}."
    )


BENCHMARK = Benchmark(
    "How fast are 16 and 64 workers, each with the same small share of a core, beside one with that share?",
    _rows,
    label="what",
    bar="efficiency",
    limit=WANTED,
    advice=_advice,
)
