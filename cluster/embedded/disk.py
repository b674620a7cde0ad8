"""Free space on the data folder's disk: the minimum to start, and a log warning when it runs out."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Final

from farm_core.telemetry import logs
from farm_core.user_error import UserError

_log = logs.logger(__name__)

NEW_BYTES: Final = 100_000_000
"""Free space that a new data folder needs. A new Postgres cluster takes 50 MB."""
KEPT_BYTES: Final = 32_000_000
"""Free space to start on existing data. The limit is low because only a running farm removes expired files."""
LOW_BYTES: Final = 200_000_000
POLL_SECONDS: Final = 5.0


class DiskFull(UserError):
    """The disk has too little free space to start. The message says how much is needed."""


def check_free(folder: Path, needed_bytes: int) -> None:
    """Raise DiskFull if the folder's disk has less free space or is read-only. The folder may be missing."""
    total, free = _room(folder)
    if not total or not os.access(_nearest(folder), os.W_OK):  # /proc, or another user's checkout, for example
        raise DiskFull(f"{folder} cannot hold files. Name another folder with --data or DATA_FOLDER.")
    if free < needed_bytes:
        raise DiskFull(
            f"the disk of {folder} has {free / 1e6:.0f} MB free, and at least {needed_bytes / 1e6:.0f} MB are needed. "
            "Free some space, or name a folder on another disk with --data or DATA_FOLDER."
        )


def free_bytes(folder: Path) -> int:
    """Return the bytes that this user can still write to the folder's disk."""
    return _room(folder)[1]


def _room(folder: Path) -> tuple[int, int]:
    """Return the size and the free space of the folder's disk, in bytes."""
    usage = shutil.disk_usage(_nearest(folder))
    return usage.total, usage.free


def _nearest(folder: Path) -> Path:
    """Return the folder, or its nearest parent that exists."""
    return next(path for path in (folder, *folder.parents) if path.exists())


class DiskWatch:
    """Log a warning once when the disk is nearly full, and a message once when it has space again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._due = time.monotonic()
        self._is_low = False

    def poll(self) -> None:
        """Check the disk if the check is due."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + POLL_SECONDS
        try:
            free = free_bytes(self._folder)
        except OSError:
            return
        if not self._is_low and free < LOW_BYTES:
            self._is_low = True
            _log.warning(
                "the disk is nearly full: free some space; uploads are refused and jobs wait while it is full",
                folder=str(self._folder), free_mb=free // 1_000_000,
            )  # fmt: skip
        elif self._is_low and free > 2 * LOW_BYTES:
            self._is_low = False
            _log.info("the disk has space again", folder=str(self._folder), free_mb=free // 1_000_000)
