"""Cost limits of drawing an SVG document.

Costs are counted before the work is done. A document beyond a limit is refused. Each cost is counted where its work is
done, so that every combination of references, clips, markers, patterns and text spans is counted.
"""

from __future__ import annotations

import math
from enum import StrEnum
from hashlib import sha256
from typing import Final

import numpy as np
import skia

from gpu_renderer.content.svg.document import Document, Element, children, name_of
from gpu_renderer.errors import MediaUndecodable
from motion.budgets.crossings import SEGMENTS_MIN, estimated_crossings

DEPTH_MAX = 48
_NOT_DRAWN = ("defs", "symbol", "clipPath", "mask", "filter", "marker", "pattern", "style", "title", "desc", "metadata")


class Cost(StrEnum):
    """Counted costs, as named in messages."""

    elements = "elements, each counted as often as references draw it"
    matches = "comparisons of elements with selectors"
    variables = "characters of values with variables put in"
    characters = "characters of text, each counted with the spans around it, and as five if it is placed on its own"
    crossings = "crossings of segments in clip paths"
    self_crossings = "crossings of outlines with themselves, each counted as often as it is drawn"
    layers = "groups with opacity, mask, filter or blending"
    filters = "filter primitives"
    painted = "pixels to paint, each counted as often as it is painted"
    pictures = "pixels of embedded pictures"


LIMITS: Final = {
    Cost.elements: 120_000,
    Cost.matches: 1_000_000,
    Cost.variables: 1_000_000,
    Cost.characters: 200_000,
    Cost.crossings: 20_000,
    Cost.self_crossings: 100_000_000,
    Cost.layers: 2_000,
    Cost.filters: 1_000,
    Cost.painted: 8_000_000_000,
    Cost.pictures: 100_000_000,
}
"""Limits of each cost: at most about ten seconds of one core.

Layers and filters can take twenty, because valid documents have them over their whole area. Ordinary documents need
less than a hundredth.
"""

PIECE_CHARACTERS: Final = 4
"""Characters whose shaping takes as long as the start of a piece of text."""

LAYER_WORK: Final = 2.0
MASK_WORK: Final = 6.0
BLUR_WORK: Final = 82.0
"""Costs per pixel, in painted pixels of 2.5 ns.

In order: a layer (cleared and composited), a mask (with its luminance), a blurred layer.
"""

DASH_WORK: Final = 1_600.0
DASH_PIXEL_WORK: Final = 500.0
"""Costs in painted pixels: of a dash, and of each pixel of its width where dashes overlap."""

_POINTS_OF_VERB: Final = np.array([1, 1, 2, 2, 3, 0, 0])
"""Number of points that move, line, quad, conic, cubic, close and done add to a path."""


class Budget:
    """Remaining amount of each limit during one drawing."""

    def __init__(self) -> None:
        self._left = dict(LIMITS)
        self._crossings: dict[bytes, int] = {}
        """Estimates by the hash of the path, because references draw the same path repeatedly."""

    def spend(self, cost: Cost, amount: float = 1) -> None:
        """Count a cost before its work is done. Raises MediaUndecodable."""
        self.check(cost, amount)
        self._left[cost] -= int(amount)

    def check(self, cost: Cost, amount: float) -> None:
        """Raise MediaUndecodable if less than the amount is left."""
        if not amount <= self._left[cost]:  # also true for NaN
            raise MediaUndecodable(
                f"an SVG document: {cost.name}", f"An SVG document has more than {LIMITS[cost]:,} {cost}."
            )

    def left(self, cost: Cost) -> int:
        """Return the amount that is left."""
        return self._left[cost]

    def spend_layer(self, canvas: skia.Canvas, work: float = LAYER_WORK) -> None:
        """Count a group that is drawn into a layer of its own.

        `work`: cost of each of its pixels, in painted pixels.
        """
        self.spend(Cost.layers)
        self.spend_work(canvas, work)

    def spend_work(self, canvas: skia.Canvas, work: float) -> None:
        """Count `work` painted pixels for each pixel of the clip."""
        self.spend(Cost.painted, work * _area(canvas))

    def check_work(self, canvas: skia.Canvas, work: float) -> None:
        """Raise MediaUndecodable if less than `work` painted pixels for each pixel of the clip are left."""
        self.check(Cost.painted, work * _area(canvas))

    def spend_painted(self, canvas: skia.Canvas, box: skia.Rect) -> None:
        """Count the device pixels of a box inside the clip: the maximum cost of painting an outline in that box."""
        device = canvas.getTotalMatrix().mapRect(box)
        self.spend(
            Cost.painted, max(1, int(device.width() * device.height())) if device.intersect(_clip(canvas)) else 1
        )

    def spend_dashes(self, canvas: skia.Canvas, count: float, width: float) -> None:
        """Count dashes of a stroke. `width`: user units."""
        scale = math.sqrt(abs(_determinant(canvas.getTotalMatrix())))
        self.spend(Cost.painted, count * (DASH_WORK + DASH_PIXEL_WORK * width * scale))

    def spend_crossings(self, path: skia.Path) -> None:
        """Count an estimate of a path's self-crossings, from its control polygons.

        Painting costs a step for each crossing.
        """
        if path.countPoints() < SEGMENTS_MIN:
            return
        key = sha256(path.serialize()).digest()
        if key not in self._crossings:
            self._crossings[key] = _self_crossings(path)
        self.spend(Cost.self_crossings, self._crossings[key])


def _self_crossings(path: skia.Path) -> int:
    verbs = np.fromiter(map(int, path.getVerbs()), np.uint8)
    counts = _POINTS_OF_VERB[verbs]
    points = np.array([(point.x(), point.y()) for point in path.getPoints()])
    is_end = np.ones(len(points), np.bool_)  # True for the end of a segment: all but the first point of each contour
    is_end[(np.cumsum(counts) - counts)[verbs == skia.Path.kMove_Verb]] = False
    ends = np.flatnonzero(is_end)
    return estimated_crossings(np.stack([points[ends - 1], points[ends]], axis=1))


def _determinant(matrix: skia.Matrix) -> float:
    return float(matrix.getScaleX() * matrix.getScaleY() - matrix.getSkewX() * matrix.getSkewY())


def _area(canvas: skia.Canvas) -> float:
    clip = _clip(canvas)
    return float(clip.width() * clip.height())


def _clip(canvas: skia.Canvas) -> skia.Rect:
    return skia.Rect.Make(canvas.getDeviceClipBounds())


def drawn_count(document: Document) -> int:
    """Return the number of elements that `use` and nesting produce.

    An element counts once for each depth at which it is reached.
    """
    known: dict[tuple[Element, int], int] = {}

    def count(element: Element, depth: int) -> int:
        if depth > DEPTH_MAX or not name_of(element):
            return 0
        if (element, depth) not in known:
            target = document.linked(element) if name_of(element) == "use" else None
            drawn = (child for child in children(element) if name_of(child) not in _NOT_DRAWN)
            inside = drawn if target is None else [target]
            known[element, depth] = 1 + sum(count(child, depth + 1) for child in inside)
        return known[element, depth]

    return count(document.root, 0)
