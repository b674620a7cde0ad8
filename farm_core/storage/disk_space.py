"""Detect full disks and machines that lack resources, from errors and from a folder's free space."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from farm_core.storage.port import StorageUnavailable

ROOM_BYTES: Final = 32_000_000
"""A disk with less free space counts as full: Postgres may share it, and needs 16 MB for its next log file."""

ROOM_FILES: Final = 100
"""A disk with room for fewer further files (inodes) counts as full. File systems that report no number of files have no such limit."""

RESERVE_BYTES: Final = 1_000_000_000
"""Free space of a disk that large uploads, large temporary files and the segments of one account leave, or a tenth of a small disk.
Others write there too: workers their segments, and Postgres may share it."""

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_THREAD: Final = "can't start new thread"
"""Message of the RuntimeError that Python raises if the machine or container has no more processes."""
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})


def is_disk_full(error: BaseException) -> bool:
    """Return True if the error means a full disk or disk quota. No file, job or worker is to blame for it."""
    return isinstance(error, OSError) and error.errno in _FULL


def is_disk_broken(error: BaseException) -> bool:
    """Return True if the error means a broken or read-only disk. libav's own error classes are excluded: it reports
    EIO for damaged files too."""
    return isinstance(error, OSError) and (
        error.errno == errno.EROFS or (error.errno == errno.EIO and type(error) is OSError)
    )


def machine_fault(error: BaseException | None) -> OSError | None:
    """Return the error in the chain of causes that shows a lack of space, descriptors, memory or processes, or None."""
    while error is not None:
        if isinstance(error, RuntimeError) and str(error).startswith(_NO_THREAD):
            return OSError(errno.EAGAIN, str(error))
        if isinstance(error, OSError) and (is_disk_full(error) or is_disk_broken(error) or error.errno in _EXHAUSTED):
            return error
        error = error.__cause__ or error.__context__
    return None


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the folder's disk, or 0 if the folder is missing."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


def check_room(folder: Path) -> None:
    """Raise StorageUnavailable if the folder's disk is full or read-only, and OSError if the folder is missing."""
    disk, free = os.statvfs(folder), shutil.disk_usage(folder).free
    if disk.f_flag & os.ST_RDONLY:
        raise StorageUnavailable(f"the disk of {folder} is read-only")
    if disk.f_files and disk.f_favail < ROOM_FILES:
        raise StorageUnavailable(
            f"the disk of {folder} has room for {disk.f_favail} more files, of at least {ROOM_FILES}"
        )
    if free < ROOM_BYTES:
        raise StorageUnavailable(
            f"the disk of {folder} has {free / 1e6:.0f} MB free, of at least {ROOM_BYTES / 1e6:.0f} MB"
        )


def check_temporary_room() -> None:
    """Raise StorageUnavailable if the disk of temporary files (`TMPDIR`) is full. Uploads and segments are written
    there first."""
    check_room(Path(tempfile.gettempdir()))


def reserve_in_use(folder: Path, more_bytes: int = 0) -> int:
    """Return the reserve of the folder's disk in bytes if less than that is free after `more_bytes` are written, else 0. Raises
    OSError."""
    disk = shutil.disk_usage(folder)
    reserve = reserve_bytes(disk.total)
    return reserve if disk.free - more_bytes <= reserve else 0


def is_half_of_reserve_used(folder: Path) -> bool:
    """Return True if less than half of the reserve of the folder's disk is free. Raises OSError."""
    disk = shutil.disk_usage(folder)
    return disk.free < reserve_bytes(disk.total) // 2


def reserve_bytes(disk_bytes: int) -> int:
    """Return the reserve of a disk of this size."""
    return min(RESERVE_BYTES, disk_bytes // 10)


def has_reserve() -> bool:
    """Return True if the disk of temporary files has its reserve, so that a large file can still grow."""
    return not reserve_in_use(Path(tempfile.gettempdir()))


def has_temporary_room() -> bool:
    """Return True if a temporary file of ROOM_BYTES can be written. Free disk space does not show the quota of the
    user."""
    try:
        check_temporary_room()
        with tempfile.TemporaryFile() as file:
            os.posix_fallocate(file.fileno(), 0, max(1, ROOM_BYTES))
    except (StorageUnavailable, OSError):
        return False
    return True
