"""Read converted frames back into an encoder's memory without waiting for the frame just drawn.

A ring of `depth` slots, each with its own plane targets. `put` converts a frame into the next slot. The slot is read
when `depth - 1` later frames have been put, so that drawing continues meanwhile. On hardware the copy into a pixel
buffer is queued at once and collected later; a software rasteriser copies synchronously when the slot is read.

Each slot and each encoder frame remembers its stale rectangles, and only those are converted and read. The samples of a
video that fills the frame never go to the GPU: only the rectangles drawn over them are read back.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import av
import moderngl
import numpy as np

from gpu_renderer.backends.gl.frame import GlFrame
from gpu_renderer.backends.gl.nv12 import Nv12Targets
from gpu_renderer.encode.planes import PlaneLayout, VideoPassthrough, rows_of, texels_of
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region, around
from gpu_renderer.geometry.samples import Rows
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

TEXEL_BYTES = 4
"""Bytes per texel of the planes' targets."""


@dataclass(slots=True)
class _Slot:
    planes: Nv12Targets
    buffers: tuple[moderngl.Buffer, ...] | None
    """One pixel buffer for each attachment of the planes, if copies are queued ahead."""
    stale: Damage


@dataclass(frozen=True, slots=True)
class _Asked:
    slot: _Slot
    into: av.VideoFrame
    box: Region
    """Texels of each attachment to read."""
    rects: Rects
    """Texels of the box that belong to the frame."""
    fence: int | None = None
    """Fence behind the copies into the slot's buffers."""


class ReadbackRing:
    """At most `depth` frames in flight, oldest first. All frames must have the ring's layout."""

    def __init__(self, painter: Painter, layout: PlaneLayout, depth: int, *, pixel_buffers: bool) -> None:
        assert depth >= 1, "a ring has at least one slot"
        self._painter, self._layout = painter, layout
        self._whole = damage.whole(Region(0, 0, layout.width, layout.height))
        self._nothing = damage.nothing(self._whole.frame)
        self._slots = [_slot(painter, layout, pixel_buffers, self._whole) for _ in range(depth)]
        self._free = deque(self._slots)
        self._asked: deque[_Asked] = deque()
        self._stale: dict[int, Region] = {}
        self._scratch = memoryview(bytearray(layout.stride_bytes * (layout.coded_height // 2)))

    def __len__(self) -> int:
        return len(self._asked)

    def holds(self, frame: av.VideoFrame) -> bool:
        """Return True if the frame is in flight."""
        return any(frame is asked.into for asked in self._asked)

    def put(
        self, frame: GlFrame, changed: Damage, into: av.VideoFrame, passthrough: VideoPassthrough | None = None
    ) -> None:
        """Convert a frame that differs from the previous one only in `changed`, and queue the copy of its planes.

        With a `passthrough` only the rectangles drawn over it are taken from the frame. The samples are in `into` after
        `collect`.
        """
        self._mark_stale(changed)
        slot = self._free.popleft()
        asked = (
            self._drawn(slot, frame.target, into)
            if passthrough is None
            else self._over(passthrough, slot, frame.target, into)
        )
        self._stale[id(into)] = self._nothing.bounds
        if slot.buffers is not None and not asked.box.is_empty:
            for attachment, buffer in enumerate(slot.buffers):
                asked.slot.planes.framebuffer.read_into(buffer, asked.box, components=4, attachment=attachment)
            asked = replace(asked, fence=self._painter.calls.fence())
        self._asked.append(asked)

    def collect(self) -> av.VideoFrame:
        """Return the oldest frame when it is complete."""
        asked = self._asked.popleft()
        self._wait_for(asked)
        if not asked.box.is_empty:
            self._fill(asked)
        self._free.append(asked.slot)
        return asked.into

    def close(self) -> None:
        """Release all slots, including those not collected."""
        for asked in self._asked:
            self._wait_for(asked)
        for slot in self._slots:
            slot.planes.release()
            for buffer in slot.buffers or ():
                buffer.release()
        self._slots.clear()
        self._free.clear()
        self._asked.clear()

    def _wait_for(self, asked: _Asked) -> None:
        if asked.fence is None:
            self._painter.finish()
        else:
            self._painter.calls.wait_for(asked.fence)

    def _mark_stale(self, changed: Damage) -> None:
        for slot in self._slots:
            slot.stale = slot.stale.union(changed)
        self._stale = {key: stale.union(changed.bounds) for key, stale in self._stale.items()}

    def _drawn(self, slot: _Slot, picture: Target, into: av.VideoFrame) -> _Asked:
        """Return whole rows around the stale rectangles of the encoder's frame."""
        slot.planes.convert(picture, slot.stale.rects())
        slot.stale = self._nothing
        stale, texels = self._stale.get(id(into), self._whole.bounds), slot.planes.region
        top, bottom = stale.y // 2, -(-stale.bottom // 2)
        rows = Region(0, top, texels.width, bottom - top).intersection(texels)
        return _Asked(slot, into, rows, (rows,))

    def _over(self, passthrough: VideoPassthrough, slot: _Slot, picture: Target, into: av.VideoFrame) -> _Asked:
        """Copy the video's own samples, and return the texels drawn over the video."""
        passthrough.copy_samples(into, self._layout)
        slot.planes.convert(picture, passthrough.drawn)
        slot.stale = self._whole
        rects = tuple(texels_of(part).intersection(slot.planes.region) for part in passthrough.drawn)
        return _Asked(slot, into, around(rects), rects)

    def _fill(self, asked: _Asked) -> None:
        """Write the copied texels into the encoder frame's memory."""
        slot = asked.slot
        for attachment, rows in enumerate(rows_of(asked.into, self._layout)):
            if slot.buffers is not None:
                self._copy(asked, slot.buffers[attachment], rows)
                continue
            for part in asked.rects:
                start = rows[part.y :, TEXEL_BYTES * part.x :]
                self._painter.calls.read_texels(
                    slot.planes.textures[attachment], part, start.ctypes.data, start.strides[0]
                )

    def _copy(self, asked: _Asked, buffer: moderngl.Buffer, rows: Rows) -> None:
        """Copy the rectangles from a pixel buffer that holds the box around them."""
        left, top, width, height = asked.box
        scratch = self._scratch[: TEXEL_BYTES * width * height]
        buffer.read_into(scratch, size=len(scratch))
        samples = np.frombuffer(scratch, np.uint8).reshape(height, TEXEL_BYTES * width)
        for part in asked.rects:
            columns = slice(TEXEL_BYTES * part.x, TEXEL_BYTES * part.right)
            held = slice(TEXEL_BYTES * (part.x - left), TEXEL_BYTES * (part.right - left))
            rows[part.y : part.bottom, columns] = samples[part.y - top : part.bottom - top, held]


def _slot(painter: Painter, layout: PlaneLayout, pixel_buffers: bool, stale: Damage) -> _Slot:
    planes = Nv12Targets(painter, layout)
    if not pixel_buffers:
        return _Slot(planes, None, stale)
    size = layout.stride_bytes * (layout.coded_height // 2)
    return _Slot(planes, tuple(painter.context.buffer(reserve=size) for _ in range(3)), stale)
