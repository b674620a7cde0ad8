"""Places of many flat layers at once: the numbers of `geometry/matrix.py` and `paint.py` as arrays, bit for bit.

Arrays have a column for each layer. Points and vectors have two rows, x and y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import WHOLE
from gpu_renderer.display_list.paint import SAMPLE_DISTANCE_PX, Image, Paint
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import SUBPIXELS, Matrix3
from gpu_renderer.geometry.region import Region
from motion.snapshot import Transform2D

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
PLACED_MAX = 1e9
"""Largest number in a quad that is placed here."""
_TRANSFORM = attrgetter("x", "y", "rotation", "scale_x", "scale_y", "anchor_x", "anchor_y", "skew", "skew_axis")


class Axes(NamedTuple):
    """Affine maps: the images of the two unit vectors, and of the origin."""

    across: Numbers
    down: Numbers
    origin: Numbers

    def boxed(self, x: Numbers, y: Numbers, width: Numbers, height: Numbers) -> Axes:
        """Return the maps of the unit square as boxes, see `matrix.boxed`."""
        return Axes(self.across * width, self.down * height, self.across * x + self.down * y + self.origin)


class QuadRows(NamedTuple):
    """Quads on the frame, as the kernels need them."""

    to_unit: Numbers
    """Inverse and fold of each quad, see `matrix.folded_columns`. Shape (12, n)."""
    touched: npt.NDArray[np.int64]
    """Left, top, right and bottom of the frame pixels that the content can touch. Shape (4, n)."""
    samples: npt.NDArray[np.int64]
    """See `Sampled.samples` of `backends/gl/quads.py`."""
    is_one_to_one: Flags
    """See `paint.is_one_to_one`."""

    def of(self, chosen: npt.NDArray[np.int64]) -> QuadRows:
        """Return the chosen quads."""
        to_unit, touched, samples, is_one_to_one = self
        return QuadRows(to_unit[:, chosen], touched[:, chosen], samples[chosen], is_one_to_one[chosen])


def numbers_of(transforms: Sequence[Transform2D]) -> Numbers:
    """Return nine numbers of each transform, shape (9, n)."""
    return np.array(list(map(_TRANSFORM, transforms)), np.float64).T


def placed(numbers: Numbers, transforms: Sequence[Transform2D], view: Matrix3) -> Axes:
    """Return the maps from layer px to frame px, see `matrix.placed`. `numbers`: those of the transforms."""
    _, _, degrees, scale_x, scale_y, anchor_x, anchor_y, skew, _ = numbers
    cosines, sines = _turns(degrees)
    across = np.stack((cosines * scale_x, sines * scale_x))
    down = np.stack((-sines * scale_y, cosines * scale_y))
    local = across, down, across * -anchor_x + down * -anchor_y + numbers[:2]
    a, b, c, d, e, f, *_ = view
    left, right, shift = (np.array(column)[:, None] for column in ((a, d), (b, e), (c, f)))
    found = Axes(*(left * x + right * y + shift * w for (x, y), w in zip(local, (0.0, 0.0, 1.0), strict=True)))
    for at in np.flatnonzero(skew).tolist():
        m = matrix.placed(transforms[at], view).matrix
        for index, axis in enumerate(found):
            axis[:, at] = m[index], m[3 + index]
    return found


def _turns(degrees: Numbers) -> Numbers:
    """Return cosine and sine of each angle. Shape (2, n)."""
    if not degrees.any():
        return np.stack((np.ones(len(degrees)), np.zeros(len(degrees))))
    return np.array([matrix.rotation(angle)[0:4:3] for angle in degrees.tolist()]).T


def is_turned(axes: Axes) -> Flags:
    """Return True for maps whose sides are not horizontal and vertical on the frame, see `shape_route.is_turned`."""
    (a, d), (b, e) = axes.across != 0.0, axes.down != 0.0
    found: Flags = (b | d) & (a | e)
    return found


def quads(axes: Axes, paints: Sequence[Paint], frame: Region) -> tuple[QuadRows, npt.NDArray[np.int64]] | None:
    """Return the quads of paints that touch the frame, and their indices, or None if a number is too large."""
    width, height = np.array([(each.width + 2 * each.padding, each.height + 2 * each.padding) for each in paints]).T
    exact = axes.boxed(-width / 2, -height / 2, width, height)
    if not np.abs(np.concatenate(exact)).max() <= PLACED_MAX / 4:
        return None
    quad, fold = _on_subpixels(exact)
    to_unit, is_flat = _inverse(quad)
    boxes = [each.content_box if isinstance(each, Image) else WHOLE for each in paints]
    touched, is_outside = _touched(quad.boxed(*np.array(boxes).T), (fold != 0.0).any(axis=0), frame)
    samples, is_one_to_one = _edges(quad, paints)
    for at in [at for at, box in enumerate(boxes) if box != WHOLE]:
        if _is_clear_of_edges(boxes[at], to_unit[:, at]):
            samples[at] = 0
    found = QuadRows(np.concatenate((to_unit, _unfolded(to_unit, fold))), touched, samples, is_one_to_one)
    visible = np.flatnonzero(~(is_flat | is_outside))
    return (found, visible) if len(visible) == len(paints) else (found.of(visible), visible)


def _on_grid(points: Numbers) -> Numbers:
    return np.floor(points * SUBPIXELS + 0.5) / SUBPIXELS


def _on_subpixels(quad: Axes) -> tuple[Axes, Numbers]:
    """Return quads on the subpixel grid, and the displacement of their last corners, see `matrix.on_subpixels`."""
    first = _on_grid(quad.origin)
    across, down = _on_grid(quad.across + quad.origin) - first, _on_grid(quad.down + quad.origin) - first
    fold = _on_grid(quad.across + quad.down + quad.origin) - (first + across + down)
    is_upright = ((quad.across == 0.0) | (quad.down == 0.0)).all(axis=0)
    return Axes(across, down, first), np.where(is_upright, 0.0, fold)


def _inverse(quad: Axes) -> tuple[Numbers, Flags]:
    """Return the inverses in column order, shape (9, n), and True for each quad that is a line or a point."""
    (a, d), (b, e), (c, f) = quad
    determinant = a * e + b * -d
    is_flat = np.abs(determinant) < 1e-12
    zero = np.zeros_like(a)
    cofactors = np.stack((e, -d, zero, -b, a, zero, b * f - c * e, c * d - a * f, a * e - b * d))
    return cofactors * (1.0 / np.where(is_flat, 1.0, determinant)), is_flat


def _unfolded(to_unit: Numbers, fold: Numbers) -> Numbers:
    """Return the last three numbers of `matrix.folded_columns`."""
    if not fold.any():
        return np.zeros((3, fold.shape[1]))
    x, y = fold
    u, v = to_unit[0] * x + to_unit[3] * y, to_unit[1] * x + to_unit[4] * y
    room = 1 + u + v
    share = np.where(room == 0.0, 0.0, 1 / np.where(room == 0.0, 1.0, room))
    return np.stack((u * share, v * share, np.zeros_like(u)))


def _touched(drawn: Axes, is_folded: Flags, frame: Region) -> tuple[npt.NDArray[np.int64], Flags]:
    """Return the pixels that quads touch, and True for each quad outside the frame, see `paint.placed_quad`."""
    first, last = (np.array(corner, np.float64)[:, None] for corner in (frame[:2], (frame.right, frame.bottom)))
    low = np.minimum(drawn.across, 0.0) + np.minimum(drawn.down, 0.0) + drawn.origin
    high = np.maximum(drawn.across, 0.0) + np.maximum(drawn.down, 0.0) + drawn.origin
    low, high = np.floor(np.clip(low, first, last)), np.ceil(np.clip(high, first, last))
    is_outside = (high[0] <= low[0]) | (high[1] <= low[1])
    low, high = np.clip(low - is_folded, first, last), np.clip(high + is_folded, first, last)
    return np.concatenate((low, high)).astype(np.int64), is_outside


def _edges(quad: Axes, paints: Sequence[Paint]) -> tuple[npt.NDArray[np.int64], Flags]:
    """Return the samples of each quad, and True for each image whose texels map to one pixel."""
    (a, d), (b, e), (c, f) = quad
    edges = np.stack((c, f, c + a, f + e))
    is_upright = (b == 0.0) & (d == 0.0) & (a > 0.0) & (e > 0.0)
    is_aligned = is_upright & (np.abs(edges - np.rint(edges)) < 1e-6).all(axis=0)
    is_one_to_one = np.zeros(len(paints), np.bool_)
    for at in np.flatnonzero(is_aligned).tolist():
        paint, size = paints[at], (round(float(a[at])), round(float(e[at])))
        is_one_to_one[at] = isinstance(paint, Image) and paint.crop == WHOLE and size == paint.size
    return np.where(is_aligned, 0, 4), is_one_to_one


def _is_clear_of_edges(box: tuple[float, float, float, float], to_unit: Numbers) -> bool:
    """See `paint.is_clear_of_edges`."""
    (a, d, _, b, e, _, _, _, scale), (left, top, width, height) = to_unit.tolist(), box
    across, down = SAMPLE_DISTANCE_PX * math.hypot(a, b), SAMPLE_DISTANCE_PX * math.hypot(d, e)
    is_clear = min(left, 1.0 - left - width) > across and min(top, 1.0 - top - height) > down
    return is_clear and scale == 1.0
