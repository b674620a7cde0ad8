"""Folders for the sockets of servers whose data folder has too long a path for them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

SOCKET_PATH_MAX: Final = 100
"""Bytes of a socket's path. Systems allow 103 at least."""
PATH_BYTES_MAX: Final = 60
"""Bytes of a temporary folder's path that leave room for the names of sockets (107 in all)."""


def temporary_folder(user: str | None = None) -> Path:
    """Return the folder for temporary files, or /tmp where that is too long a path or `user`, who runs the server, cannot enter it."""
    folder = Path(tempfile.gettempdir())
    is_short = len(os.fsencode(folder)) <= PATH_BYTES_MAX
    is_open = user is None or all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents))
    return folder if is_short and is_open else Path("/tmp")  # noqa: S108
