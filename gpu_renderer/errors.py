"""Errors of drawing and encoding."""

from __future__ import annotations

import errno
import os
from typing import Final

_OF_MACHINE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE})


def is_of_machine(error: BaseException) -> bool:
    """Return True if a file could not be opened or written because the machine lacks space or descriptors: no fault of the file."""
    return isinstance(error, OSError) and error.errno in _OF_MACHINE


class DiskNearlyFull(OSError):
    """A temporary file cannot grow, because the disk has too little space beside it.

    `own_bytes` is the size of the job's temporary files, `reserve_bytes` the free space that they must leave.
    """

    def __init__(self, own_bytes: int, reserve_bytes: int) -> None:
        super().__init__(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.own_bytes, self.reserve_bytes = own_bytes, reserve_bytes


class RenderError(Exception):
    """A frame or segment could not be rendered. `public_message` is safe for users: no path, host or driver text."""

    def __init__(self, message: str, public_message: str = "The composition could not be rendered.") -> None:
        super().__init__(message)
        self.public_message = public_message


class GpuUnavailable(RenderError):
    """No OpenGL context could be created."""


class ShaderError(RenderError):
    """A shader did not compile. The message names each file and line and shows the lines around it."""


class TargetTooLarge(RenderError):
    """A frame needs a texture larger than the GPU supports, or more memory than allowed."""


class MediaUndecodable(RenderError):
    """A picture or video could not be decoded."""


class EncoderUnavailable(RenderError):
    """No H.264 encoder passed its probe."""
