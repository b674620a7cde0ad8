"""Reason why no worker starts, from the logs of the schedulers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

_EVENT: Final = "worker did not start"
"""Event that a scheduler logs (`cluster/ray_workers.py`)."""
_CANNOT_DRAW: Final = "GpuUnavailable: "
"""End of the name of the renderer's error for a machine that cannot draw. Another start does not help."""


class _Fault(NamedTuple):
    worker: str
    error: str


class WorkerFaults:
    """Errors of workers that did not start since this object was created."""

    def __init__(self, logs: Iterable[Path]) -> None:
        self._begins = {log: log.stat().st_size if log.exists() else 0 for log in logs}

    def newest(self) -> str:
        """Return the newest error, or an empty string."""
        return next((fault.error for fault in self._faults()), "")

    def cannot_draw(self) -> str:
        """Return the renderer's reason if this machine cannot draw, or an empty string.

        One worker must have failed twice: by then every other has been started too, and one with another GPU may be ready.
        """
        faults = [fault for fault in self._faults() if _CANNOT_DRAW in fault.error]
        times = Counter(fault.worker for fault in faults)
        return faults[0].error.partition(_CANNOT_DRAW)[2] if any(number > 1 for number in times.values()) else ""

    def _faults(self) -> list[_Fault]:
        """Return the errors, newest first in each log."""
        return [fault for log, begin in self._begins.items() for fault in _faults_in(log, begin)]


def _faults_in(log: Path, begin: int) -> list[_Fault]:
    """Return the errors in a part of a log, newest first."""
    if not log.exists():
        return []
    with log.open("rb") as file:
        file.seek(begin)
        lines = [line for line in file.read().decode(errors="replace").splitlines() if _EVENT in line]
    return [fault for line in reversed(lines) if (fault := _fault(line)) is not None]


def _fault(line: str) -> _Fault | None:
    try:
        fields = json.loads(line)
        return _Fault(str(fields["worker"]), str(fields["error"]))
    except (ValueError, KeyError):  # a line that is not the scheduler's own, or that is still being written
        return None
