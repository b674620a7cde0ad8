"""CUDA device of the current OpenGL context, which also encodes its frames."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import moderngl
import numpy as np
from av.video.frame import CudaContext

from gpu_renderer.backends.gl.interop.device import Copy
from gpu_renderer.backends.gl.interop.driver import Copy2D, Driver
from gpu_renderer.geometry.samples import Rows

DLPACK_KIND = 2
"""kDLCUDA (dlpack.h)."""
BLOCKING_SYNC = 4
"""CU_CTX_SCHED_BLOCKING_SYNC: FFmpeg refuses a primary context that was made with other flags."""
TEXTURE_2D, READ_ONLY = 0x0DE1, 1
"""GL_TEXTURE_2D, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY."""
HOST, DEVICE, ARRAY = 1, 2, 3
"""CUmemorytype."""
EVENT_FLAGS = 1 | 2
"""CU_EVENT_BLOCKING_SYNC: waiting threads sleep. CU_EVENT_DISABLE_TIMING: cheaper."""


class CudaDevice:
    """A `Device`. Its primary context becomes current on the thread that creates it."""

    def __init__(self) -> None:
        """Raise NoCudaDriver, DeviceNotShared, InteropFailed."""
        self._driver = driver = Driver()
        self._number = driver.drawing_device()
        driver("cuDevicePrimaryCtxSetFlags_v2", self._number, BLOCKING_SYNC)
        driver("cuCtxSetCurrent", driver.handle("cuDevicePrimaryCtxRetain", self._number))
        self.dlpack = (DLPACK_KIND, self._number)
        self.cuda_context: object = CudaContext(device_id=self._number, primary_ctx=True)

    def allocate(self, size_bytes: int) -> int:
        """See `Device`."""
        address = ctypes.c_uint64()
        self._driver("cuMemAlloc_v2", ctypes.byref(address), size_bytes)
        return address.value

    def free(self, address: int) -> None:
        """See `Device`."""
        self._driver("cuMemFree_v2", address)

    def shared(self, textures: Sequence[moderngl.Texture]) -> RegisteredTextures:
        """See `Device`."""
        return RegisteredTextures(self._driver, textures)

    def upload(self, rows: Rows, address: int, pitch_bytes: int) -> None:
        """See `Device`."""
        rows = rows if rows.strides[1] == 1 else np.ascontiguousarray(rows)
        self._driver("cuMemcpy2D_v2", Copy2D(
            source_kind=HOST, source_host=rows.ctypes.data, source_pitch=rows.strides[0],
            kind=DEVICE, device=address, pitch=pitch_bytes, width_bytes=rows.shape[1], height=rows.shape[0],
        ))  # fmt: skip

    def mark(self) -> int:
        """See `Device`."""
        event = self._driver.handle("cuEventCreate", EVENT_FLAGS)
        self._driver("cuEventRecord", event, None)
        return event

    def wait(self, mark: int) -> None:
        """See `Device`."""
        self._driver("cuEventSynchronize", mark)
        self._driver("cuEventDestroy_v2", mark)

    def close(self) -> None:
        """Release the context. FFmpeg keeps its own reference while it needs one."""
        self._driver("cuCtxSetCurrent", None)
        self._driver("cuDevicePrimaryCtxRelease_v2", self._number)


class RegisteredTextures:
    """A `SharedTextures`."""

    def __init__(self, driver: Driver, textures: Sequence[moderngl.Texture]) -> None:
        self._driver = driver
        self._count = len(textures)
        self._resources = (ctypes.c_void_p * self._count)()
        for number, texture in enumerate(textures):
            self._resources[number] = driver.handle("cuGraphicsGLRegisterImage", texture.glo, TEXTURE_2D, READ_ONLY)

    def copy(self, copies: Sequence[Copy]) -> None:
        """See `SharedTextures`.

        Mapping waits on the GPU for pending drawing; unmapping delays drawing until the copies end.
        """
        with self._mapped() as arrays:
            for texture, box, address, pitch in copies:
                self._driver("cuMemcpy2D_v2", Copy2D(
                    source_kind=ARRAY, source_array=arrays[texture], source_x_bytes=4 * box.x, source_y=box.y,
                    kind=DEVICE, device=address, pitch=pitch, width_bytes=4 * box.width, height=box.height,
                ))  # fmt: skip

    def release(self) -> None:
        """See `SharedTextures`."""
        for resource in self._resources:
            self._driver("cuGraphicsUnregisterResource", resource)

    @contextmanager
    def _mapped(self) -> Iterator[list[int]]:
        """Yield the textures as CUDA arrays."""
        self._driver("cuGraphicsMapResources", self._count, self._resources, None)
        try:
            yield [
                self._driver.handle("cuGraphicsSubResourceGetMappedArray", resource, 0, 0)
                for resource in self._resources
            ]
        finally:
            self._driver("cuGraphicsUnmapResources", self._count, self._resources, None)
