"""Folders in memory for test servers."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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
        return
    with ExitStack() as held:
        with _locked(SYSTEM, wait=True):  # a new folder is locked before others look for those left
            _remove_those_left()
            made = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=SYSTEM))
            held.enter_context(_locked(made))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _remove_those_left() -> None:
    """Remove folders of killed processes. Their ids say nothing: tests in containers have other ids and this memory."""
    for left in SYSTEM.glob(f"{PREFIX}*"):
        with suppress(OSError), _locked(left):
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the folder's lock, which ends with the process. Raises OSError if another process has it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)
