"""Encoder frames in a device's memory, as one allocation of NV12 each, handed to FFmpeg by DLPack.

An encoder on the GPU reads a frame after it has taken it, so memory is not free when it was sent, but when its last holder
has let it go: FFmpeg calls back then, from whatever thread that happens on.
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
"""Rows begin at multiples of this: the coarsest alignment that a CUDA device asks of rows (its texture alignment)."""
UNSIGNED = 1
"""DLPack's code of unsigned integers."""


@dataclass(frozen=True, slots=True)
class Packing:
    """NV12 as a hardware encoder wants it: rows of Y and, right behind the last one, rows of CbCr, all of one pitch."""

    of: PlaneLayout

    @property
    def pitch_bytes(self) -> int:
        """From one row to the next, in both planes."""
        return -(-self.of.stride_bytes // PITCH_BYTES) * PITCH_BYTES

    @property
    def chroma_offset(self) -> int:
        """Bytes from the first row of Y to the first of CbCr."""
        return self.pitch_bytes * self.of.coded_height

    @property
    def size_bytes(self) -> int:
        """Of the whole frame."""
        return self.chroma_offset + self.pitch_bytes * (self.of.coded_height // 2)


class _Loan:
    """Lives as long as any plane of a frame does."""


class _Tensor(ctypes.Structure):
    """DLManagedTensor of DLPack 0.x (dlpack.h): what PyAV reads, and what it calls when it is done."""

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


_acquired: dict[int, tuple[_Tensor, _Loan]] = {}
"""Planes that somebody holds, by the address of their description."""
_NAME = ctypes.c_char_p(b"dltensor")
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def _let_go(tensor_address: int) -> None:
    """What a consumer calls when it needs a plane no more."""
    del _acquired[tensor_address]


_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_let_go)


def _plane(address: int, rows: int, columns: int, pitch_bytes: int, device: Device, loan: _Loan) -> object:
    """A DLPack capsule of rows of bytes; the loan is kept until its consumer is done with it."""
    kind, number = device.dlpack
    shape, strides = (ctypes.c_int64 * 2)(rows, columns), (ctypes.c_int64 * 2)(pitch_bytes, 1)
    tensor = _Tensor(address, kind, number, 2, UNSIGNED, 8, 1, shape, strides, 0, None, _deleter)
    _acquired[ctypes.addressof(tensor)] = (tensor, loan)
    capsule: object = _capsule(ctypes.addressof(tensor), _NAME, None)
    return capsule


class DeviceFrames:
    """Frames of one layout; there are as many as are held at a time, by this side and by encoders."""

    def __init__(self, device: Device, of: PlaneLayout) -> None:
        self.layout = of
        self._device, self._packing = device, Packing(of)
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.allocated_count = 0

    @property
    def free_count(self) -> int:
        """How many of those allocated nobody holds."""
        return self._free.qsize()

    def take(self) -> av.VideoFrame:
        """A frame of undefined content, never one that somebody still reads. Raises InteropFailed."""
        loan, packing, of = _Loan(), self._packing, self.layout
        address = self._address()
        weakref.finalize(loan, self._free.put, address).atexit = False
        luma = _plane(address, of.coded_height, of.coded_width, packing.pitch_bytes, self._device, loan)
        chroma_address, chroma_rows = address + packing.chroma_offset, of.coded_height // 2
        chroma = _plane(chroma_address, chroma_rows, of.coded_width, packing.pitch_bytes, self._device, loan)
        try:
            context = self._device.cuda_context
            return tagged(
                av.VideoFrame.from_dlpack((luma, chroma), PIXEL_FORMAT, primary_ctx=True, cuda_context=context)
            )
        # PyAV refuses planes, devices and builds of FFmpeg with each of these; the segment then goes the ordinary way
        except (av.FFmpegError, TypeError, ValueError, NotImplementedError, MemoryError) as error:
            raise InteropFailed(f"the encoder's library does not take the frame: {error}") from error

    def keep(self, frame: av.VideoFrame) -> av.VideoFrame:
        """Adds a use: here, whoever has the frame uses it."""
        return frame

    def drop(self, frame: av.VideoFrame) -> None:
        """Ends a use: here, whoever forgets the frame does."""

    def close(self) -> None:
        """Frees the memory. What is still held stays allocated: to free it under an encoder would be worse."""
        while not self._free.empty():
            self._device.free(self._free.get())

    def _address(self) -> int:
        """Memory is allocated rather than waited for: an encoder may hold frames until it is given more of them."""
        try:
            return self._free.get_nowait()
        except queue.Empty:
            self.allocated_count += 1
            return self._device.allocate(self._packing.size_bytes)
