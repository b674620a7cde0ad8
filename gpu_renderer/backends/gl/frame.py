"""A finished frame in a render target, and the last pass: display-encode the linear scene (format/compositing.md 1.6)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.region import Rects, Region, without
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import ColorManagement

_DISPLAYS = {"srgb": 0, "aces": 1, "pq": 2, "hlg": 3}


class GlFrame:
    """A target of 8 bits, display-encoded, row 0 on top, updated in parts from frame to frame.

    Opaque, or with `keeps_alpha` straight colour and alpha.
    """

    def __init__(self, painter: Painter, target: Target, *, keeps_alpha: bool = False) -> None:
        self._painter, self.target, self._keeps_alpha = painter, target, keeps_alpha

    @property
    def region(self) -> Region:
        """Pixels of the frame."""
        return self.target.region

    def encode(self, scene: Target, color: ColorManagement, rects: Rects, *, is_opaque: bool, pending: Rects) -> None:
        """Display-encode parts of the linear scene. Arguments as for `blit`."""
        alpha = self._keeps_alpha
        blit(self._painter, scene, self.target, color, rects, is_opaque=is_opaque, pending=pending, keeps_alpha=alpha)

    def read(self) -> npt.NDArray[np.uint8]:
        """Return the pixels, shape (rows, columns, 4), valid until the next change."""
        pixels = self.target.framebuffer.read(components=4, alignment=1)
        return np.frombuffer(pixels, np.uint8).reshape(self.region.height, self.region.width, 4)

    def release(self) -> None:
        """Give the target back."""
        self._painter.pool.give_back(self.target)


def blit(
    painter: Painter,
    scene: Target,
    into: Target,
    color: ColorManagement,
    rects: Rects,
    *,
    is_opaque: bool,
    pending: Rects = (),
    keeps_alpha: bool = False,
) -> None:
    """Display-encode parts of the scene into an 8-bit target, opaque, or with `keeps_alpha` straight colour and alpha.

    `is_opaque`: the scene has alpha 1. `pending`: parts still to be quantised to 8 linear bits, see `backdrop`.
    """
    flags = {"ACES": color.working_space == "aces-cg", "OPAQUE": is_opaque, "KEEP_ALPHA": keeps_alpha}
    defines: dict[str, object] = {"DISPLAY": _DISPLAYS[color.display_transform]}
    defines |= {name: 1 for name, is_set in flags.items() if is_set}

    def encode(into: Target, textures: Mapping[str, Target], defines: Mapping[str, object]) -> None:
        for held, added in ((without(rects, pending), {}), (pending, {"QUANTISE": 1})):
            if held:
                variant = {**defines, **added}
                painter.draw("compositing/blit.frag", into, textures=textures, scissor=held, defines=variant)

    if painter.can_read_in_place:
        with painter.beside(scene, into) as both:
            encode(both, {}, {**defines, "IN_PLACE": 1})
    else:
        encode(into, {"u_scene": scene}, defines)


def is_per_channel(color: ColorManagement) -> bool:
    """Return True if each channel of an opaque pixel is encoded independently, without a matrix."""
    is_aces = color.working_space == "aces-cg"
    return color.display_transform == "srgb" or is_aces == (color.display_transform == "aces")
