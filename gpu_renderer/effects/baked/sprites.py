"""Small marks drawn over a canvas one after the other: flakes, streaks, stars.

Marks overlap in order, each mixing straight colours over what is there, so they are drawn on the processor: a few hundred
marks of a few pixels each.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.geometry.color import Rgba
from motion.evaluate.noise import unit_hash

BAND_ROWS = 32
"""Rows of a picture that stay in the processor's cache."""
Picture = npt.NDArray[np.float32]
"""Straight colours and alpha of 0..1, shape (rows, columns, 4)."""
P = TypeVar("P", bound=np.generic)
Patch = npt.NDArray[np.float32]


def h2(a: float, b: float) -> float:
    """Return the integer hash HA without a key, 0..1 (effects.md 6)."""
    return unit_hash(a - 1, b - 1)


def read(canvas: Canvas) -> Picture:
    """Return the canvas's straight colours."""
    return np.divide(canvas.straight_pixels(), np.float32(255), dtype=np.float32)


def write(canvas: Canvas, picture: Picture) -> None:
    """Make the picture the canvas's pixels: bytes rounded half to even."""
    stored = np.empty(picture.shape, np.uint8)
    for top in range(0, len(picture), BAND_ROWS):
        levels = picture[top : top + BAND_ROWS] * np.float32(255)
        np.rint(levels, out=levels)
        stored[top : top + BAND_ROWS] = np.clip(levels, 0, 255, out=levels)
    canvas.write_straight(stored)


def disc(radius: float, x: float, y: float) -> tuple[int, int, Patch]:
    """A soft disc's coverage: 1 up to 0.6 of the radius, then half a cosine to 0 at the rim; its left column and top row."""
    left, top = math.floor(x - radius), math.floor(y - radius)
    columns = np.arange(left, math.ceil(x + radius) + 1) + 0.5 - x
    rows = np.arange(top, math.ceil(y + radius) + 1) + 0.5 - y
    part = np.hypot(columns[None, :], rows[:, None]) / radius
    fade = 0.5 + 0.5 * np.cos(np.pi * np.clip((part - 0.6) / 0.4, 0, 1))
    return left, top, np.where(part > 1, 0.0, fade).astype(np.float32)


def stamp(picture: Picture, left: int, top: int, coverage: Patch, color: Rgba, opacity: float) -> None:
    """Mix a colour over the picture where the patch covers it."""
    part, inside = _clipped(picture, left, top, coverage)
    share = np.minimum(part * np.float32(opacity), 1)[..., None]
    under = inside[..., 3:] * (1 - share)
    alpha = share + under
    mixed = share * np.array(color[:3], np.float32) + inside[..., :3] * under
    inside[..., :3] = np.divide(mixed, alpha, out=inside[..., :3].copy(), where=alpha > 0)
    inside[..., 3:] = alpha


def stamp_dots(
    picture: Picture, columns: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], color: Rgba, opacity: Patch
) -> None:
    """Draw pixels, each with an opacity of its own. No pixel comes twice."""
    held = (columns >= 0) & (columns < picture.shape[1]) & (rows >= 0) & (rows < picture.shape[0])
    at, share = (rows[held], columns[held]), opacity[held, None]
    before = picture[at]
    under = before[:, 3:] * (1 - share)
    alpha = share + under
    mixed = share * np.array(color[:3], np.float32) + before[:, :3] * under
    colors = np.divide(mixed, alpha, out=before[:, :3].copy(), where=alpha > 0)
    picture[at] = np.concatenate([colors, alpha], axis=1)


def add(picture: Picture, left: int, top: int, light: Patch, color: npt.NDArray[np.float32]) -> None:
    """Add a colour to the picture by the patch's strength; the alpha becomes the larger of both."""
    part, inside = _clipped(picture, left, top, light)
    inside[..., :3] += part[..., None] * color
    inside[..., 3] = np.maximum(inside[..., 3], part)


def _clipped(picture: Picture, left: int, top: int, patch: npt.NDArray[P]) -> tuple[npt.NDArray[P], Picture]:
    """Return the part of a patch that lies on the picture, and the picture's own pixels there (a view)."""
    rows, columns = picture.shape[:2]
    x0, y0 = max(0, left), max(0, top)
    x1, y1 = min(columns, left + patch.shape[1]), min(rows, top + patch.shape[0])
    if x0 >= x1 or y0 >= y1:
        return patch[:0, :0], picture[:0, :0]
    return patch[y0 - top : y1 - top, x0 - left : x1 - left], picture[y0:y1, x0:x1]
