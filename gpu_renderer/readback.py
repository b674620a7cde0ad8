"""Bringing converted frames from the GPU into an encoder's memory without waiting for the one just drawn.

A ring of `depth` slots, each with its own plane targets. `put` converts a frame into the next slot; the slot is read when
`depth - 1` younger frames have been put, so that drawing goes on meanwhile. On hardware the copy into a pixel buffer is
asked for at once and collected later; a software rasteriser copies synchronously, so there only the asking is late.

Only what changed is converted and read: each slot and each encoder frame remembers what is stale in it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import av
import moderngl
import numpy as np

from gpu_renderer import area
from gpu_renderer.area import Area
from gpu_renderer.painter import Painter
from gpu_renderer.planes import PlaneLayout, Planes, Underlay
from gpu_renderer.region import Region
from gpu_renderer.targets import Target


@dataclass(slots=True)
class _Slot:
    planes: Planes
    buffers: tuple[moderngl.Buffer, ...] | None
    """One for each attachment of the planes, where copies into them are asked for ahead."""
    stale: Area


@dataclass(frozen=True, slots=True)
class _Asked:
    slot: _Slot
    into: av.VideoFrame
    first_row: int
    row_count: int
    """Rows of each attachment: of the CbCr plane, of which the Y plane has twice as many."""


class ReadbackRing:
    """Frames on their way back, oldest first; at most `depth` of them. The frames given must have the ring's layout."""

    def __init__(
        self, painter: Painter, layout: PlaneLayout, depth: int, *, pixel_buffers: bool, changes_only: bool = True
    ) -> None:
        assert depth >= 1, "a ring has at least one slot"
        self._layout, self._changes_only = layout, changes_only
        self._whole = area.whole(Region(0, 0, layout.width, layout.height))
        self._nothing = area.nothing(self._whole.frame)
        self._slots = [_slot(painter, layout, pixel_buffers, self._whole) for _ in range(depth)]
        self._free = deque(self._slots)
        self._asked: deque[_Asked] = deque()
        self._stale: dict[int, Region] = {}
        self._scratch = memoryview(bytearray(layout.stride_bytes * (layout.coded_height // 2)))

    def __len__(self) -> int:
        return len(self._asked)

    def holds(self, frame: av.VideoFrame) -> bool:
        """Whether the frame is still on its way."""
        return any(frame is asked.into for asked in self._asked)

    def put(self, picture: Target, changed: Area, into: av.VideoFrame, underlay: Underlay | None = None) -> None:
        """Converts a picture that differs from the one put before only in `changed`, and asks for its planes.

        Over an `underlay` only what is drawn there of the picture counts.
        Their samples are in `into` once `collect` has returned it.
        """
        self._mark_stale(changed if self._changes_only else self._whole)
        slot = self._free.popleft()
        if underlay is not None:
            slot.planes.load(underlay.samples())
        slot.planes.convert(picture, slot.stale.parts() if underlay is None else underlay.drawn)
        slot.stale = self._nothing
        asked = self._request(slot, into)
        for attachment, buffer in enumerate(slot.buffers or ()):
            _read(asked, attachment, buffer)
        self._asked.append(asked)

    def collect(self) -> av.VideoFrame:
        """The oldest frame put, complete. Waits for the GPU where it has not got that far."""
        asked = self._asked.popleft()
        if asked.row_count:
            self._fill(asked)
        self._free.append(asked.slot)
        return asked.into

    def close(self) -> None:
        """Gives every slot back, also those not collected."""
        for slot in self._slots:
            slot.planes.release()
            for buffer in slot.buffers or ():
                buffer.release()
        self._slots.clear()
        self._free.clear()
        self._asked.clear()

    def _mark_stale(self, changed: Area) -> None:
        for slot in self._slots:
            slot.stale = slot.stale.union(changed)
        self._stale = {key: stale.union(changed.bounds) for key, stale in self._stale.items()}

    def _request(self, slot: _Slot, into: av.VideoFrame) -> _Asked:
        stale = self._stale.get(id(into), self._whole.bounds)
        self._stale[id(into)] = self._nothing.bounds
        first_row = max(0, stale.y // 2)
        last_row = min(-(-stale.bottom // 2), self._layout.coded_height // 2)
        return _Asked(slot, into, first_row, max(0, last_row - first_row))

    def _fill(self, asked: _Asked) -> None:
        """Writes the rows asked for into the encoder frame's own memory; even and odd rows of Y lie apart on the GPU."""
        stride = self._layout.stride_bytes
        luma, chroma = asked.into.planes
        start, end = asked.first_row * stride, (asked.first_row + asked.row_count) * stride
        rows = np.frombuffer(luma, np.uint8)[2 * start : 2 * end].reshape(asked.row_count, 2, stride)
        scratch = self._scratch[: end - start]
        for parity in (0, 1):
            _bring(asked, parity, scratch)
            rows[:, parity] = np.frombuffer(scratch, np.uint8).reshape(asked.row_count, stride)
        _bring(asked, 2, memoryview(chroma)[start:end])


def _bring(asked: _Asked, attachment: int, into: memoryview) -> None:
    if asked.slot.buffers is None:
        _read(asked, attachment, into)
    else:
        asked.slot.buffers[attachment].read_into(into, size=len(into))


def _read(asked: _Asked, attachment: int, into: moderngl.Buffer | memoryview) -> None:
    framebuffer = asked.slot.planes.framebuffer
    viewport = (0, asked.first_row, framebuffer.width, asked.row_count)
    framebuffer.read_into(into, viewport, components=4, attachment=attachment)


def _slot(painter: Painter, layout: PlaneLayout, pixel_buffers: bool, stale: Area) -> _Slot:
    planes = Planes(painter, layout)
    if not pixel_buffers:
        return _Slot(planes, None, stale)
    size = layout.stride_bytes * (layout.coded_height // 2)
    return _Slot(planes, tuple(painter.context.buffer(reserve=size) for _ in range(3)), stale)
