"""Load the native kernels, which the package `render_kernels` (`native/`) holds as compiled libraries.

Nothing but speed depends on them: where the package is missing, or a library does not give the formulas' bytes, shaders, numpy
and libswscale do the same work.
"""

from __future__ import annotations

import ctypes
import importlib
import logging
import sys
from functools import cache
from pathlib import Path

from gpu_renderer.errors import RenderError
from gpu_renderer.host import trials
from gpu_renderer.host.loops import Kernels

log = logging.getLogger(__name__)


class KernelsUnavailable(RenderError):
    """The kernels cannot be had on this machine; the message says why."""


@cache
def kernels() -> Kernels | None:
    """Return the fastest kernels of this processor, or None if there are none, which is logged once."""
    try:
        return loaded(installed()[-1])
    except KernelsUnavailable as error:
        log.info("frames are finished by shaders, footage is converted by libswscale: %s", error)
        return None


def installed() -> list[Path]:
    """Return the libraries that this processor can run, the fastest one last. Raises KernelsUnavailable."""
    try:
        libraries: list[Path] = importlib.import_module("render_kernels").libraries()
    except (ImportError, OSError) as error:
        raise KernelsUnavailable(f"the native kernels are not installed ({error})") from error
    return libraries


def loaded(path: Path) -> Kernels:
    """Load a library and compare it with the formulas. Raises KernelsUnavailable."""
    if sys.byteorder != "little":
        raise KernelsUnavailable("the processor keeps the highest byte first")
    try:
        library = Kernels(ctypes.CDLL(str(path)))
    except OSError as error:
        raise KernelsUnavailable(f"the library cannot be loaded: {error}") from error
    except AttributeError as error:
        raise KernelsUnavailable(f"{path} lacks a function") from error
    if not trials.passed(library):
        raise KernelsUnavailable(f"{path} gives other bytes than the formulas")
    return library
