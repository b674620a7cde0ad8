"""Opaque upright rectangles: their inside is one colour, which a clear writes many times faster than a shader."""

from __future__ import annotations

import math

from gpu_renderer.compositing import matrix
from gpu_renderer.compositing.matrix import Matrix3
from gpu_renderer.compositing.quads import Analytic, Ink, Look
from gpu_renderer.region import Region

RAMP_PX = 2
"""More than the reach of the soft edge, in frame px."""


def inside(ink: Ink, look: Look, quad: Matrix3, opacity: float) -> Region | None:
    """The pixels that the rectangle fills wholly with its colour; None where there are none or it is no such rectangle."""
    is_opaque = isinstance(ink, Analytic) and ink.primitive == "rect" and ink.color.a == 1.0 and opacity == 1.0
    if not is_opaque or look.mask is not None or not _is_upright(quad):
        return None
    assert isinstance(ink, Analytic)
    radius = min(max(ink.radius, 0.0), min(ink.width, ink.height) / 2)
    rim_x, rim_y = (
        RAMP_PX + radius * abs(scale) / max(size, 1e-9) for scale, size in ((quad[0], ink.width), (quad[4], ink.height))
    )
    left, right = sorted((quad[2], quad[2] + quad[0]))
    top, bottom = sorted((quad[5], quad[5] + quad[4]))
    return _whole(left + rim_x, top + rim_y, right - rim_x, bottom - rim_y)


def around(part: Region, hole: Region) -> list[Region]:
    """The part without the hole, as up to four rectangles."""
    h = part.intersection(hole)
    pieces = (
        Region(part.x, part.y, part.width, h.y - part.y),
        Region(part.x, h.bottom, part.width, part.bottom - h.bottom),
        Region(part.x, h.y, h.x - part.x, h.height),
        Region(h.right, h.y, part.right - h.right, h.height),
    )
    return [piece for piece in pieces if not piece.is_empty]


def _is_upright(quad: Matrix3) -> bool:
    return matrix.is_affine(quad) and quad[1] == 0.0 == quad[3] and matrix.finite(quad)


def _whole(left: float, top: float, right: float, bottom: float) -> Region | None:
    x, y = math.ceil(max(left, -1e6)), math.ceil(max(top, -1e6))
    width, height = math.floor(min(right, 1e6)) - x, math.floor(min(bottom, 1e6)) - y
    return None if width <= 0 or height <= 0 else Region(x, y, width, height)
