"""Folders in memory for test servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cluster.embedded.shared_memory import SYSTEM, is_fit
from farm_core import scratch

ROOM_BYTES: Final = 2_000_000_000
"""Free space that holds the folders of all lanes. Each lane's Postgres takes a tenth of it."""


@contextmanager
def folder(on_disk: Path) -> Iterator[Path]:
    """Yield a folder in memory, or `on_disk` if memory has no room.

    A database has 300 files. On ext4 each new file checks all recently deleted inodes: a new database per test took
    up to 0.6 s of processor time there, and takes 0.04 s in memory.
    """
    if is_fit(bytes_least=ROOM_BYTES):
        with scratch.beside(SYSTEM / "tests") as made:
            yield made
    else:
        yield on_disk
