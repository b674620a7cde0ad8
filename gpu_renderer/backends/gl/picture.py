"""A finished frame on the GPU; `host/picture.py` is one in the processor's memory, with the same calls."""

from __future__ import annotations

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl.blit import blit
from gpu_renderer.geometry.region import Parts, Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import ColorManagement


class GpuPicture:
    """8 bits, display-encoded, opaque, row 0 on top; kept from frame to frame, and brought up to date in parts."""

    target_count = 1
    """How many targets of the pool it holds."""

    def __init__(self, painter: Painter, region: Region) -> None:
        self._painter = painter
        self.target = painter.pool.take(region, "f1")

    @property
    def region(self) -> Region:
        """The frame's pixels."""
        return self.target.region

    def encode(
        self,
        scene: Target,
        color: ColorManagement,
        parts: Parts,
        *,
        in_place: bool,
        is_opaque: bool,
        coarse: Parts = (),
    ) -> None:
        """Shows parts of the linear scene, which has the same region; the rest is told by `blit`."""
        blit(self._painter, scene, self.target, color, parts, in_place=in_place, is_opaque=is_opaque, coarse=coarse)

    def copy(self, picture: moderngl.Texture, parts: Parts) -> None:
        """Shows parts of an opaque 8-bit texture of the frame's size as they are."""
        self._painter.copy_picture(picture, self.target, parts)

    def read(self) -> npt.NDArray[np.uint8]:
        """Its pixels: (rows, columns, 4). They hold until the next change."""
        pixels = self.target.framebuffer.read(components=4, alignment=1)
        return np.frombuffer(pixels, np.uint8).reshape(self.region.height, self.region.width, 4)

    def release(self) -> None:
        """Gives back what it holds."""
        self._painter.pool.give_back(self.target)
