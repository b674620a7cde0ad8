"""Reason why no worker starts, from the logs of the schedulers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_EVENT: Final = "worker did not start"
"""Event that a scheduler logs (`cluster/ray_workers.py`)."""
_CANNOT_DRAW: Final = "GpuUnavailable: "
"""End of the name of the renderer's error for a machine that cannot draw. Another start does not help."""


class WorkerFaults:
    """Errors of workers that did not start since this object was created."""

    def __init__(self, logs: Iterable[Path]) -> None:
        self._begins = {log: log.stat().st_size if log.exists() else 0 for log in logs}

    def newest(self) -> str:
        """Return the newest error, or an empty string."""
        return next((error for log, begin in self._begins.items() for error in _errors(log, begin)), "")

    def cannot_draw(self) -> str:
        """Return the renderer's reason if this machine cannot draw, or an empty string."""
        _, found, reason = self.newest().partition(_CANNOT_DRAW)
        return reason if found else ""


def _errors(log: Path, begin: int) -> list[str]:
    """Return the errors in a part of a log, newest first."""
    if not log.exists():
        return []
    with log.open("rb") as file:
        file.seek(begin)
        lines = [line for line in file.read().decode(errors="replace").splitlines() if _EVENT in line]
    return [error for line in reversed(lines) if (error := _error(line))]


def _error(line: str) -> str:
    try:
        return str(json.loads(line)["error"])
    except (ValueError, KeyError):  # a line that is not the scheduler's own, or that is still being written
        return ""
