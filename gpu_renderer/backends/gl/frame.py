"""A finished frame in a render target."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl.blit import blit
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import ColorManagement


class GlFrame:
    """A target of 8 bits, display-encoded, row 0 on top, updated in parts from frame to frame.

    Opaque, or with `keeps_alpha` straight colour and alpha.
    """

    def __init__(self, painter: Painter, target: Target, *, keeps_alpha: bool = False) -> None:
        self._painter, self.target, self._keeps_alpha = painter, target, keeps_alpha

    @classmethod
    def taken(cls, painter: Painter, region: Region, *, keeps_alpha: bool = False) -> GlFrame:
        """Return a frame in a target of the pool. Call `release` to give it back."""
        return cls(painter, painter.pool.take(region, "f1"), keeps_alpha=keeps_alpha)

    @property
    def region(self) -> Region:
        """Pixels of the frame."""
        return self.target.region

    def encode(self, scene: Target, color: ColorManagement, rects: Rects, *, is_opaque: bool, pending: Rects) -> None:
        """Display-encode parts of the linear scene. Arguments as for `blit`."""
        keeps_alpha = self._keeps_alpha
        blit(
            self._painter, scene, self.target, color, rects,
            is_opaque=is_opaque, pending=pending, keeps_alpha=keeps_alpha,
        )  # fmt: skip

    def read(self) -> npt.NDArray[np.uint8]:
        """Return the pixels, shape (rows, columns, 4), valid until the next change."""
        pixels = self.target.framebuffer.read(components=4, alignment=1)
        return np.frombuffer(pixels, np.uint8).reshape(self.region.height, self.region.width, 4)

    def release(self) -> None:
        """Give the target back."""
        self._painter.pool.give_back(self.target)
