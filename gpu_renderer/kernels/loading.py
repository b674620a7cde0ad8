"""Load the native kernels from the compiled libraries of the package `render_kernels` (`native/`).

Without them OpenGL composites, shaders draw the windows of effects, libswscale converts video, and each layer that moved is placed
alone: slower, with pixels that agree within the golden tolerance. Tests compare every library with the formulas (`tests/gpu_renderer/backends/cpu`).
"""

from __future__ import annotations

import ctypes
import importlib
import logging
import sys
from functools import cache
from pathlib import Path

from gpu_renderer.errors import RenderError
from gpu_renderer.kernels.bindings import Kernels

log = logging.getLogger(__name__)


class KernelsUnavailable(RenderError):
    """The native kernels cannot be loaded on this machine. The message gives the reason."""


@cache
def kernels() -> Kernels | None:
    """Return the fastest kernels of this processor, or None if there are none. A failure is logged once."""
    try:
        return loaded(installed()[-1])
    except KernelsUnavailable as error:
        log.info("frames are finished by shaders, footage is converted by libswscale: %s", error)
        return None


def installed() -> list[Path]:
    """Return the libraries that this processor can run, slowest first. Raises KernelsUnavailable."""
    try:
        libraries: list[Path] = importlib.import_module("render_kernels").libraries()
    except (ImportError, OSError) as error:
        raise KernelsUnavailable(f"the native kernels are not installed ({error})") from error
    return libraries


def loaded(path: Path) -> Kernels:
    """Load a library. Raises KernelsUnavailable."""
    if sys.byteorder != "little":
        raise KernelsUnavailable("the processor keeps the highest byte first")
    try:
        return Kernels(ctypes.CDLL(str(path)))
    except OSError as error:
        raise KernelsUnavailable(f"the library cannot be loaded: {error}") from error
    except AttributeError as error:
        raise KernelsUnavailable(f"{path} lacks a function") from error
