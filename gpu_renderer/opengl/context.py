"""OpenGL context of the process, created without a window through EGL, and calls through ctypes.

moderngl lacks these calls, or holds the interpreter's lock during them, while ctypes releases it. They use the context
that is current on the thread.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from ctypes import CFUNCTYPE, c_char_p, c_int, c_uint, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

import moderngl

from gpu_renderer.errors import GpuUnavailable
from gpu_renderer.geometry.region import Region

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

    @property
    def keeps_first_sampling(self) -> bool:
        """True if a sequence of draw calls without a flush runs for each pixel or each sample like its first call.

        Mesa's driver zink does so, at least up to 22.3. OpenGL lets each program choose.
        """
        return self.renderer.startswith("zink")


def create_context(device_index: int | None = None, raster_threads: int | None = None) -> moderngl.Context:
    """Return a new headless context on the EGL device, the driver's first one if None.

    `raster_threads`: threads of software OpenGL; 0 rasterises on the calling thread, None uses one per core. Raises
    GpuUnavailable with the missing part. Call it once per process: contexts leak in many drivers.
    """
    if raster_threads is not None:
        os.putenv("LP_NUM_THREADS", str(raster_threads))  # Mesa reads it when it creates the process's first context
    wanted: dict[str, Any] = {"backend": "egl"} | ({} if device_index is None else {"device_index": device_index})
    try:
        context = moderngl.create_context(require=GL_VERSION, standalone=True, **wanted)
    except Exception as error:  # moderngl raises bare Exception for every EGL failure
        raise GpuUnavailable(f"no OpenGL {GL_VERSION / 100:.1f} context through EGL: {error}") from error
    context.gc_mode = "context_gc"
    return context


def identity(context: moderngl.Context) -> GpuIdentity:
    """Return the driver strings of this context."""
    info = context.info
    return GpuIdentity(info["GL_VENDOR"], info["GL_RENDERER"], info["GL_VERSION"])


LIBRARY = "libEGL.so.1"
_COMMANDS_COMPLETE, _FLUSH_COMMANDS = 0x9117, 0x1
"""GL_SYNC_GPU_COMMANDS_COMPLETE, GL_SYNC_FLUSH_COMMANDS_BIT."""
_CHANNELS = {1: 0x1903, 4: 0x1908}
"""GL_RED, GL_RGBA."""
_TYPES = {"f1": (0x1401, 1), "f2": (0x140B, 2), "f4": (0x1406, 4)}
"""GL_UNSIGNED_BYTE, GL_HALF_FLOAT, GL_FLOAT, with their sizes in bytes."""
_PACK_ALIGNMENT, _PACK_ROW_LENGTH, _UNPACK_ALIGNMENT = 0x0D05, 0x0D02, 0x0CF5
_FOR_EVER = 2**64 - 1


class Calls:
    """OpenGL functions, looked up once."""

    def __init__(self) -> None:
        """Raise GpuUnavailable if EGL does not provide a function."""
        try:
            self._address_of = ctypes.CDLL(LIBRARY).eglGetProcAddress
        except (OSError, AttributeError) as error:
            raise GpuUnavailable(f"{LIBRARY}: {error}") from error
        self._address_of.restype, self._address_of.argtypes = c_void_p, (c_char_p,)
        self.finish = self._found("glFinish", None)
        self.flush = self._found("glFlush", None)
        self._fence_sync = self._found("glFenceSync", c_void_p, c_uint, c_uint)
        self._wait_sync = self._found("glClientWaitSync", c_uint, c_void_p, c_uint, c_uint64)
        self._delete_sync = self._found("glDeleteSync", None, c_void_p)
        self._pixel_store = self._found("glPixelStorei", None, c_uint, c_int)
        self._get_sub_image = self._found(
            "glGetTextureSubImage", None, c_uint, *[c_int] * 7, c_uint, c_uint, c_int, c_void_p
        )
        self._set_sub_image = self._found("glTextureSubImage2D", None, c_uint, *[c_int] * 5, c_uint, c_uint, c_void_p)

    def fence(self) -> int:
        """Return a fence behind all queued work. A fence can be waited for once."""
        return int(self._fence_sync(_COMMANDS_COMPLETE, 0))

    def wait_for(self, fence: int) -> None:
        """Wait until the work before the fence is done, and delete the fence."""
        self._wait_sync(fence, _FLUSH_COMMANDS, _FOR_EVER)
        self._delete_sync(fence)

    def read_texels(self, texture: moderngl.Texture, box: Region, address: int, stride_bytes: int) -> None:
        """Write a box of a texture to the memory at an address. Rows are `stride_bytes` apart, a multiple of the texel size."""
        channels, kind, texel_bytes = _texels_of(texture)
        self._pixel_store(_PACK_ALIGNMENT, 1)
        self._pixel_store(_PACK_ROW_LENGTH, stride_bytes // texel_bytes)
        room = stride_bytes * box.height
        self._get_sub_image(texture.glo, 0, box.x, box.y, 0, box.width, box.height, 1, channels, kind, room, address)
        self._pixel_store(_PACK_ROW_LENGTH, 0)

    def write_texels(self, texture: moderngl.Texture, box: Region, address: int) -> None:
        """Write memory, rows without padding, to a box of a texture."""
        channels, kind, _ = _texels_of(texture)
        self._pixel_store(_UNPACK_ALIGNMENT, 1)
        self._set_sub_image(texture.glo, 0, box.x, box.y, box.width, box.height, channels, kind, address)

    def _found(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        address = self._address_of(name.encode())
        if address is None:
            raise GpuUnavailable(f"the driver has no {name}")
        return CFUNCTYPE(result, *arguments)(int(address))


def _texels_of(texture: moderngl.Texture) -> tuple[int, int, int]:
    """Return a texture's channels, their type, and the bytes of a texel."""
    kind, channel_bytes = _TYPES[texture.dtype]
    return _CHANNELS[texture.components], kind, texture.components * channel_bytes
