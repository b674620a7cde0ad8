"""Shared memory of the system, which can be missing or small in containers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

SYSTEM: Final = Path("/dev/shm")  # noqa: S108 - the system's own place for it
BYTES_LEAST: Final = 100 * 1024 * 1024
"""Free space that Ray and Postgres need together."""


def is_fit(folder: Path = SYSTEM, bytes_least: int = BYTES_LEAST) -> bool:
    """Return True if the folder has `bytes_least` of free space for shared memory."""
    try:
        room = os.statvfs(folder)
    except OSError:
        return False
    return os.access(folder, os.W_OK) and room.f_bavail * room.f_frsize >= bytes_least
