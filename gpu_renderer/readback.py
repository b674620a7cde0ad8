"""Bringing converted frames from the GPU into an encoder's memory without waiting for the one just drawn.

A ring of `depth` slots, each with its own plane targets. `put` converts a frame into the next slot; the slot is read when
`depth - 1` younger frames have been put, so that drawing goes on meanwhile. On hardware the copy into a pixel buffer is
asked for at once and collected later; a software rasteriser copies synchronously, so there only the asking is late.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import av
import moderngl

from gpu_renderer.painter import Painter
from gpu_renderer.planes import PlaneLayout, Planes
from gpu_renderer.targets import Target


@dataclass(slots=True)
class _Slot:
    planes: Planes
    buffers: tuple[moderngl.Buffer, moderngl.Buffer] | None


class ReadbackRing:
    """Frames on their way back, oldest first; at most `depth` of them. The frames given must have the ring's layout."""

    def __init__(self, painter: Painter, layout: PlaneLayout, depth: int, *, pixel_buffers: bool) -> None:
        assert depth >= 1, "a ring has at least one slot"
        self._context = painter.context
        self._free = [_slot(painter, layout, pixel_buffers) for _ in range(depth)]
        self._asked: deque[tuple[_Slot, av.VideoFrame]] = deque()

    def __len__(self) -> int:
        return len(self._asked)

    def holds(self, frame: av.VideoFrame) -> bool:
        """Whether the frame is still on its way."""
        return any(frame is asked for _, asked in self._asked)

    def put(self, frame: Target, into: av.VideoFrame) -> None:
        """Converts a frame and asks for its planes; their samples are in `into` once `collect` has returned it."""
        slot = self._free.pop()
        slot.planes.convert(frame)
        if slot.buffers is not None:
            slot.planes.luma.framebuffer.read_into(slot.buffers[0], components=4)
            slot.planes.chroma.framebuffer.read_into(slot.buffers[1], components=4)
        self._asked.append((slot, into))

    def collect(self) -> av.VideoFrame:
        """The oldest frame put, complete. Waits for the GPU where it has not got that far."""
        slot, frame = self._asked.popleft()
        luma, chroma = frame.planes
        if slot.buffers is not None:
            slot.buffers[0].read_into(memoryview(luma))
            slot.buffers[1].read_into(memoryview(chroma))
        else:
            slot.planes.luma.framebuffer.read_into(memoryview(luma), components=4)
            slot.planes.chroma.framebuffer.read_into(memoryview(chroma), components=4)
        self._free.append(slot)
        return frame

    def close(self) -> None:
        """Gives every slot back, also those not collected."""
        for slot in (*self._free, *(slot for slot, _ in self._asked)):
            slot.planes.release()
            for buffer in slot.buffers or ():
                buffer.release()
        self._free.clear()
        self._asked.clear()


def _slot(painter: Painter, layout: PlaneLayout, pixel_buffers: bool) -> _Slot:
    planes = Planes(painter, layout)
    if not pixel_buffers:
        return _Slot(planes, None)
    luma_bytes = layout.stride_bytes * layout.coded_height
    return _Slot(planes, (painter.context.buffer(reserve=luma_bytes), painter.context.buffer(reserve=luma_bytes // 2)))
