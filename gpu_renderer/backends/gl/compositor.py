"""OpenGL compositor: draw into the linear scene buffer and display-encode it into the frame.

The scene buffer is also the backdrop of the CPU backend's frames. It has two caches: a target with the stable operations at
the bottom of a list, and the pixels of an opaque video base.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl.drawing import ListDrawing
from gpu_renderer.display_list import routing
from gpu_renderer.display_list.changes import cached_count
from gpu_renderer.display_list.operations import DisplayList, DrawQuad, DrawVideo
from gpu_renderer.display_list.paint import Image, placed_quad
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region, around, pixels, without
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Format, Target
from motion.snapshot import ColorManagement

_DISPLAYS = {"srgb": 0, "aces": 1, "pq": 2, "hlg": 3}
DRAWN_SHARE_MAX = 0.6
"""Damaged share of the frame above which the whole frame is drawn over a video base."""


@dataclass(frozen=True, slots=True)
class KernelBottom:
    """The first operations of a list, which native kernels composite into the target."""

    count: int
    draw: Callable[[Target, Rects], None]
    """Function that draws the operations and the background over parts of a target."""


class SceneBuffer:
    """Linear target of one sequence of frames, drawn with OpenGL (compositing.md 1.3)."""

    def __init__(self, drawing: ListDrawing) -> None:
        self._drawing, self._painter, self._pool = drawing, drawing.painter, drawing.painter.pool
        self._target: Target | None = None
        self._video: Target | None = None
        self._prefix: tuple[DisplayList, Target] | None = None
        """Stable operations at the bottom of the lists, and their pixels."""
        self._bottom_count = 0
        """Operations of the prefix that were not drawn here."""

    def prefix_count(self, display_list: DisplayList) -> int:
        """Return the number of operations at the bottom of a list that are cached as pixels."""
        return cached_count(None if self._prefix is None else self._prefix[0], display_list)

    def fitted(self, frame: Region, format: Format) -> Target:
        """Return the target for a size and format. Its content is undefined after either changes."""
        if self._target is not None and (self._target.region, self._target.format) != (frame, format):
            self.release()
        if self._target is None:
            self._target = self._pool.take(frame, format, clear=False)
        return self._target

    def draw(
        self,
        display_list: DisplayList,
        target: Target,
        rects: Rects,
        stable_count: int,
        bottom: KernelBottom | None = None,
    ) -> Rects:
        """Draw the list over parts of the target, and return the parts still to be quantised."""
        self._pool.renew(target)
        video = display_list.video
        if video is not None:
            return self._drawing.draw_pending(self._with_video(display_list, video, rects), target, rects)
        if bottom is not None and stable_count < bottom.count:
            self._forget_prefix()
            bottom.draw(target, rects)
            return self._drawing.draw_pending(display_list, target, rects, first=bottom.count)
        count = self._update_prefix(display_list, stable_count, target, bottom)
        if count > 0 and self._prefix is not None:
            self._painter.restore(self._prefix[1], target, rects)
        elif not display_list.fills(target.region):
            self._painter.erase(target, rects)
        return self._drawing.draw_pending(display_list, target, rects, first=count)

    def keep_in_memory(self, halves: npt.NDArray[np.uint16]) -> None:
        """Free the target's texture. Restore these half floats before the next drawing."""
        if self._target is not None and self._target.is_made and self._target.texels is None:
            self._pool.keep_in_memory(self._target, halves)

    def release(self) -> None:
        """Release all targets."""
        self._forget_prefix()
        self._pool.give_back(self._video, self._target)
        self._video = self._target = None

    def _update_prefix(
        self, display_list: DisplayList, stable_count: int, like: Target, bottom: KernelBottom | None
    ) -> int:
        """Drop a changed prefix, draw the operations that have become stable, and return their number.

        A plain background alone is not cached.
        """
        bottom_count = 0 if bottom is None else bottom.count
        count = self.prefix_count(display_list) if bottom_count == self._bottom_count else 0
        if count == 0:
            self._forget_prefix()
        if stable_count <= count:
            return count
        first = replace(display_list, operations=display_list.operations[:stable_count])
        target = self._pool.take(like.region, like.format) if self._prefix is None else self._prefix[1]
        if count == 0 and bottom is not None:
            bottom.draw(target, (like.region,))
            count = bottom.count
        self._drawing.draw(first, target, (like.region,), first=count)
        self._prefix, self._bottom_count = (first, target), bottom_count
        return stable_count

    def _forget_prefix(self) -> None:
        if self._prefix is not None:
            self._pool.give_back(self._prefix[1])
            self._prefix = None

    def _with_video(self, display_list: DisplayList, video: DrawVideo, rects: Rects) -> DisplayList:
        """Return the list with the video base replaced by a current image, if the video has the frame's size."""
        bare = replace(display_list, background=None, background_paint=None)
        frame, box = display_list.scene.frame, around(rects)
        if not video.is_own_size or box.is_empty:
            return bare
        if self._video is None:
            self._video = self._pool.take(frame, "f1", clear=False)
        self._video.texture.write(np.ascontiguousarray(video.shown.pixels_of(box)), viewport=(*box,), alignment=1)
        image = Image(self._video, frame.width, frame.height, is_opaque=True)
        quad = matrix.product(matrix.translation(frame.x, frame.y), matrix.scaling(frame.width, frame.height))
        layer = replace(video.layer, paint=image, placed=placed_quad(image, quad, frame))
        return replace(bare, operations=(DrawQuad(layer, frame), *display_list.operations[1:]))


class GlCompositor:
    """Compositor of all operations with OpenGL."""

    def __init__(self, drawing: ListDrawing, *, keeps_alpha: bool) -> None:
        self._painter, self._keeps_alpha = drawing.painter, keeps_alpha
        self._scene_buffer = SceneBuffer(drawing)
        self._frame: Target | None = None

    def prefix_count(self, display_list: DisplayList) -> int:
        """Return the number of operations at the bottom of a list that are cached as pixels."""
        return self._scene_buffer.prefix_count(display_list)

    def composite(self, display_list: DisplayList, damage: Damage, stable_count: int) -> Target:
        """Redraw the damage of the frame. See `Compositor`."""
        region, video, rects = display_list.scene.frame, display_list.video, damage.rects()
        if self._frame is None or self._frame.region != region:
            self._painter.pool.give_back(self._frame)
            self._frame = self._painter.pool.take(region, "f1")
        if video is not None:  # outside these parts the encoder can use the video's own samples
            rects = display_list.around_above_base
            is_small = pixels(rects) <= DRAWN_SHARE_MAX * pixels((region,))
            rects = rects if video.is_own_size and is_small else (region,)
        if rects:
            linear = self._scene_buffer.fitted(region, linear_format(display_list))
            pending = self._scene_buffer.draw(display_list, linear, rects, stable_count)
            encoding = DisplayEncoding.of(display_list, region, keeps_alpha=self._keeps_alpha)
            blit(self._painter, linear, self._frame, encoding, rects, pending)
        return self._frame

    def release(self) -> None:
        """Release all targets."""
        self._scene_buffer.release()
        self._painter.pool.give_back(self._frame)
        self._frame = None


def linear_format(display_list: DisplayList) -> Format:
    """Return the format of the scene buffer: half floats, or floats at 32 bits per channel."""
    return "f4" if display_list.scene.color.bit_depth == 32 else "f2"


@dataclass(frozen=True, slots=True)
class DisplayEncoding:
    """Conversion of the scene buffer to a display-encoded frame.

    `is_opaque`: the scene buffer has alpha 1. `keeps_alpha`: the frame has straight colour and alpha instead of being opaque.
    """

    color: ColorManagement
    is_opaque: bool
    keeps_alpha: bool = False

    @classmethod
    def of(cls, display_list: DisplayList, region: Region, *, keeps_alpha: bool) -> DisplayEncoding:
        """Return the encoding of a list's frame."""
        return cls(display_list.scene.color, routing.is_opaque(display_list, region), keeps_alpha)

    @property
    def is_per_channel(self) -> bool:
        """True if each channel is encoded independently, without a matrix or an alpha."""
        return self.is_opaque and is_per_channel(self.color)

    @property
    def defines(self) -> dict[str, object]:
        """Variant of shaders/compositing/blit.frag."""
        flags = {
            "ACES": self.color.working_space == "aces-cg",
            "OPAQUE": self.is_opaque,
            "KEEP_ALPHA": self.keeps_alpha,
        }
        display: dict[str, object] = {"DISPLAY": _DISPLAYS[self.color.display_transform]}
        return display | {name: 1 for name, is_set in flags.items() if is_set}


def blit(
    painter: Painter, linear: Target, into: Target, encoding: DisplayEncoding, rects: Rects, pending: Rects
) -> None:
    """Display-encode parts of the scene buffer into an 8-bit target (compositing.md 1.6).

    `pending`: parts still to be quantised to 8 linear bits, see `backdrop`.
    """

    def encode(into: Target, textures: Mapping[str, Target], defines: Mapping[str, object]) -> None:
        for parts, added in ((without(rects, pending), {}), (pending, {"QUANTISE": 1})):
            if parts:
                variant = {**defines, **added}
                painter.draw("compositing/blit.frag", into, textures=textures, scissor=parts, defines=variant)

    if painter.can_read_in_place:
        with painter.beside(linear, into) as both:
            encode(both, {}, {**encoding.defines, "IN_PLACE": 1})
    else:
        encode(into, {"u_scene": linear}, encoding.defines)


def is_per_channel(color: ColorManagement) -> bool:
    """Return True if each channel of an opaque pixel is encoded independently, without a matrix."""
    is_aces = color.working_space == "aces-cg"
    return color.display_transform == "srgb" or is_aces == (color.display_transform == "aces")
