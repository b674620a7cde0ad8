"""Frames for the pipeline without a document: a disc that moves over a gradient."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.compositor import BackendName, RenderedFrame
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter


class DiscScene:
    """Frame source whose picture changes every `hold_frames` frames. It reports the damage."""

    fps = 30.0
    backend: BackendName = "gl"

    def __init__(self, painter: Painter, width: int, height: int, hold_frames: int = 1) -> None:
        self.width, self.height = width, height
        self._hold_frames = hold_frames
        self._painter = painter
        self._frame = painter.pool.take(Region(0, 0, width, height), "f1")
        self._last: npt.NDArray[np.uint8] | None = None
        self.drawn_count = 0

    def evaluate(self, frame_index: int) -> int:
        return frame_index // self._hold_frames

    def draw(self, step: int) -> RenderedFrame:
        self.drawn_count += 1
        pixels = disc_picture(self.width, self.height, step)
        changed = _difference(pixels, self._last)
        self._last = pixels
        self._frame.texture.write(pixels.tobytes(), alignment=1)
        return RenderedFrame(self._frame, changed)

    def close(self) -> None:
        self._painter.pool.give_back(self._frame)


def _difference(new: npt.NDArray[np.uint8], old: npt.NDArray[np.uint8] | None) -> Damage:
    frame = Region(0, 0, new.shape[1], new.shape[0])
    if old is None:
        return damage.whole(frame)
    rows, columns = np.nonzero((new != old).any(axis=2))
    if rows.size == 0:
        return damage.nothing(frame)
    left, top = int(columns.min()), int(rows.min())
    return damage.area(frame, (Region(left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top),))


def disc_picture(width: int, height: int, step: int) -> npt.NDArray[np.uint8]:
    """Return a green disc over a gradient, 7 px further to the right at each step; uint8 RGBA."""
    y, x = np.mgrid[0:height, 0:width]
    picture = np.zeros((height, width, 4), np.uint8)
    picture[..., 0] = x * 255 // width
    picture[..., 2] = y * 255 // height
    picture[..., 3] = 255
    picture[np.hypot(x - 20 - 7 * step, y - height / 2) < height / 4, 1] = 255
    return picture
