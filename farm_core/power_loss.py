"""Files that survive a loss of power.

A file that is written and renamed can be empty afterwards: the kernel writes its content to the disk up to half a minute later
than the name. Sync the file before it gets its name, and the folder before anybody relies on the name.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO, Final

_CANNOT_SYNC: Final = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)
"""Errors of file systems that know no sync of a folder, such as some network shares."""


def sync_file(file: IO[bytes]) -> None:
    """Return when the content of the open file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Return when the names in the folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)
