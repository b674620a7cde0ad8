"""C interface of the CUDA driver's library.

Some twenty calls through ctypes. Their names and structures have not changed since CUDA 11. Nothing must be installed:
on a machine without a driver the library fails to load. `cuda-bindings` needs one package per major version of CUDA,
and CuPy has more than a hundred megabytes.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

from gpu_renderer.backends.gl.interop.device import InteropFailed

LIBRARY = "libcuda.so.1"
ALL_DEVICES = 1
"""CU_GL_DEVICE_LIST_ALL."""
Pointer = ctypes.POINTER


class NoCudaDriver(InteropFailed):
    """The driver's library is missing, or lacks a call."""


class DeviceNotShared(InteropFailed):
    """CUDA does not see the GPU that draws."""


class Copy2D(ctypes.Structure):
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
    "cuMemcpy2D_v2": (Pointer(Copy2D),),
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
    """Calls of the driver by name. All work goes to the default stream, as FFmpeg's and the encoder's does."""

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
