"""Map GPUs to EGL devices. Ray sets `CUDA_VISIBLE_DEVICES` for each actor, but EGL ignores it."""

from __future__ import annotations

import ctypes
import ctypes.util
from dataclasses import dataclass
from typing import Final

_EXTENSIONS: Final = 0x3055
_CUDA_DEVICE: Final = 0x323A
"""EGL_CUDA_DEVICE_NV of EGL_NV_device_cuda: the device's CUDA index among all GPUs of the machine."""

_DEVICES_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class EglDevice:
    """An EGL device. `cuda_index` is None for software devices and GPUs of other vendors."""

    index: int
    cuda_index: int | None
    extensions: str

    @property
    def is_software(self) -> bool:
        """Return True if this is Mesa's software device."""
        return "EGL_MESA_device_software" in self.extensions


def egl_devices() -> list[EglDevice]:
    """Return all EGL devices, in EGL's order. Return an empty list if EGL is missing or cannot enumerate devices."""
    name = ctypes.util.find_library("EGL")
    if name is None:
        return []
    egl = ctypes.CDLL(name)
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    egl.eglGetProcAddress.argtypes = [ctypes.c_char_p]
    addresses = [egl.eglGetProcAddress(function) for function in (b"eglQueryDevicesEXT", b"eglQueryDeviceStringEXT")]
    attribute = egl.eglGetProcAddress(b"eglQueryDeviceAttribEXT")
    if not all(addresses):
        return []
    query_devices = ctypes.CFUNCTYPE(
        ctypes.c_uint, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int)
    )(addresses[0])
    query_string = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int)(addresses[1])
    devices, count = (ctypes.c_void_p * _DEVICES_MAX)(), ctypes.c_int()
    if not query_devices(_DEVICES_MAX, devices, ctypes.byref(count)):
        return []
    found = []
    for index in range(count.value):
        extensions = (query_string(devices[index], _EXTENSIONS) or b"").decode()
        cuda = _cuda_index(attribute, devices[index]) if "EGL_NV_device_cuda" in extensions else None
        found.append(EglDevice(index, cuda, extensions))
    return found


def _cuda_index(attribute: int | None, device: int | None) -> int | None:
    if attribute is None:
        return None
    query = ctypes.CFUNCTYPE(
        ctypes.c_uint, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_ssize_t)
    )(attribute)  # fmt: skip
    value = ctypes.c_ssize_t()
    return value.value if query(device, _CUDA_DEVICE, ctypes.byref(value)) else None


def device_index(cuda_index: int | None, *, software: bool, devices: list[EglDevice] | None = None) -> int | None:
    """Return the index of the EGL device to draw on: Mesa's software device, or the GPU `cuda_index`.

    Return None, the driver's default, if nothing is requested or no device matches.
    """
    if cuda_index is None and not software:
        return None
    found = egl_devices() if devices is None else devices
    if software:
        return next((device.index for device in found if device.is_software), None)
    return next((device.index for device in found if device.cuda_index == cuda_index), None)
