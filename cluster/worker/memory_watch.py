"""Watch a worker's memory while it draws, and react if it exceeds the limit.

A resource limit (RLIMIT_AS, RLIMIT_DATA) would make allocations fail inside the driver or a library and end the process
without a reason to report. Control groups need privileges that a worker does not have.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psutil

EVERY_SECONDS: Final = 0.05
SLOWLY_SECONDS: Final = 1.0
"""Pause between two checks while the process is far below the limit: a check takes up to 0.2 ms of processor time."""
GROWTH_BYTES_PER_SECOND: Final = 10e9
"""Upper bound of a process's growth: the kernel allocates a few GB per second."""
_STATM: Final = Path("/proc/self/statm")


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return int(psutil.Process().memory_info().rss)


class MemoryWatch:
    """Call `exceeded` once, on a separate thread, when the process uses more than `bytes_max`.

    Check every `every_seconds`, or less often while the process is far below the limit.
    """

    def __init__(
        self,
        bytes_max: int,
        exceeded: Callable[[], None],
        *,
        measure: Callable[[], int] = resident_bytes,
        every_seconds: float = EVERY_SECONDS,
    ) -> None:
        self._bytes_max, self._exceeded, self._measure, self._every = bytes_max, exceeded, measure, every_seconds
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        pause = self._every
        while not self._closed.wait(pause):
            left = self._bytes_max - self._measure()
            if left < 0:
                self._exceeded()
                return
            pause = min(max(self._every, left / GROWTH_BYTES_PER_SECOND), max(self._every, SLOWLY_SECONDS))
