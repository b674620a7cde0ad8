"""Frames for the pipeline that need no document: a disc that moves over a gradient."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpu_renderer.painter import Painter
from gpu_renderer.region import Region
from gpu_renderer.targets import Target


class DiscScene:
    """A frame source; the picture changes every `hold_frames` frames."""

    fps = 30.0

    def __init__(self, painter: Painter, width: int, height: int, hold_frames: int = 1) -> None:
        self._painter = painter
        self.width, self.height = width, height
        self._hold_frames = hold_frames
        self.drawn_count = 0

    def evaluated(self, frame_index: int) -> tuple[str, int]:
        step = frame_index // self._hold_frames
        return str(step), step

    def drawn(self, step: int) -> Target:
        self.drawn_count += 1
        target = self._painter.pool.take(Region(0, 0, self.width, self.height), "f1")
        target.texture.write(disc_picture(self.width, self.height, step).tobytes(), alignment=1)
        return target


def disc_picture(width: int, height: int, step: int) -> npt.NDArray[np.uint8]:
    """A green disc 7 px further to the right at each step, over a gradient; uint8 RGBA."""
    y, x = np.mgrid[0:height, 0:width]
    picture = np.zeros((height, width, 4), np.uint8)
    picture[..., 0] = x * 255 // width
    picture[..., 2] = y * 255 // height
    picture[..., 3] = 255
    picture[np.hypot(x - 20 - 7 * step, y - height / 2) < height / 4, 1] = 255
    return picture
