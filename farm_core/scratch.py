"""A folder for what a process needs only while it runs: uploads under way, fetched media, segments.

A process that is killed cannot clear up after itself. Each holds a lock on its folder, which the kernel lets go when the process
ends in whatever way; who makes a folder of the same kind next removes those that nobody holds.
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

from farm_core.telemetry import logs

_log = logs.logger(__name__)

PREFIX: Final = "farm-scratch-"


def remove_left(kind: str = "*") -> list[str]:
    """Remove the folders of a kind, or of all, that no process holds; return their names."""
    return [left.name for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}{kind}-*") if _removed(left)]


class Scratch:
    """A folder of its own for a kind of process ("worker"), in the system's folder for temporary files.

    From then on all temporary files of the process are made in it.
    """

    def __init__(self, kind: str) -> None:
        self._parent = Path(tempfile.gettempdir())
        prefix = f"{PREFIX}{kind}-"
        for name in remove_left(kind):
            _log.info("removed what a killed process had left", folder=name)
        self.path, self._lock = _made(self._parent, prefix)
        self._outer, tempfile.tempdir = tempfile.tempdir, str(self.path)
        self._removed = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)  # or at the process's end

    def close(self) -> None:
        """Remove the folder with all that is in it."""
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
    """A folder on the disk of `target`, for what takes its place once it is whole. Those that killed processes left there are removed."""
    prefix = f".{target.name}-{PREFIX}"
    for left in target.parent.iterdir():
        if left.name.startswith(prefix) and _removed(left):
            _log.info("removed what a killed process had left", folder=left.name)
    path, lock = _made(target.parent, prefix)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _made(parent: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder; return it with the descriptor that holds its lock."""
    made = Path(tempfile.mkdtemp(prefix=f".{prefix}", dir=parent))
    lock = _locked(made)  # before it has a name that others look at
    return made.rename(parent / made.name.removeprefix(".")), lock


def _locked(folder: Path) -> int:
    """A descriptor that holds the folder's lock. Raises BlockingIOError where another process does."""
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
    """Remove the folder if it is one that nobody holds; return True if it is gone."""
    try:
        with _lock(folder):
            shutil.rmtree(folder)
    except OSError:  # held, another user's, or gone meanwhile
        return False
    return True
