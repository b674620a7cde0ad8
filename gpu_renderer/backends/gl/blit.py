"""Last pass: display-encode the linear scene to 8-bit pixels (format/compositing.md 1.6)."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_renderer.geometry.region import Rects, without
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import ColorManagement

_DISPLAYS = {"srgb": 0, "aces": 1, "pq": 2, "hlg": 3}


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

    `is_opaque`: the scene has alpha 1. `pending`: parts still to be quantised to 8 linear bits, see `blend`.
    """
    defines: dict[str, object] = {"DISPLAY": _DISPLAYS[color.display_transform]}
    if color.working_space == "aces-cg":
        defines["ACES"] = 1
    if is_opaque:
        defines["OPAQUE"] = 1
    if keeps_alpha:
        defines["KEEP_ALPHA"] = 1
    if painter.can_read_in_place:
        with painter.beside(scene, into) as both:
            _encode(painter, both, {}, {**defines, "IN_PLACE": 1}, rects, pending)
    else:
        _encode(painter, into, {"u_scene": scene}, defines, rects, pending)


def is_per_channel(color: ColorManagement) -> bool:
    """Return True if each channel of an opaque pixel is encoded independently, without a matrix."""
    is_aces = color.working_space == "aces-cg"
    return color.display_transform == "srgb" or is_aces == (color.display_transform == "aces")


def _encode(
    painter: Painter,
    into: Target,
    textures: Mapping[str, Target],
    defines: Mapping[str, object],
    rects: Rects,
    pending: Rects,
) -> None:
    for held, passage in ((without(rects, pending), {}), (pending, {"QUANTISE": 1})):
        if held:
            painter.draw("compositing/blit.frag", into, textures=textures, scissor=held, defines={**defines, **passage})
