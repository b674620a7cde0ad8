"""Short folders for sockets of servers whose data folder has a long path."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

SOCKET_PATH_MAX: Final = 100
"""Maximum bytes of a socket's path. Every system allows at least 103."""
PATH_BYTES_MAX: Final = 60
"""Maximum bytes of a temporary folder's path. A socket's path below it can have 107."""


def temporary_folder(user: str | None = None) -> Path:
    """Return the folder for temporary files. Return /tmp if its path is too long or the server's `user` cannot enter it."""
    folder = Path(tempfile.gettempdir())
    is_short = len(os.fsencode(folder)) <= PATH_BYTES_MAX
    is_open = user is None or all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents))
    return folder if is_short and is_open else Path("/tmp")  # noqa: S108
