"""Full disks and machines without resources: errors that say so, and checks of a folder's disk."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from farm_core.storage.port import StorageUnavailable

ROOM_BYTES: Final = 32_000_000
"""A disk with less space is full: Postgres, which can share it, may not get its next log file of 16 MB."""


_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})


def says_full(error: BaseException) -> bool:
    """Return True if the error says that a disk, or the quota of its user, is full. It is no fault of the file, job or worker that met it."""
    return isinstance(error, OSError) and error.errno in _FULL


def says_broken(error: BaseException) -> bool:
    """Return True if the error says that a disk is broken, or cannot be written to. libav says EIO of damaged files too, by classes of its own."""
    return isinstance(error, OSError) and (
        error.errno == errno.EROFS or (error.errno == errno.EIO and type(error) is OSError)
    )


def machine_fault(error: BaseException | None) -> OSError | None:
    """Return the error, or the one that caused it, that says that the machine lacks space, descriptors, memory or processes."""
    while error is not None:
        if isinstance(error, OSError) and (says_full(error) or says_broken(error) or error.errno in _EXHAUSTED):
            return error
        error = error.__cause__ or error.__context__
    return None


def free_bytes(folder: Path) -> int:
    """Return the free space of the folder's disk, or 0 if the folder is away."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


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


def has_temporary_room() -> bool:
    """Return True if a temporary file of ROOM_BYTES can be written. The free space of the disk does not show the quota of this process's user."""
    try:
        check_temporary_room()
        with tempfile.TemporaryFile() as file:
            os.posix_fallocate(file.fileno(), 0, max(1, ROOM_BYTES))
    except (StorageUnavailable, OSError):
        return False
    return True
