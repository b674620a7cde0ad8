"""Processor time of a Postgres server, and of child processes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import psutil


class PostgresTime:
    """Processor seconds of the processes of the server on a folder, as far as they live: keep connections open while measuring."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def seconds(self) -> float:
        """Seconds that the kernel counts for all processes but the first, which only starts the others."""
        first = int((self._folder / "postmaster.pid").read_text().split("\n", 1)[0])
        total = 0.0
        for process in psutil.Process(first).children():
            with contextlib.suppress(OSError):
                total += int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9
        return total


def children_seconds() -> float:
    """Return the processor seconds, so far, of all processes that this one started, and of theirs."""
    return seconds_of(psutil.Process().children(recursive=True))


def seconds_of(processes: Iterable[psutil.Process]) -> float:
    """Return the processor seconds, so far, of the processes that live."""
    spent = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            spent += times.user + times.system
    return spent
