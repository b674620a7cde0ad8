"""Cores, memory and threads of this machine within the limits of its control groups, and the number of workers that fit."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from farm_core.user_error import UserError

BASE_BYTES: Final = 800_000_000
"""Memory for everything except render workers. Stores, Ray, scheduler and API use 650 MB when idle."""
WORKER_BYTES: Final = 500_000_000
"""Memory of a render worker at 1080p; 150 MB when idle."""
BASE_THREADS: Final = 200
"""Threads for everything except render workers, 180 when idle. Processes count as threads."""
WORKER_THREADS: Final = 60
"""Threads of a render worker that draws and encodes; 44 when idle."""
SEGMENT_BYTES_LEAST: Final = 500_000_000
GROUPS: Final = Path("/sys/fs/cgroup")
PROCESS: Final = Path("/proc")


class TooLittleMemory(UserError):
    """The machine has too little memory. The message says how much the farm needs."""


class TooFewThreads(UserError):
    """The machine allows too few threads. The message says how many the farm needs and how to raise the limit."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Cores, bytes of memory and number of threads that this process and its children can use."""

    cores: int
    memory_bytes: int
    threads: int = sys.maxsize


def this_machine(groups: Path = GROUPS, process: Path = PROCESS) -> Machine:
    """Measure the machine: affinity mask, memory and the user's threads, limited by the control groups (version 1 or 2)."""
    cores = float(len(os.sched_getaffinity(0)))
    memory, threads = _total_memory(process), _threads_of_user()
    for folder in _folders(groups, process):
        cores = min([cores, *_quota(folder)])
        memory = min([memory, *_limit(folder, "memory.max", "memory.limit_in_bytes")])
        threads = min([threads, *_limit(folder, "pids.max")])
    return Machine(max(1, int(cores)), memory, threads)


def worker_count(machine: Machine, wanted: int | None = None) -> int:
    """Return the number of render workers: `wanted`, or one per core, limited by memory and threads.

    Raises TooLittleMemory, TooFewThreads.
    """
    least = BASE_BYTES + WORKER_BYTES
    if machine.memory_bytes < least:
        has, needs = machine.memory_bytes / 1e9, least / 1e9
        raise TooLittleMemory(
            f"{has:.1f} GB of memory is too little: the farm needs {needs:.1f} GB with one render worker, and "
            f"{WORKER_BYTES / 1e9:.1f} GB for each further one. Give the machine or the container more memory."
        )
    if machine.threads < BASE_THREADS + WORKER_THREADS:
        raise TooFewThreads(
            f"{machine.threads} processes and threads are too few: the farm needs {BASE_THREADS + WORKER_THREADS} with one "
            f"render worker, and {WORKER_THREADS} for each further one. Raise the limit: `ulimit -u` of the user, "
            "`--pids-limit` of the container, or `TasksMax` of the unit."
        )
    fitting = (machine.memory_bytes - BASE_BYTES) // WORKER_BYTES
    return wanted or min(machine.cores, fitting, (machine.threads - BASE_THREADS) // WORKER_THREADS)


def segment_bytes_max(machine: Machine, chosen: int) -> int:
    """Return the memory limit of one render: `chosen`, or less if the machine has less.

    A render above the limit fails. Without a limit the kernel could kill any process of the farm.
    """
    return max(SEGMENT_BYTES_LEAST, min(chosen, machine.memory_bytes - BASE_BYTES))


def _total_memory(process: Path) -> int:
    for line in (process / "meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "MemTotal":
            return int(value.split()[0]) * 1024
    raise ValueError("/proc/meminfo names no MemTotal")


def _folders(groups: Path, process: Path) -> Iterator[Path]:
    """Yield the folders of the control groups that limit this process, from its own group up to the root."""
    for line in _words(process / "self/cgroup", lines=True):
        _, names, path = line.split(":", 2)
        controllers = names.split(",")
        roots = [groups] if not names else [groups / name for name in (names, *controllers)]
        for root in roots:
            group = Path(path.lstrip("/"))
            for folder in (group, *group.parents):
                yield root / folder


def _quota(folder: Path) -> Iterator[float]:
    """Yield the cores of the group's CPU quota, if it has one."""
    words = _words(folder / "cpu.max") or [*_words(folder / "cpu.cfs_quota_us"), *_words(folder / "cpu.cfs_period_us")]
    if len(words) == 2 and words[0].isdigit() and int(words[1]) > 0:
        yield int(words[0]) / int(words[1])


def _threads_of_user() -> int:
    """Return the thread limit of this process's user. Root has no limit."""
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    return sys.maxsize if limit == resource.RLIM_INFINITY or os.geteuid() == 0 else limit


def _limit(folder: Path, *names: str) -> Iterator[int]:
    for name in names:
        yield from (int(word) for word in _words(folder / name) if word.isdigit())


def _words(file: Path, *, lines: bool = False) -> list[str]:
    """Return the file's words or lines. Return an empty list if it cannot be read."""
    try:
        text = file.read_text()
    except OSError:
        return []
    return text.splitlines() if lines else text.split()
