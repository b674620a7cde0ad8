"""Failures of a command or process that its user can fix."""

from __future__ import annotations

import sys
from collections.abc import Callable


class Failure(Exception):
    """The message says what is wrong and where to look, for the person at the terminal: it may name paths and hosts."""


def status_of(main: Callable[[list[str]], int]) -> int:
    """Run the main function of a process with its arguments; return the exit status.

    A failure, and a file that cannot be used, end it with one message and status 1, where Python prints a traceback.
    """
    try:
        return main(sys.argv[1:])
    except Failure as failure:
        message = str(failure)
    except OSError as error:
        if error.filename is None:  # not a file but a server, or a fault of the program: its traceback says where
            raise
        message = f"{error.filename}: {error.strerror}"
    sys.stderr.write(f"farm: {message}\n")
    return 1
