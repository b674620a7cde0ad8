"""Write files so that they survive a power failure.

A file that is written and renamed can be empty after a power failure: the kernel can write its content up to half a
minute after its name. Sync the file before renaming it, and the folder before relying on the name.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO, Final

_CANNOT_SYNC: Final = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)
"""Errors of file systems that cannot sync a folder, such as some network shares."""


def sync_file(file: IO[bytes]) -> None:
    """Wait until the content of the open file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in the folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)
