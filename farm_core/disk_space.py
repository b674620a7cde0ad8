"""Full disks: errors that say so, and a check of a folder's disk."""

from __future__ import annotations

import errno
import shutil
import tempfile
from pathlib import Path
from typing import Final

from farm_core.storage.port import StorageUnavailable

ROOM_BYTES: Final = 32_000_000
"""A disk with less space is full: Postgres, which can share it, may not get its next log file of 16 MB."""


def says_full(error: BaseException) -> bool:
    """Return True if the error says that a disk is full. A full disk is no fault of the file, job or worker that met it."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def check_room(folder: Path) -> None:
    """Raise StorageUnavailable if the folder's disk is full, and OSError if the folder is away."""
    free = shutil.disk_usage(folder).free
    if free < ROOM_BYTES:
        raise StorageUnavailable(
            f"the disk of {folder} has {free / 1e6:.0f} MB free, of at least {ROOM_BYTES / 1e6:.0f} MB"
        )


def check_temporary_room() -> None:
    """Raise StorageUnavailable if the disk of temporary files (`TMPDIR`) is full: uploads and segments are written there first."""
    check_room(Path(tempfile.gettempdir()))
