"""Convert finished frames to NV12 and read them into an encoder's memory without stalling the GPU.

One pass writes three 8-bit RGBA targets: even rows of Y, odd rows of Y, rows of CbCr. Their rows have the same bytes as the
rows of an encoder's frame, so 12 bits per pixel are read back.

A ring of `depth` slots, each with its own targets. `put` converts a frame into the next slot. The slot is read when
`depth - 1` later frames have been put, so that drawing continues meanwhile. On hardware the copy into a pixel buffer is
queued at once and collected later; a software rasteriser copies synchronously when the slot is read.

Each slot and each encoder frame records its stale rectangles, and only those are converted and read. The samples of a video
that fills the frame bypass the GPU: only the rectangles drawn over them are read back.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import av
import moderngl
import numpy as np

from gpu_renderer.encode.planes import PlaneLayout, VideoPassthrough, rows_of, texels_of
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region, around
from gpu_renderer.geometry.samples import Rows
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

TEXEL_BYTES = 4
"""Bytes per texel of the planes' targets."""


class Nv12Targets:
    """Targets of one converted frame. Their rows are rows of samples, four bytes per texel."""

    def __init__(self, painter: Painter, of: PlaneLayout) -> None:
        self._painter = painter
        self.region = Region(0, 0, of.stride_bytes // TEXEL_BYTES, of.coded_height // 2)
        """Texels of each target."""
        self._targets = tuple(painter.pool.take(self.region, "f1") for _ in range(3))
        self.textures = tuple(target.texture for target in self._targets)
        """Even rows of Y, odd rows of Y, and CbCr: the attachments of the framebuffer."""
        self.framebuffer = painter.context.framebuffer(self.textures)

    def convert(self, frame: Target, rects: Rects) -> Rects:
        """Convert parts of a display-encoded, opaque 8-bit frame. Return the regions of the written texels."""
        into, texels = self._targets[0].through(self.framebuffer), tuple(map(texels_of, rects))
        self._painter.draw("convert/nv12.frag", into, textures={"u_source": frame}, scissor=texels)
        return tuple(part.intersection(self.region) for part in texels)

    def release(self) -> None:
        """Release the targets to the pool."""
        self._painter.pool.bind_lasting()
        self.framebuffer.release()
        self._painter.pool.give_back(*self._targets)


@dataclass(slots=True)
class _Slot:
    planes: Nv12Targets
    buffers: tuple[moderngl.Buffer, ...] | None
    """One pixel buffer for each attachment of the planes, if copies are queued ahead."""
    stale: Damage


@dataclass(frozen=True, slots=True)
class _QueuedRead:
    slot: _Slot
    into: av.VideoFrame
    box: Region
    """Texels of each attachment to read."""
    rects: Rects
    """Texels of the box that belong to the frame."""
    fence: int | None
    """Fence after the copies into the slot's buffers."""


class ReadbackRing:
    """At most `depth` frames in flight, oldest first. All frames must have the ring's layout."""

    def __init__(self, painter: Painter, layout: PlaneLayout, depth: int, *, pixel_buffers: bool) -> None:
        assert depth >= 1, "a ring has at least one slot"
        self._painter, self._layout = painter, layout
        self._whole = damage.whole(Region(0, 0, layout.width, layout.height))
        self._nothing = damage.nothing(self._whole.frame)
        plane_bytes = layout.stride_bytes * (layout.coded_height // 2)
        self._slots: list[_Slot] = []
        for _ in range(depth):
            planes = Nv12Targets(painter, layout)
            buffers = tuple(painter.context.buffer(reserve=plane_bytes) for _ in range(3)) if pixel_buffers else None
            self._slots.append(_Slot(planes, buffers, self._whole))
        self._free = deque(self._slots)
        self._queued: deque[_QueuedRead] = deque()
        self._stale: dict[int, Region] = {}
        self._scratch = memoryview(bytearray(plane_bytes))

    def put(
        self, frame: Target, changed: Damage, into: av.VideoFrame, passthrough: VideoPassthrough | None = None
    ) -> None:
        """Convert a frame that differs from the previous one only in `changed`, and queue the copy of its planes.

        With a `passthrough`, only the rectangles drawn over it come from the frame. `into` is complete after `collect`.
        """
        for each in self._slots:
            each.stale = each.stale.union(changed)
        self._stale = {key: stale.union(changed.bounds) for key, stale in self._stale.items()}
        slot, fence = self._free.popleft(), None
        if passthrough is None:
            slot.planes.convert(frame, slot.stale.rects())
            slot.stale = self._nothing
            stale, texels = self._stale.get(id(into), self._whole.bounds), slot.planes.region
            # whole rows around the stale rectangles of the encoder's frame
            top, bottom = stale.y // 2, -(-stale.bottom // 2)
            rects: Rects = (Region(0, top, texels.width, bottom - top).intersection(texels),)
        else:
            passthrough.copy_samples(into, self._layout)
            rects = slot.planes.convert(frame, passthrough.drawn)
            slot.stale = self._whole
        self._stale[id(into)] = self._nothing.bounds
        box = around(rects)
        if slot.buffers is not None and not box.is_empty:
            for attachment, buffer in enumerate(slot.buffers):
                slot.planes.framebuffer.read_into(buffer, box, components=4, attachment=attachment)
            fence = self._painter.calls.fence()
        self._queued.append(_QueuedRead(slot, into, box, rects, fence))

    def collect(self) -> av.VideoFrame:
        """Wait for the oldest frame and return it."""
        queued = self._queued.popleft()
        self._wait_for(queued)
        if not queued.box.is_empty:
            self._fill(queued)
        self._free.append(queued.slot)
        return queued.into

    def close(self) -> None:
        """Release all slots, including those not collected."""
        for queued in self._queued:
            self._wait_for(queued)
        for slot in self._slots:
            slot.planes.release()
            for buffer in slot.buffers or ():
                buffer.release()
        for collection in (self._slots, self._free, self._queued):
            collection.clear()

    def _wait_for(self, queued: _QueuedRead) -> None:
        if queued.fence is None:
            self._painter.finish()
        else:
            self._painter.calls.wait_for(queued.fence)

    def _fill(self, queued: _QueuedRead) -> None:
        """Write the copied texels into the encoder frame's memory."""
        slot = queued.slot
        for attachment, rows in enumerate(rows_of(queued.into, self._layout)):
            if slot.buffers is not None:
                self._copy(queued, slot.buffers[attachment], rows)
                continue
            for part in queued.rects:
                start = rows[part.y :, TEXEL_BYTES * part.x :]
                self._painter.calls.read_texels(
                    slot.planes.textures[attachment], part, start.ctypes.data, start.strides[0]
                )

    def _copy(self, queued: _QueuedRead, buffer: moderngl.Buffer, rows: Rows) -> None:
        """Copy the rectangles from a pixel buffer that contains their bounding box."""
        left, top, width, height = queued.box
        scratch = self._scratch[: TEXEL_BYTES * width * height]
        buffer.read_into(scratch, size=len(scratch))
        samples = np.frombuffer(scratch, np.uint8).reshape(height, TEXEL_BYTES * width)
        for part in queued.rects:
            columns = slice(TEXEL_BYTES * part.x, TEXEL_BYTES * part.right)
            own_columns = slice(TEXEL_BYTES * (part.x - left), TEXEL_BYTES * (part.right - left))
            rows[part.y : part.bottom, columns] = samples[part.y - top : part.bottom - top, own_columns]
