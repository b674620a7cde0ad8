"""CUDA device of the current OpenGL context, which also encodes its frames.

The module calls about twenty functions of the driver library through ctypes. Their names and structures have not changed
since CUDA 11. It has no dependency to install: without a driver, the library fails to load. The alternatives are heavier:
`cuda-bindings` needs one package per major version of CUDA, and CuPy has more than a hundred megabytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

import moderngl
import numpy as np
from av.video.frame import CudaContext

from gpu_renderer.backends.gl.handover import Copy, InteropFailed
from gpu_renderer.backends.gl.readback import TEXEL_BYTES
from gpu_renderer.geometry.samples import Rows

LIBRARY = "libcuda.so.1"
ALL_DEVICES = 1
"""CU_GL_DEVICE_LIST_ALL."""
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
Pointer = ctypes.POINTER


class NoCudaDriver(InteropFailed):
    """The driver library is missing or lacks a function."""


class DeviceNotShared(InteropFailed):
    """CUDA does not see the GPU of the OpenGL context."""


class _Copy2D(ctypes.Structure):
    """CUDA_MEMCPY2D (cuda.h)."""

    _fields_ = (
        ("source_x_bytes", c_size_t),
        ("source_y", c_size_t),
        ("source_kind", c_int),
        ("source_host", c_void_p),
        ("source_device", c_uint64),
        ("source_array", c_void_p),
        ("source_pitch", c_size_t),
        ("x_bytes", c_size_t),
        ("y", c_size_t),
        ("kind", c_int),
        ("host", c_void_p),
        ("device", c_uint64),
        ("array", c_void_p),
        ("pitch", c_size_t),
        ("width_bytes", c_size_t),
        ("height", c_size_t),
    )


_CALLS = {
    "cuInit": (c_uint,),
    "cuGetErrorName": (c_int, Pointer(c_char_p)),
    "cuGLGetDevices_v2": (Pointer(c_uint), Pointer(c_int), c_uint, c_int),
    "cuDevicePrimaryCtxSetFlags_v2": (c_int, c_uint),
    "cuDevicePrimaryCtxRetain": (Pointer(c_void_p), c_int),
    "cuDevicePrimaryCtxRelease_v2": (c_int,),
    "cuCtxSetCurrent": (c_void_p,),
    "cuMemAlloc_v2": (Pointer(c_uint64), c_size_t),
    "cuMemFree_v2": (c_uint64,),
    "cuMemcpy2D_v2": (Pointer(_Copy2D),),
    "cuGraphicsGLRegisterImage": (Pointer(c_void_p), c_uint, c_uint, c_uint),
    "cuGraphicsUnregisterResource": (c_void_p,),
    "cuGraphicsMapResources": (c_uint, Pointer(c_void_p), c_void_p),
    "cuGraphicsUnmapResources": (c_uint, Pointer(c_void_p), c_void_p),
    "cuGraphicsSubResourceGetMappedArray": (Pointer(c_void_p), c_void_p, c_uint, c_uint),
    "cuEventCreate": (Pointer(c_void_p), c_uint),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventSynchronize": (c_void_p,),
    "cuEventDestroy_v2": (c_void_p,),
}


class Driver:
    """Driver functions by name. All work goes to the default stream, which FFmpeg and the encoder also use."""

    def __init__(self, library: str = LIBRARY) -> None:
        """Raise NoCudaDriver."""
        try:
            loaded = ctypes.CDLL(library)
            self._calls = {name: getattr(loaded, name) for name in _CALLS}
        except (OSError, AttributeError) as error:
            raise NoCudaDriver(str(error)) from error
        for name, call in self._calls.items():
            call.argtypes, call.restype = _CALLS[name], c_int
        try:
            self("cuInit", 0)
        except InteropFailed as error:
            raise NoCudaDriver(str(error)) from error

    def __call__(self, name: str, *arguments: object) -> None:
        """Call a function of the driver. Raises InteropFailed with the driver's error name."""
        if code := self._calls[name](*arguments):
            word = c_char_p()
            self._calls["cuGetErrorName"](code, ctypes.byref(word))
            raise InteropFailed(f"{name}: {(word.value or str(code).encode()).decode()}")

    def handle(self, name: str, *arguments: object) -> int:
        """Return the handle that a call stores in its first argument."""
        made = c_void_p()
        self(name, ctypes.byref(made), *arguments)
        return made.value or 0

    def drawing_device(self) -> int:
        """Return the device of the current OpenGL context. Raises DeviceNotShared."""
        count, device = c_uint(), c_int()
        try:
            self("cuGLGetDevices_v2", ctypes.byref(count), ctypes.byref(device), 1, ALL_DEVICES)
        except InteropFailed as error:
            raise DeviceNotShared(str(error)) from error
        if count.value == 0:
            raise DeviceNotShared("no CUDA device draws it")
        return device.value


class CudaDevice:
    """A `Device` in CUDA. Its primary context becomes current on the thread that creates it."""

    def __init__(self) -> None:
        """Raise NoCudaDriver, DeviceNotShared, InteropFailed."""
        self._driver = driver = Driver()
        self._number = driver.drawing_device()
        driver("cuDevicePrimaryCtxSetFlags_v2", self._number, BLOCKING_SYNC)
        driver("cuCtxSetCurrent", driver.handle("cuDevicePrimaryCtxRetain", self._number))
        self.dlpack = (DLPACK_KIND, self._number)
        self.cuda_context: object = CudaContext(device_id=self._number, primary_ctx=True)
        self._resources = (c_void_p * 0)()

    def allocate(self, size_bytes: int) -> int:
        address = c_uint64()
        self._driver("cuMemAlloc_v2", ctypes.byref(address), size_bytes)
        return address.value

    def free(self, address: int) -> None:
        self._driver("cuMemFree_v2", address)

    def share(self, textures: Sequence[moderngl.Texture]) -> None:
        found = [
            self._driver.handle("cuGraphicsGLRegisterImage", texture.glo, TEXTURE_2D, READ_ONLY) for texture in textures
        ]
        self._resources = (c_void_p * len(found))(*found)

    def copy(self, copies: Sequence[Copy]) -> None:
        """Queue copies. Mapping makes the GPU wait for pending drawing. Unmapping delays later drawing until the copies end."""
        driver, mapped = self._driver, (len(self._resources), self._resources, None)
        driver("cuGraphicsMapResources", *mapped)
        try:
            arrays = [driver.handle("cuGraphicsSubResourceGetMappedArray", each, 0, 0) for each in self._resources]
            for texture, box, address, pitch in copies:
                driver("cuMemcpy2D_v2", _Copy2D(
                    source_kind=ARRAY, source_array=arrays[texture], source_x_bytes=TEXEL_BYTES * box.x, source_y=box.y,
                    kind=DEVICE, device=address, pitch=pitch, width_bytes=TEXEL_BYTES * box.width, height=box.height,
                ))  # fmt: skip
        finally:
            driver("cuGraphicsUnmapResources", *mapped)

    def unshare(self) -> None:
        for resource in self._resources:
            self._driver("cuGraphicsUnregisterResource", resource)
        self._resources = (c_void_p * 0)()

    def upload(self, rows: Rows, address: int, pitch_bytes: int) -> None:
        rows = rows if rows.strides[1] == 1 else np.ascontiguousarray(rows)
        self._driver("cuMemcpy2D_v2", _Copy2D(
            source_kind=HOST, source_host=rows.ctypes.data, source_pitch=rows.strides[0],
            kind=DEVICE, device=address, pitch=pitch_bytes, width_bytes=rows.shape[1], height=rows.shape[0],
        ))  # fmt: skip

    def mark(self) -> int:
        event = self._driver.handle("cuEventCreate", EVENT_FLAGS)
        self._driver("cuEventRecord", event, None)
        return event

    def wait(self, mark: int) -> None:
        self._driver("cuEventSynchronize", mark)
        self._driver("cuEventDestroy_v2", mark)

    def close(self) -> None:
        """Release the context. FFmpeg keeps its own reference while it needs one."""
        self._driver("cuCtxSetCurrent", None)
        self._driver("cuDevicePrimaryCtxRelease_v2", self._number)
