"""Handover of frames from the GPU to its encoder: NV12 frames in device memory, and the ring that fills them.

`cuda.py` implements the device. Tests implement it in main memory, so that the rest is tested without a GPU.

Each frame is one allocation that FFmpeg receives through DLPack. An encoder on the GPU still reads a frame after accepting
it, so the memory cannot be reused at once. FFmpeg calls the deleter, on any thread, when its last reference is dropped.
"""

from __future__ import annotations

import ctypes
import queue
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

import av
import moderngl

from gpu_renderer.backends.gl.readback import TEXEL_BYTES, Nv12Targets
from gpu_renderer.encode.planes import PIXEL_FORMAT, PlaneLayout, VideoPassthrough, tagged
from gpu_renderer.errors import RenderError
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.geometry.samples import Rows
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

PITCH_BYTES = 512
"""Alignment of rows: the coarsest texture alignment of CUDA devices."""
UNSIGNED = 1
"""DLPack's type code of unsigned integers."""


class InteropFailed(RenderError):
    """The device, its driver or the encoder's library failed to hand over a frame."""


class Copy(NamedTuple):
    """Copy of a box of texels, four bytes each, to rows that start at `address`, `pitch_bytes` apart."""

    texture: int
    """Index among the shared textures."""
    box: Region
    address: int
    pitch_bytes: int


class Device(Protocol):
    """Device with memory that an encoder reads. Call all methods on the thread of the OpenGL context."""

    dlpack: tuple[int, int]
    """Device kind and number in DLPack's terms."""
    cuda_context: object
    """PyAV's context for frames of CUDA memory, None for other devices."""

    def allocate(self, size_bytes: int) -> int:
        """Return the address of a new block of memory. Raises InteropFailed."""

    def free(self, address: int) -> None:
        """Free an allocated block."""

    def share(self, textures: Sequence[moderngl.Texture]) -> None:
        """Let the device read textures of the current OpenGL context, until `unshare`. Raises InteropFailed."""

    def copy(self, copies: Sequence[Copy]) -> None:
        """Queue copies of the textures' current content. Later drawing does not affect them. Raises InteropFailed."""

    def unshare(self) -> None:
        """End the sharing. Call it before the textures are freed. Raises InteropFailed."""

    def upload(self, rows: Rows, address: int, pitch_bytes: int) -> None:
        """Copy rows from main memory. The caller can overwrite them after the call. Raises InteropFailed."""

    def mark(self) -> int:
        """Return a new mark (a fence) that is reached when all queued work is done."""

    def wait(self, mark: int) -> None:
        """Wait for a mark. Call this once for each mark. Raises InteropFailed."""

    def close(self) -> None:
        """Release the device. Free all memory and unshare all textures first."""


class _Token:
    """Token that stays alive as long as any plane of a frame does."""


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
"""Planes in use, by the address of their DLPack tensor."""
_NAME = ctypes.c_char_p(b"dltensor")
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # type: ignore[untyped-decorator]
def _deleter(tensor_address: int) -> None:
    """Deleter of a plane, called by its consumer."""
    del _acquired[tensor_address]


class DeviceFrames:
    """Pool of frames of one layout, shared with encoders.

    The rows of CbCr directly follow the rows of Y, with the same pitch, as hardware encoders require.
    """

    def __init__(self, device: Device, of: PlaneLayout) -> None:
        self.layout = of
        self._device = device
        self._pitch_bytes = -(-of.stride_bytes // PITCH_BYTES) * PITCH_BYTES
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()

    def take(self) -> av.VideoFrame:
        """Return an unused frame of undefined content. Raises InteropFailed."""
        token, rows = _Token(), self.layout.coded_height
        try:
            address = self._free.get_nowait()
        except queue.Empty:  # allocate instead of waiting: an encoder can keep frames until it receives more of them
            address = self._device.allocate(self._pitch_bytes * rows * 3 // 2)
        weakref.finalize(token, self._free.put, address).atexit = False
        luma = self._plane(address, rows, token)
        chroma = self._plane(address + self._pitch_bytes * rows, rows // 2, token)
        try:
            context = self._device.cuda_context
            return tagged(
                av.VideoFrame.from_dlpack((luma, chroma), PIXEL_FORMAT, primary_ctx=True, cuda_context=context)
            )
        # PyAV raises any of these for unsupported planes, devices and FFmpeg builds. The segment then uses main memory.
        except (av.FFmpegError, TypeError, ValueError, NotImplementedError, MemoryError) as error:
            raise InteropFailed(f"the encoder's library does not take the frame: {error}") from error

    def keep(self, frame: av.VideoFrame) -> av.VideoFrame:
        """Return the frame: a Python reference is a use."""
        return frame

    def drop(self, frame: av.VideoFrame) -> None:
        """Do nothing: dropping the Python reference ends the use."""

    def close(self) -> None:
        """Free the memory. Frames that encoders still hold stay allocated."""
        while not self._free.empty():
            self._device.free(self._free.get())

    def _plane(self, address: int, rows: int, token: _Token) -> object:
        """Return a DLPack capsule of rows of bytes. The token stays alive until the consumer calls the deleter."""
        kind, number = self._device.dlpack
        shape = (ctypes.c_int64 * 2)(rows, self.layout.coded_width)
        strides = (ctypes.c_int64 * 2)(self._pitch_bytes, 1)
        tensor = _Tensor(address, kind, number, 2, UNSIGNED, 8, 1, shape, strides, 0, None, _deleter)
        _acquired[ctypes.addressof(tensor)] = (tensor, token)
        capsule: object = _capsule(ctypes.addressof(tensor), _NAME, None)
        return capsule


class DeviceRing:
    """Frames in flight, oldest first, with the interface of `ReadbackRing`. All methods can raise InteropFailed.

    Every frame is copied whole, because a copy on the device takes only microseconds. Only a video that fills the frame
    comes from main memory, because it was decoded there.
    """

    def __init__(self, painter: Painter, of: PlaneLayout, device: Device) -> None:
        self._device = device
        self._whole = self._stale = damage.whole(Region(0, 0, of.width, of.height))
        self._queued: deque[tuple[av.VideoFrame, int]] = deque()
        self._planes = Nv12Targets(painter, of)
        try:
            device.share(self._planes.textures)
        except InteropFailed:
            self._planes.release()
            raise

    def put(
        self, frame: Target, changed: Damage, into: av.VideoFrame, passthrough: VideoPassthrough | None = None
    ) -> None:
        """Convert a frame that differs from the previous one only in `changed`, and queue its copy.

        With a `passthrough`, only the rectangles drawn over it come from the frame. `into` is complete after `collect`.
        """
        rects: Rects = (self._planes.region,)
        if passthrough is None:
            self._planes.convert(frame, self._stale.union(changed).rects())
            self._stale = damage.nothing(self._whole.frame)
        else:
            for plane, samples in zip(into.planes, passthrough.samples().interleaved(), strict=True):
                self._device.upload(samples, plane.buffer_ptr, plane.line_size)
            rects = self._planes.convert(frame, passthrough.drawn)
            self._stale = self._whole
        self._device.copy([copy for part in rects for copy in _copies(part, into)])
        self._queued.append((into, self._device.mark()))

    def collect(self) -> av.VideoFrame:
        """Wait for the oldest frame and return it."""
        into, mark = self._queued.popleft()
        self._device.wait(mark)
        return into

    def close(self) -> None:
        """Release everything, including frames that were not collected."""
        for _, mark in self._queued:
            with suppress(InteropFailed):
                self._device.wait(mark)
        self._queued.clear()
        try:
            self._device.unshare()
        finally:
            self._planes.release()


def _copies(part: Region, into: av.VideoFrame) -> Iterator[Copy]:
    """Yield the copies of the three planes to their rows: even rows of Y, odd rows of Y, CbCr."""
    luma, chroma = into.planes
    pitch = luma.line_size
    starts = ((luma.buffer_ptr, 2 * pitch), (luma.buffer_ptr + pitch, 2 * pitch), (chroma.buffer_ptr, pitch))
    for number, (start, step) in enumerate(starts):
        if not part.is_empty:
            yield Copy(number, part, start + part.y * step + TEXEL_BYTES * part.x, step)


class Handover:
    """Handover for the segments of one session, one after another. Memory is kept between segments."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._frames: DeviceFrames | None = None

    def frames(self, of: PlaneLayout) -> DeviceFrames:
        """Return the frame pool of the last segment, or a new one for another layout."""
        if self._frames is None or self._frames.layout != of:
            if self._frames is not None:
                self._frames.close()
            self._frames = DeviceFrames(self._device, of)
        return self._frames

    def ring(self, painter: Painter, of: PlaneLayout) -> DeviceRing:
        """Return a ring that fills these frames for one segment. Raises InteropFailed."""
        return DeviceRing(painter, of, self._device)

    def close(self) -> None:
        """Free memory and device. Raises InteropFailed."""
        if self._frames is not None:
            self._frames.close()
        self._device.close()
