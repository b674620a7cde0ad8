"""Errors of a command or process that its user can fix."""

from __future__ import annotations

import sys
from collections.abc import Callable


class UserError(Exception):
    """An error for the person at the terminal. The message says what is wrong and where to look; it can name paths
    and hosts."""


def status_of(main: Callable[[list[str]], int]) -> int:
    """Run a process's main function with its arguments; return the exit status.

    After a UserError, or an error with a file, print one message instead of a traceback and return 1.
    """
    try:
        return main(sys.argv[1:])
    except UserError as error:
        message = str(error)
    except OSError as error:
        if error.filename is None:  # a server or a bug, not a file: show the traceback
            raise
        message = f"{error.filename}: {error.strerror}"
    sys.stderr.write(f"farm: {message}\n")
    return 1
