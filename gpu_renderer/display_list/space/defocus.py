"""Depth of field: how far a 3D layer is out of focus (format/three-d.md 7)."""

from __future__ import annotations

import math

from motion.snapshot import Camera, EffectSnapshot

BLUR_PX_MIN = 0.3


def blur_px(camera: Camera | None, depth: float) -> float:
    """The blur of a layer at a depth, px rounded to a tenth; 0 in focus."""
    if camera is None or not camera.depth_of_field or camera.strength <= 0:
        return 0.0
    blur = min(camera.strength, _circle_px(camera, depth))
    return 0.0 if blur < BLUR_PX_MIN else math.floor(blur * 10 + 0.5) / 10


def _circle_px(camera: Camera, depth: float) -> float:
    """The circle of confusion: by the lens where an f-stop is given, else growing evenly away from the focus."""
    off, focus = abs(depth - camera.focus_distance), camera.focus_distance
    if camera.f_stop <= 0:
        return off / max(1.0, focus) * camera.aperture
    lens = camera.lens_px
    if focus <= lens or depth <= 0:
        return camera.strength
    return lens / camera.f_stop * lens * off / (depth * (focus - lens))


def effect(blur_px: float) -> EffectSnapshot:
    """The blur as the last effect of a layer."""
    return EffectSnapshot("dof", "blur", (("amount", blur_px),))
