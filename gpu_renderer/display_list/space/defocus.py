"""Depth of field: the blur of 3D layers (format/three-d.md 7)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from gpu_renderer.content.raster import Share
from gpu_renderer.display_list.space.projection import Eye, transformed
from motion.snapshot import Camera, EffectSnapshot, Transform3D

BLUR_PX_MIN = 0.3
STRIPS_FROM_PX = 1.25
"""Least difference of the corners' blurs, px, that divides a layer into strips."""
STRIP_PX, STRIPS_MIN, STRIPS_MAX = 2.0, 2, 8


@dataclass(frozen=True, slots=True)
class Strip:
    """A part of a tilted layer with its own blur, and the part of the texture that it shows."""

    depth: float
    blur_px: float
    part: Share


def blur_px(camera: Camera | None, depth: float) -> float:
    """Return the blur of a layer at a depth, px rounded to a tenth, 0 in focus."""
    return _shown(_blur(camera, depth))


def strips(camera: Camera | None, transform: Transform3D, eye: Eye, width: float, height: float) -> list[Strip]:
    """Return the strips of a layer of width x height px, or none if its blur hardly changes.

    The layer's anchor is ignored, as in the reference.
    """
    corners = [
        transformed(eye.view, transformed(transform.matrix, (x * width / 2, y * height / 2, 0.0)))[2]
        for y in (-1, 1) for x in (-1, 1)
    ]  # fmt: skip
    if min(corners) <= 0:
        return []
    blurs = [_blur(camera, depth) for depth in corners]
    spread = max(blurs) - min(blurs)
    if spread < STRIPS_FROM_PX:
        return []
    count = min(STRIPS_MAX, max(STRIPS_MIN, math.ceil(spread / STRIP_PX)))
    return list(_strips(camera, corners, count))


def _strips(camera: Camera | None, corners: list[float], count: int) -> Iterator[Strip]:
    top_left, top_right, bottom_left, bottom_right = corners
    left, right = (top_left + bottom_left) / 2, (top_right + bottom_right) / 2
    top, bottom = (top_left + top_right) / 2, (bottom_left + bottom_right) / 2
    is_across = abs(right - left) >= abs(bottom - top)
    first, last = (left, right) if is_across else (top, bottom)
    for index in range(count):
        start, share = index / count, 1.0 / count
        depth = first + (last - first) * (start + share / 2)
        part = (start, 0.0, share, 1.0) if is_across else (0.0, start, 1.0, share)
        yield Strip(depth, blur_px(camera, depth), part)


def effects_of(blur_px: float) -> tuple[EffectSnapshot, ...]:
    """Return the blur as the last effect of a layer, or no effect for a layer in focus."""
    return (EffectSnapshot("dof", "blur", (("amount", blur_px),)),) if blur_px else ()


def _blur(camera: Camera | None, depth: float) -> float:
    if camera is None or not camera.depth_of_field or camera.strength <= 0:
        return 0.0
    return min(camera.strength, _circle_px(camera, depth))


def _shown(blur: float) -> float:
    return 0.0 if blur < BLUR_PX_MIN else math.floor(blur * 10 + 0.5) / 10


def _circle_px(camera: Camera, depth: float) -> float:
    """Return the circle of confusion.

    With an f-stop the lens equation gives it. Without one it grows in proportion to the distance from the focus.
    """
    off, focus = abs(depth - camera.focus_distance), camera.focus_distance
    if camera.f_stop <= 0:
        return off / max(1.0, focus) * camera.aperture
    lens = camera.lens_px
    if focus <= lens or depth <= 0:
        return camera.strength
    return lens / camera.f_stop * lens * off / (depth * (focus - lens))
