"""Handover of frames from the GPU to its encoder: a device, and memory that is kept between segments."""

from __future__ import annotations

from gpu_renderer.backends.gl.interop.device import Device
from gpu_renderer.backends.gl.interop.frames import DeviceFrames
from gpu_renderer.backends.gl.interop.ring import DeviceRing
from gpu_renderer.encode.planes import PlaneLayout
from gpu_renderer.opengl.painter import Painter


class Handover:
    """Handover for the segments of one session, one after another."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._frames: DeviceFrames | None = None

    def frames(self, of: PlaneLayout) -> DeviceFrames:
        """Return the frame pool of the last segment, or a new one for another layout."""
        if self._frames is None or self._frames.layout != of:
            self._release()
            self._frames = DeviceFrames(self._device, of)
        return self._frames

    def ring(self, painter: Painter, of: PlaneLayout) -> DeviceRing:
        """Return a ring into such frames for one segment. Raises InteropFailed."""
        return DeviceRing(painter, of, self._device)

    def close(self) -> None:
        """Free memory and device. Raises InteropFailed."""
        self._release()
        self._device.close()

    def _release(self) -> None:
        if self._frames is not None:
            self._frames.close()
            self._frames = None
