"""Temporary folders of processes: for running uploads, fetched media and segments.

A killed process cannot clean up. Each process holds a lock on its folder, which the kernel releases when the process
ends. The next process of the same kind removes unlocked folders.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from farm_core.interruption import deferred_signals
from farm_core.telemetry import logs

_log = logs.logger(__name__)

PREFIX: Final = "farm-scratch-"


def remove_left(kind: str = "*") -> list[str]:
    """Remove unlocked folders of one kind or of all kinds; return their names."""
    return [left.name for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}{kind}-*") if _removed(left)]


class Scratch:
    """Folder for one process of a kind such as "worker", within the system's temporary folder.

    All temporary files of the process are created in it.
    """

    def __init__(self, kind: str) -> None:
        self._parent = Path(tempfile.gettempdir())
        prefix = f"{PREFIX}{kind}-"
        for name in remove_left(kind):
            _log.info("removed what a killed process had left", folder=name)
        self.path, self._lock = _made(self._parent, prefix)
        self._outer, tempfile.tempdir = tempfile.tempdir, str(self.path)
        self._removed = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)  # or at exit

    def close(self) -> None:
        """Remove the folder with its contents."""
        tempfile.tempdir = self._outer
        self._removed()
        with suppress(OSError):
            os.close(self._lock)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Yield a folder on the disk of `target`, for files that will replace it. Remove such folders of killed processes
    first."""
    prefix = f".{target.name}-{PREFIX}"
    for left in target.parent.iterdir():
        if left.name.startswith(prefix) and _removed(left):
            _log.info("removed what a killed process had left", folder=left.name)
    made: tuple[Path, int] | None = None
    try:
        with deferred_signals():
            path, lock = made = _made(target.parent, prefix)
        yield path
    finally:
        if made is not None:
            with deferred_signals():
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def _made(parent: Path, prefix: str) -> tuple[Path, int]:
    """Create a folder; return it with the descriptor that holds its lock."""
    made = Path(tempfile.mkdtemp(prefix=f".{prefix}", dir=parent))
    lock = _locked(made)  # before the folder gets the name that other processes look for
    return made.rename(parent / made.name.removeprefix(".")), lock


def _locked(folder: Path) -> int:
    """Return a descriptor that holds the folder's lock. Raises BlockingIOError if another process holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    descriptor = _locked(folder)
    try:
        yield
    finally:
        os.close(descriptor)


def _removed(folder: Path) -> bool:
    """Remove the folder if no process holds it; return True if it is gone."""
    try:
        with _lock(folder):
            shutil.rmtree(folder)
    except OSError:  # locked, owned by another user, or already gone
        return False
    return True
