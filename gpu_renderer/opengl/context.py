"""OpenGL context of the process, created without a window through EGL."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import moderngl

from gpu_renderer.errors import GpuUnavailable

SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swrast", "swiftshader")
GL_VERSION = 330


@dataclass(frozen=True, slots=True)
class GpuIdentity:
    """Driver strings of the device."""

    vendor: str
    renderer: str
    version: str

    @property
    def is_software(self) -> bool:
        """True if OpenGL runs on the processor."""
        return any(name in self.renderer.lower() for name in SOFTWARE_RENDERERS)


def create_context(device_index: int | None = None, raster_threads: int | None = None) -> moderngl.Context:
    """Return a new headless context on the EGL device, the driver's first one if None.

    `raster_threads`: threads of software OpenGL; 0 rasterises on the calling thread, None uses one per core. Raises
    GpuUnavailable with the missing part. Call it once per process: contexts leak in many drivers.
    """
    if raster_threads is not None:
        os.putenv("LP_NUM_THREADS", str(raster_threads))  # Mesa reads it when the process's first context is made
    wanted: dict[str, Any] = {"backend": "egl"} | ({} if device_index is None else {"device_index": device_index})
    try:
        context = moderngl.create_context(require=GL_VERSION, standalone=True, **wanted)
    except Exception as error:  # moderngl raises bare Exception for every EGL failure
        raise GpuUnavailable(f"no OpenGL {GL_VERSION} context through EGL: {error}") from error
    context.gc_mode = "context_gc"
    return context


def identity(context: moderngl.Context) -> GpuIdentity:
    """Return the driver strings of this context."""
    info = context.info
    return GpuIdentity(info["GL_VENDOR"], info["GL_RENDERER"], info["GL_VERSION"])
