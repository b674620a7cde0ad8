"""OpenGL compositor: draw into a linear scene target and display-encode it into the frame."""

from __future__ import annotations

from gpu_renderer.backends.compositor import BackendName
from gpu_renderer.backends.gl import video_target
from gpu_renderer.backends.gl.drawing import ListDrawing
from gpu_renderer.backends.gl.frame import GlFrame
from gpu_renderer.backends.gl.prefix import StaticPrefix
from gpu_renderer.backends.gl.video_target import VideoTarget
from gpu_renderer.display_list import blending
from gpu_renderer.display_list.operations import DisplayList
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.opengl.targets import Format, Target


class GlScene:
    """Linear scene of one sequence of frames, drawn with OpenGL."""

    def __init__(self, drawing: ListDrawing) -> None:
        self._drawing, self._painter = drawing, drawing.painter
        self._prefix = StaticPrefix(drawing.painter)
        self._video = VideoTarget(drawing.painter)
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
            return self._drawing.draw_pending(self._video.with_video(display_list, video, rects), scene, rects)
        self._prefix.update(display_list, stable_count, scene, self._drawing.draw)
        rest = self._prefix.restore(display_list, scene, rects)
        if rest is display_list and not display_list.fills(scene.region):
            self._painter.erase(scene, rects)
        return self._drawing.draw_pending(rest, scene, rects)

    def release(self) -> None:
        """Give all targets back."""
        self._prefix.forget()
        self._video.forget()
        self._painter.pool.give_back(self._target)
        self._target = None


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
        frame = self._fitted(display_list.scene.frame)
        video = display_list.video
        rects = damage.rects() if video is None else video_target.needed(display_list, video)
        if rects:
            scene = self._scene.fitted(display_list.scene.frame, scene_format(display_list))
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
        if self._frame is not None and self._frame.region != region:
            self._frame.release()
            self._frame = None
        if self._frame is None:
            self._frame = GlFrame.taken(self._painter, region, keeps_alpha=self._keeps_alpha)
        return self._frame


def scene_format(display_list: DisplayList) -> Format:
    """Return the format of the linear scene: half floats, or floats at 32 bits per channel."""
    return "f4" if display_list.scene.color.bit_depth == 32 else "f2"
