"""Encoder frames in a device's memory: one NV12 allocation each, handed to FFmpeg by DLPack.

An encoder on the GPU reads a frame after accepting it, so sending a frame does not free its memory. FFmpeg calls back,
on any thread, when the last holder releases the frame.
"""

from __future__ import annotations

import ctypes
import queue
import weakref
from dataclasses import dataclass

import av

from gpu_renderer.backends.gl.interop.device import Device, InteropFailed
from gpu_renderer.encode.planes import PIXEL_FORMAT, PlaneLayout, tagged

PITCH_BYTES = 512
"""Alignment of rows: the coarsest texture alignment of CUDA devices."""
UNSIGNED = 1
"""DLPack's type code of unsigned integers."""


@dataclass(frozen=True, slots=True)
class Packing:
    """NV12 layout of a hardware encoder: the rows of Y, directly followed by the rows of CbCr, with one pitch."""

    of: PlaneLayout

    @property
    def pitch_bytes(self) -> int:
        """Distance between rows in both planes, bytes."""
        return -(-self.of.stride_bytes // PITCH_BYTES) * PITCH_BYTES

    @property
    def chroma_offset(self) -> int:
        """Offset of the first row of CbCr from the first row of Y, bytes."""
        return self.pitch_bytes * self.of.coded_height

    @property
    def size_bytes(self) -> int:
        """Size of the frame, bytes."""
        return self.chroma_offset + self.pitch_bytes * (self.of.coded_height // 2)


class _Token:
    """Token that lives as long as any plane of a frame does."""


class _Tensor(ctypes.Structure):
    """DLManagedTensor of DLPack 0.x (dlpack.h), which PyAV reads and whose deleter it calls."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    )


_acquired: dict[int, tuple[_Tensor, _Token]] = {}
"""Planes in use, by the address of their description."""
_NAME = ctypes.c_char_p(b"dltensor")
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def _let_go(tensor_address: int) -> None:
    """Deleter of a plane, called by its consumer."""
    del _acquired[tensor_address]


_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_let_go)


def _plane(address: int, rows: int, columns: int, pitch_bytes: int, device: Device, token: _Token) -> object:
    """Return a DLPack capsule of rows of bytes. The token is kept until the consumer calls the deleter."""
    kind, number = device.dlpack
    shape, strides = (ctypes.c_int64 * 2)(rows, columns), (ctypes.c_int64 * 2)(pitch_bytes, 1)
    tensor = _Tensor(address, kind, number, 2, UNSIGNED, 8, 1, shape, strides, 0, None, _deleter)
    _acquired[ctypes.addressof(tensor)] = (tensor, token)
    capsule: object = _capsule(ctypes.addressof(tensor), _NAME, None)
    return capsule


class DeviceFrames:
    """Pool of frames of one layout, shared with encoders."""

    def __init__(self, device: Device, of: PlaneLayout) -> None:
        self.layout = of
        self._device, self._packing = device, Packing(of)
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.allocated_count = 0

    @property
    def free_count(self) -> int:
        """Number of allocated frames that nobody holds."""
        return self._free.qsize()

    def take(self) -> av.VideoFrame:
        """Return a frame of undefined content that nobody reads. Raises InteropFailed."""
        token, packing, of = _Token(), self._packing, self.layout
        address = self._address()
        weakref.finalize(token, self._free.put, address).atexit = False
        luma = _plane(address, of.coded_height, of.coded_width, packing.pitch_bytes, self._device, token)
        chroma_address, chroma_rows = address + packing.chroma_offset, of.coded_height // 2
        chroma = _plane(chroma_address, chroma_rows, of.coded_width, packing.pitch_bytes, self._device, token)
        try:
            context = self._device.cuda_context
            return tagged(
                av.VideoFrame.from_dlpack((luma, chroma), PIXEL_FORMAT, primary_ctx=True, cuda_context=context)
            )
        # PyAV refuses planes, devices and builds of FFmpeg with each of these; the segment then goes the ordinary way
        except (av.FFmpegError, TypeError, ValueError, NotImplementedError, MemoryError) as error:
            raise InteropFailed(f"the encoder's library does not take the frame: {error}") from error

    def keep(self, frame: av.VideoFrame) -> av.VideoFrame:
        """Add a use of a frame. Here a reference is a use."""
        return frame

    def drop(self, frame: av.VideoFrame) -> None:
        """End a use of a frame. Here dropping the reference ends it."""

    def close(self) -> None:
        """Free the memory. Frames that encoders still hold stay allocated."""
        while not self._free.empty():
            self._device.free(self._free.get())

    def _address(self) -> int:
        """Return free memory, or allocate more.

        Waiting could block forever: an encoder can hold frames until it gets more of them.
        """
        try:
            return self._free.get_nowait()
        except queue.Empty:
            self.allocated_count += 1
            return self._device.allocate(self._packing.size_bytes)
