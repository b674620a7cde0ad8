"""Log rotation, so that logs of a long-running farm do not fill the disk."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from farm_core.telemetry import logs

_log = logs.logger(__name__)

LOG_BYTES: Final = 50_000_000
POLL_SECONDS: Final = 60.0


class LogWatch:
    """Copy a log larger than LOG_BYTES to `NAME.1`, replacing the former copy, and truncate the log.

    The log cannot be renamed, because processes keep it open and append to it.
    """

    def __init__(self, folders: Iterable[Path], clock: Callable[[], float] = time.monotonic) -> None:
        self._folders = tuple(folders)
        self._clock = clock
        self._due = clock()

    def poll(self) -> None:
        """Check the logs if the check is due."""
        if self._clock() < self._due:
            return
        self._due = self._clock() + POLL_SECONDS
        for folder in self._folders:
            for path in folder.glob("*.log"):
                try:
                    _move_content(path)
                except OSError as error:
                    _log.warning("a large log stays as it is", file=str(path), error=error.strerror)


def _move_content(path: Path) -> None:
    if path.stat().st_size > LOG_BYTES:
        former = path.with_name(f"{path.name}.1")
        former.unlink(missing_ok=True)  # first, to free its space
        shutil.copy(path, former)
        with path.open("r+b") as file:
            file.truncate()
