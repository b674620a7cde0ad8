"""Short folders for sockets of servers whose data folder has a long path."""

from __future__ import annotations

import os
import pwd
import socket
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

SOCKET_PATH_MAX: Final = 100
"""Maximum bytes of a socket's path. Every system allows at least 103."""
PATH_BYTES_MAX: Final = 60
"""Maximum bytes of a temporary folder's path. A socket's path below it can have 107."""

PREFIX: Final = "farm-"
"""Prefix of the names of socket folders and sockets, before the user's id."""
ABANDONED_SECONDS: Final = 3600
"""Age of an empty folder that no start of a server is about to use."""
_SERVED: Final = "data"
"""Link from a socket folder to its data folder."""


def temporary_folder(user: str | None = None) -> Path:
    """Return the folder for temporary files. Return /tmp if its path is too long or the server's `user` cannot enter it."""
    folder = Path(tempfile.gettempdir())
    is_short = len(os.fsencode(folder)) <= PATH_BYTES_MAX
    is_open = user is None or all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents))
    return folder if is_short and is_open else Path("/tmp")  # noqa: S108


def link(folder: Path, data: Path) -> None:
    """Record the data folder that a socket folder serves."""
    with suppress(FileExistsError):
        (folder / _SERVED).symlink_to(data)


def remove(folder: Path) -> None:
    """Remove a socket folder unless it has sockets."""
    with suppress(OSError):
        if all(path.name == _SERVED for path in folder.iterdir()):
            (folder / _SERVED).unlink(missing_ok=True)
            folder.rmdir()


def is_own(folder: Path, user: str | None) -> bool:
    """Return True if this user or the server's `user` owns a folder. Another user could replace its own by a link at any time."""
    return folder.lstat().st_uid in (os.geteuid(), pwd.getpwnam(user or "root").pw_uid)


def remove_left(parent: Path, user: str | None) -> None:
    """Remove own socket folders whose data folder has gone, with the sockets of killed servers, and empty ones."""
    for folder in parent.glob(f"{PREFIX}{os.geteuid()}-*"):
        with suppress(FileNotFoundError):  # another start has removed it
            if is_own(folder, user):
                _remove_unused(folder)


def _remove_unused(folder: Path) -> None:
    served = folder / _SERVED
    with suppress(OSError):  # it has contents, or is a socket
        if not served.is_symlink() and time.time() - folder.stat().st_mtime > ABANDONED_SECONDS:
            folder.rmdir()
    if served.is_symlink() and not os.path.exists(served):  # noqa: PTH110 - Path.exists raises for folders of others
        _remove_dead(folder)
        remove(folder)


def _remove_dead(folder: Path) -> None:
    """Remove the sockets on which no server listens, with their lock files."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.is_socket() and not _is_answered(path):
                path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
                path.unlink()


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return False
        return True
