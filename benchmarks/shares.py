"""Many workers on a machine with few cores: each gets the same small share of a core, held by a control group of the kernel.

16 and 64 workers of the real farm (API, scheduler, Ray actors, Postgres) run as they would on so many slow cores. A quarter of the
machine is left to the other processes. Needs Linux, root and the kernel's `cpu` controller.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil

from benchmarks.benchmark import Benchmark, Row
from benchmarks.scaling import scene
from benchmarks.served import Rendered, ServedFarm, served_farm
from examples.documents import bundle
from farm_core.failure import Failure

WORKERS: Final = (16, 64)
WORKERS_PART: Final = 0.75
"""Part of the machine's processor time that all workers share; the rest of the farm has what is left."""
WANTED: Final = 0.9
SEGMENTS_EACH: Final = 8
"""Segments for each worker, where all have work of their own. A segment is one second."""
PERIOD_US: Final = 250_000
"""The kernel stops a group that has used its share of such a period until the next one."""
SIZE: Final = (640, 360)
START_SECONDS: Final = 300.0
ACTOR: Final = "ray::RenderActor"
V1, V2 = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")


class NoShares(Failure):
    """The kernel does not let this process limit others."""


class CpuGroups:
    """Control groups below one of our own, each with a limit of processor time."""

    def __init__(self) -> None:
        """Create the outer group. Raises NoShares."""
        self._is_v2 = "cpu" in _words(V2 / "cgroup.controllers")
        self._folder = (V2 if self._is_v2 else V1) / f"farm-bench-{os.getpid()}"
        try:
            if self._is_v2:
                (V2 / "cgroup.subtree_control").write_text("+cpu")
            elif not (V1 / "cpu.cfs_quota_us").exists() and not (V1 / "cgroup.procs").exists():
                raise NoShares("the kernel's cpu controller is not mounted at /sys/fs/cgroup")
            self._folder.mkdir()
            if self._is_v2:
                (self._folder / "cgroup.subtree_control").write_text("+cpu")
        except OSError as error:
            raise NoShares(f"no control group can be made ({error}): run as root, outside a container") from error

    def limit(self, pid: int, cores: float) -> None:
        """Give a process, with all of its threads, so many cores: 0.1 is a tenth of one."""
        group = self._folder / str(pid)
        group.mkdir()
        quota = round(cores * PERIOD_US)
        if self._is_v2:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        (group / "cgroup.procs").write_text(str(pid))

    def close(self) -> None:
        """Move what still runs out of the groups, and remove them."""
        for group in [*self._folder.glob("*/"), self._folder]:
            for pid in _words(group / "cgroup.procs"):
                with suppress(OSError):
                    (self._folder.parent / "cgroup.procs").write_text(pid)
            group.rmdir()


def _rows(quick: bool) -> Iterator[Row]:
    """Two rows for each number of workers: all of them with jobs of their own, and with one job. Raises NoShares."""
    CpuGroups().close()  # says at once, not after a farm has started, that there can be none
    for workers in WORKERS[:1] if quick else WORKERS:
        cores = WORKERS_PART * len(os.sched_getaffinity(0)) / workers
        one, all_busy, one_job = _measured(workers, cores)
        yield _row(f"{workers} jobs on {workers} workers", workers, cores, one, all_busy)
        yield _row(f"one job of {workers} segments on {workers} workers", workers, cores, one, one_job)


def _measured(workers: int, cores: float) -> tuple[Rendered, Rendered, Rendered]:
    """Return what one worker does alone, what all do with a job each, and what all do for one job."""
    with served_farm(1, 0) as farm, _warm_and_limited(farm, 1, cores):
        one = _render(farm, SEGMENTS_EACH, 1, 0)
    with served_farm(workers, 0) as farm, _warm_and_limited(farm, workers, cores):
        return one, _render(farm, SEGMENTS_EACH, workers, 100), _render(farm, workers, 1, 1000)


def _render(farm: ServedFarm, seconds: int, jobs: int, first_hue: int) -> Rendered:
    """Render so many jobs at once, each of other colours: no segment is known already."""
    templates = [farm.imported(bundle(scene(seconds, first_hue + index))) for index in range(jobs)]
    return farm.render_each(templates, *SIZE)


@contextmanager
def _warm_and_limited(farm: ServedFarm, workers: int, cores: float) -> Iterator[None]:
    """Let every worker of the farm draw something once all of them live, then hold them to a share each."""
    groups = CpuGroups()
    try:
        actors = _actors(workers)
        _render(farm, 2 * workers, 1, 10_000)
        for pid in actors:
            groups.limit(pid, cores)
        yield
    finally:
        groups.close()


def _actors(workers: int) -> list[int]:
    """Wait for the processes of the render actors of the farm that this process started."""
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends:
        found = [process.pid for process in psutil.Process().children(recursive=True) if _is_actor(process)]
        if len(found) == workers:
            return found
        time.sleep(0.5)
    raise TimeoutError(f"{len(found)} of {workers} workers live after {START_SECONDS:.0f} s")


def _is_actor(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.cmdline()[:1] == [ACTOR] or process.name().startswith(ACTOR)
    return False


def _words(path: Path) -> list[str]:
    return path.read_text().split() if path.is_file() else []


def _row(what: str, workers: int, cores: float, one: Rendered, many: Rendered) -> Row:
    gain = (many.frames / many.seconds) / (one.frames / one.seconds)
    return {
        "what": what,
        "share of a core": round(cores, 3),
        "one worker fps": round(one.frames / one.seconds, 2),
        "fps": round(many.frames / many.seconds, 2),
        "times one": round(gain, 1),
        "efficiency": round(gain / workers, 3),
        "workers used": many.workers,
    }


def _advice(rows: Sequence[Row]) -> str:
    short = [str(row["what"]) for row in rows[::2] if row["efficiency"] < WANTED]
    return f"Below {WANTED} of one worker's speed for each worker: {'; '.join(short) or 'none'}."


BENCHMARK = Benchmark(
    "How fast are 16 and 64 workers, each with the same small share of a core, beside one with that share?",
    _rows,
    label="what",
    bar="efficiency",
    limit=WANTED,
    advice=_advice,
)
