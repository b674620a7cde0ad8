"""OpenGL compositor: draw into a linear scene target and display-encode it into the frame.

The scene is also the lower part of the CPU backend's frames. Two caches feed it: the stable operations at the bottom of
a list as one target, and the pixels of an opaque video base.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_renderer.backends.compositor import BackendName
from gpu_renderer.backends.gl.drawing import ListDrawing
from gpu_renderer.backends.gl.frame import GlFrame
from gpu_renderer.display_list import background, blending
from gpu_renderer.display_list.operations import DisplayList, DrawQuad, DrawVideo
from gpu_renderer.display_list.paint import Image, placed_quad
from gpu_renderer.display_list.video_base import layers_above, surroundings
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region, around, pixels
from gpu_renderer.opengl.targets import Format, Target

DRAWN_SHARE_MAX = 0.6
"""Share of the frame above which the whole frame is drawn over a video base."""


class GlScene:
    """Linear scene of one sequence of frames, drawn with OpenGL."""

    def __init__(self, drawing: ListDrawing) -> None:
        self._drawing, self._painter = drawing, drawing.painter
        self._prefix = StaticPrefix(drawing)
        self._video: Target | None = None
        self._target: Target | None = None

    def prefix_count(self, display_list: DisplayList) -> int:
        """Return the number of operations at the bottom of a list that are cached as pixels."""
        return self._prefix.count(display_list)

    def fitted(self, frame: Region, format: Format) -> Target:
        """Return the scene's target. Its content is undefined after a change of size or format."""
        if self._target is not None and (self._target.region, self._target.format) != (frame, format):
            self.release()
        if self._target is None:
            self._target = self._painter.pool.take(frame, format, clear=False)
        return self._target

    def draw(self, display_list: DisplayList, scene: Target, rects: Rects, stable_count: int) -> Rects:
        """Draw the list over parts of the scene, and return the parts still to be quantised."""
        video = display_list.video
        if video is not None:
            return self._drawing.draw_pending(self._with_video(display_list, video, rects), scene, rects)
        self._prefix.update(display_list, stable_count, scene)
        rest = self._prefix.restore(display_list, scene, rects)
        if rest is display_list and not background.fills(display_list, scene.region):
            self._painter.erase(scene, rects)
        return self._drawing.draw_pending(rest, scene, rects)

    def release(self) -> None:
        """Give all targets back."""
        self._prefix.forget()
        self._painter.pool.give_back(self._video, self._target)
        self._video = self._target = None

    def _with_video(self, display_list: DisplayList, video: DrawVideo, rects: Rects) -> DisplayList:
        """Return the list with the base as an image whose parts are up to date, if the video has the frame's size."""
        bare = replace(display_list, background=None, background_paint=None)
        frame, box = display_list.scene.frame, around(rects)
        if not video.is_own_size or box.is_empty:
            return bare
        if self._video is None:
            self._video = self._painter.pool.take(frame, "f1", clear=False)
        self._video.texture.write(np.ascontiguousarray(video.shown.pixels_of(box)), viewport=(*box,), alignment=1)
        image = Image(self._video, frame.width, frame.height, is_opaque=True)
        quad = matrix.product(matrix.translation(frame.x, frame.y), matrix.scaling(frame.width, frame.height))
        layer = replace(video.layer, paint=image, placed=placed_quad(image, quad, frame))
        return replace(bare, operations=(DrawQuad(layer, frame), *display_list.operations[1:]))


class StaticPrefix:
    """Cache of the stable operations at the bottom of the lists of one sequence of frames, as one target."""

    def __init__(self, drawing: ListDrawing) -> None:
        self._drawing, self._pool = drawing, drawing.painter.pool
        self._list: DisplayList | None = None
        self._target: Target | None = None

    def count(self, display_list: DisplayList) -> int:
        """Return the number of cached operations at the bottom of the list."""
        cached = self._list
        if cached is None or display_list.base != cached.base:
            return 0
        count = len(cached.operations)
        return count if display_list.operations[:count] == cached.operations else 0

    def update(self, display_list: DisplayList, stable_count: int, like: Target) -> None:
        """Forget a prefix that changed, and draw the operations that have become stable.

        A plain background alone is not cached.
        """
        count = self.count(display_list)
        if count == 0:
            self.forget()
        if stable_count <= count:
            return
        first = replace(display_list, operations=display_list.operations[:stable_count])
        if self._target is None:
            self._target = self._pool.take(like.region, like.format)
        self._drawing.draw(_after(first, count), self._target, (like.region,))
        self._list = first

    def restore(self, display_list: DisplayList, into: Target, rects: Rects) -> DisplayList:
        """Copy the prefix into the parts and return the remaining list: the whole list without a prefix."""
        count = self.count(display_list)
        if count == 0 or self._target is None:
            return display_list
        self._drawing.painter.restore(self._target, into, rects)
        return _after(display_list, count)

    def forget(self) -> None:
        """Give the target back."""
        self._pool.give_back(self._target)
        self._list = self._target = None


def _after(display_list: DisplayList, count: int) -> DisplayList:
    """Return the list without its first operations and, if there are any, without what lies below them."""
    if count == 0:
        return display_list
    return replace(display_list, operations=display_list.operations[count:], background=None, background_paint=None)


class GlCompositor:
    """Compositor of all operations with OpenGL."""

    name: BackendName = "gl"

    def __init__(self, drawing: ListDrawing, *, keeps_alpha: bool = False) -> None:
        self._painter, self._keeps_alpha = drawing.painter, keeps_alpha
        self._scene = GlScene(drawing)
        self._frame: GlFrame | None = None

    def prefix_count(self, display_list: DisplayList) -> int:
        """Return the number of operations at the bottom of a list that are cached as pixels."""
        return self._scene.prefix_count(display_list)

    def composite(self, display_list: DisplayList, damage: Damage, stable_count: int) -> GlFrame:
        """Bring the frame up to date within the damage; see `Compositor`."""
        region, video = display_list.scene.frame, display_list.video
        frame = self._fitted(region)
        rects = damage.rects() if video is None else _needed(display_list, video)
        if rects:
            scene = self._scene.fitted(region, scene_format(display_list))
            pending = self._scene.draw(display_list, scene, rects, stable_count)
            is_opaque = blending.is_opaque(display_list, scene.region)
            frame.encode(scene, display_list.scene.color, rects, is_opaque=is_opaque, pending=pending)
        return frame

    def release(self) -> None:
        """Give all targets back."""
        self._scene.release()
        if self._frame is not None:
            self._frame.release()
            self._frame = None

    def _fitted(self, region: Region) -> GlFrame:
        if self._frame is not None and self._frame.region == region:
            return self._frame
        if self._frame is not None:
            self._frame.release()
        self._frame = GlFrame(self._painter, self._painter.pool.take(region, "f1"), keeps_alpha=self._keeps_alpha)
        return self._frame


def scene_format(display_list: DisplayList) -> Format:
    """Return the format of the linear scene: half floats, or floats at 32 bits per channel."""
    return "f4" if display_list.scene.color.bit_depth == 32 else "f2"


def _needed(display_list: DisplayList, video: DrawVideo) -> Rects:
    """Return the parts of the frame to composite. Elsewhere an encoder uses the video's own samples, if it can."""
    frame = display_list.scene.frame
    rects = surroundings(frame, layers_above(display_list))
    return rects if video.is_own_size and pixels(rects) <= DRAWN_SHARE_MAX * pixels((frame,)) else (frame,)
