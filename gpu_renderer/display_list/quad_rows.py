"""Places of many flat layers at once: the numbers of `geometry/matrix.py` and `paint.py`, bit for bit, by native kernels.

Arrays have a row for each layer. Those of `QuadRows` have a column for each. A map is six numbers, see `PlaceKernels`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import WHOLE
from gpu_renderer.display_list.graph import Scene
from gpu_renderer.display_list.paint import SAMPLE_DISTANCE_PX, Image, Paint
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.kernels.places import Numbers, PlaceKernels
from motion.snapshot import Transform2D

Flags = npt.NDArray[np.bool_]
_TRANSFORM = attrgetter("x", "y", "rotation", "scale_x", "scale_y", "anchor_x", "anchor_y", "skew", "skew_axis")


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
    """Return nine numbers of each transform, shape (n, 9)."""
    return np.array(list(map(_TRANSFORM, transforms)), np.float64)


def placed(native: PlaceKernels, numbers: Numbers, transforms: Sequence[Transform2D], view: Matrix3) -> Numbers:
    """Return the maps from layer px to frame px, see `matrix.placed`. `numbers`: those of the transforms."""
    found = native.maps(numbers, view)
    for at in np.flatnonzero(numbers[:, 7]).tolist():  # skewed
        a, b, c, d, e, f, *_ = matrix.placed(transforms[at], view).matrix
        found[at] = a, d, b, e, c, f
    return found


def is_turned(maps: Numbers) -> Flags:
    """Return True for maps whose sides are not horizontal and vertical on the frame, see `shape_route.is_turned`."""
    a, d, b, e, _, _ = maps.T != 0.0
    found: Flags = (b | d) & (a | e)
    return found


def quads(
    native: PlaceKernels, maps: Numbers, paints: Sequence[Paint], scene: Scene
) -> tuple[QuadRows, Rects, list[int]] | None:
    """Return the quads of paints that touch the frame, their pixels with a rim of one pixel within the clip, and their indices.

    Return None if a number is too large.
    """
    sizes = np.array([(each.width + 2 * each.padding, each.height + 2 * each.padding) for each in paints], np.float64)
    boxes = [each.content_box if isinstance(each, Image) else WHOLE for each in paints]
    found = native.quads(maps, sizes, np.array(boxes, np.float64), scene.frame, scene.clip)
    if found is None:
        return None
    quad, places = found
    rows = QuadRows(
        places["to_unit"].T,
        places["touched"].T,
        np.where(places["is_aligned"], 0, 4),
        _are_one_to_one(quad, places, paints),
    )
    for at in [at for at, box in enumerate(boxes) if box != WHOLE]:
        if _is_clear_of_edges(boxes[at], places["to_unit"][at, :9]):
            rows.samples[at] = 0
    visible, regions = np.flatnonzero(places["is_shown"]), places["region"]
    if len(visible) < len(paints):
        rows, regions = rows.of(visible), regions[visible]
    return rows, tuple(map(Region._make, regions.tolist())), visible.tolist()


def _are_one_to_one(quad: Numbers, places: npt.NDArray[np.void], paints: Sequence[Paint]) -> Flags:
    """Return True for each image whose texels map to one pixel."""
    found = np.zeros(len(paints), np.bool_)
    for at in np.flatnonzero(places["is_aligned"]).tolist():
        paint, size = paints[at], (round(float(quad[at, 0])), round(float(quad[at, 3])))
        found[at] = isinstance(paint, Image) and paint.crop == WHOLE and size == paint.size
    return found


def _is_clear_of_edges(box: tuple[float, float, float, float], to_unit: Numbers) -> bool:
    """See `paint.is_clear_of_edges`."""
    (a, d, _, b, e, _, _, _, scale), (left, top, width, height) = to_unit.tolist(), box
    across, down = SAMPLE_DISTANCE_PX * math.hypot(a, b), SAMPLE_DISTANCE_PX * math.hypot(d, e)
    is_clear = min(left, 1.0 - left - width) > across and min(top, 1.0 - top - height) > down
    return is_clear and scale == 1.0
