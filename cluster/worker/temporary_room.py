"""Keep the reserve of the disk of temporary files from the files of one assignment.

A segment of large pictures takes gigabytes while it is written, and an assembly twice the size of its segments. A full disk would stop
the segments of all accounts on the machine.
"""

from __future__ import annotations

from pathlib import Path

from farm_core.storage.disk_space import ROOM_BYTES, reserve_in_use
from gpu_renderer.content.media.sound_file import BLOCK_BYTES
from gpu_renderer.errors import DiskNearlyFull


def used_bytes(path: Path) -> int:
    """Return the space that a file or the files of a folder take, or 0 if it is missing."""
    try:
        files = path.iterdir() if path.is_dir() else [path]
        return sum(file.stat().st_blocks for file in files) * BLOCK_BYTES
    except FileNotFoundError:
        return 0


def check_growth(path: Path, more_bytes: int = 0) -> None:
    """Raise DiskNearlyFull if the assignment's file or folder is large, or will be after `more_bytes`, and takes the reserve of its disk.

    Small files can use the reserve.
    """
    check_sizes(used_bytes(path) + more_bytes, path.parent, more_bytes)


def check_sizes(own_bytes: int, folder: Path, more_bytes: int = 0) -> None:
    """Raise DiskNearlyFull as `check_growth` does, for files of known size in the folder. `own_bytes` includes `more_bytes`."""
    if own_bytes > ROOM_BYTES and (reserve := reserve_in_use(folder, more_bytes)):
        raise DiskNearlyFull(own_bytes, reserve)
