"""Copy converted frames into a device's frames: the counterpart of `readback.py` for GPU encoders.

Copying the planes on the device takes a few microseconds a frame, so every frame is copied whole. Only a video that
fills the frame comes from main memory, because it was decoded there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress

import av

from gpu_renderer.backends.gl.frame import GlFrame
from gpu_renderer.backends.gl.interop.device import Copy, Device, InteropFailed
from gpu_renderer.backends.gl.nv12 import Nv12Targets
from gpu_renderer.encode.planes import PlaneLayout, VideoPassthrough, texels_of
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target


class DeviceRing:
    """Frames in flight, oldest first, with the interface of `ReadbackRing`. All calls raise InteropFailed."""

    def __init__(self, painter: Painter, of: PlaneLayout, device: Device) -> None:
        self._device = device
        self._whole = damage.whole(Region(0, 0, of.width, of.height))
        self._nothing = damage.nothing(self._whole.frame)
        self._stale = self._whole
        self._asked: deque[tuple[av.VideoFrame, int]] = deque()
        self._planes = Nv12Targets(painter, of)
        try:
            self._textures = device.shared(self._planes.textures)
        except InteropFailed:
            self._planes.release()
            raise

    def __len__(self) -> int:
        return len(self._asked)

    def holds(self, frame: av.VideoFrame) -> bool:
        """Return True if the frame is in flight."""
        return any(frame is into for into, _ in self._asked)

    def put(
        self, frame: GlFrame, changed: Damage, into: av.VideoFrame, passthrough: VideoPassthrough | None = None
    ) -> None:
        """Convert a frame that differs from the previous one only in `changed`, and queue its copy.

        With a `passthrough` only the rectangles drawn over it are taken from the frame. `into` is complete after
        `collect`.
        """
        self._stale = self._stale.union(changed)
        rects = self._drawn(frame.target) if passthrough is None else self._over(passthrough, frame.target, into)
        self._textures.copy([copy for part in rects for copy in _copies(part, into)])
        self._asked.append((into, self._device.mark()))

    def collect(self) -> av.VideoFrame:
        """Return the oldest frame when it is complete."""
        into, mark = self._asked.popleft()
        self._device.wait(mark)
        return into

    def close(self) -> None:
        """Release everything, including frames that were not collected."""
        for _, mark in self._asked:
            with suppress(InteropFailed):
                self._device.wait(mark)
        self._asked.clear()
        try:
            self._textures.release()
        finally:
            self._planes.release()

    def _drawn(self, picture: Target) -> Rects:
        """Return the texels to copy: all of them."""
        self._planes.convert(picture, self._stale.rects())
        self._stale = self._nothing
        return (self._planes.region,)

    def _over(self, passthrough: VideoPassthrough, picture: Target, into: av.VideoFrame) -> Rects:
        """Upload the video's own samples, and return the texels drawn over the video."""
        for plane, samples in zip(into.planes, passthrough.samples().interleaved(), strict=True):
            self._device.upload(samples, plane.buffer_ptr, plane.line_size)
        self._planes.convert(picture, passthrough.drawn)
        self._stale = self._whole
        return tuple(texels_of(part).intersection(self._planes.region) for part in passthrough.drawn)


def _copies(part: Region, into: av.VideoFrame) -> Iterator[Copy]:
    """Yield the copies of the three planes to their rows: even rows of Y, odd rows of Y, CbCr."""
    luma, chroma = into.planes
    pitch = luma.line_size
    starts = ((luma.buffer_ptr, 2 * pitch), (luma.buffer_ptr + pitch, 2 * pitch), (chroma.buffer_ptr, pitch))
    for number, (start, step) in enumerate(starts):
        if not part.is_empty:
            yield Copy(number, part, start + part.y * step + 4 * part.x, step)
