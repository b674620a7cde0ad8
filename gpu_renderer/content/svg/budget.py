"""Limits of what one drawing of an SVG document may cost. Costs are counted before they arise; a document beyond a limit is refused.

Each cost is counted where the work is done, so no combination of references, clips, markers, patterns and text spans escapes it.
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
from motion.crossings import SEGMENTS_MIN, estimated_crossings

DEPTH_MAX = 48
_NOT_DRAWN = ("defs", "symbol", "clipPath", "mask", "filter", "marker", "pattern", "style", "title", "desc", "metadata")


class Cost(StrEnum):
    """Counted costs, in the words of the message."""

    elements = "elements, each counted as often as references draw it"
    matches = "comparisons of elements with selectors"
    variables = "characters of values with variables put in"
    characters = "characters of text, each counted with the spans around it"
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
    Cost.characters: 1_000_000,
    Cost.crossings: 20_000,
    Cost.self_crossings: 100_000_000,
    Cost.layers: 2_000,
    Cost.filters: 1_000,
    Cost.painted: 8_000_000_000,
    Cost.pictures: 100_000_000,
}
"""About ten seconds of one core at most, each, and twenty for layers and filters, which honest documents have over all of their area.
Ordinary documents need less than a hundredth."""

LAYER_WORK: Final = 2.0
MASK_WORK: Final = 6.0
BLUR_WORK: Final = 82.0
"""Costs of a layer's pixel, cleared and composited, of a mask's, whose luminance is worked out too, and of a blurred layer's, in painted
pixels of 2.5 ns."""

DASH_WORK: Final = 1_600.0
DASH_PIXEL_WORK: Final = 500.0
"""Costs of a dash, and of each pixel of its width where dashes overlap, in the same painted pixels."""

_POINTS_OF_VERB: Final = np.array([1, 1, 2, 2, 3, 0, 0])
"""Points that move, line, quad, conic, cubic, close and done add to a path."""


class Budget:
    """Rest of each limit of one drawing."""

    def __init__(self) -> None:
        self._left = dict(LIMITS)
        self._crossings: dict[bytes, int] = {}
        """Estimates by the hash of the path: references draw the same one again and again."""

    def spend(self, cost: Cost, amount: float = 1) -> None:
        """Count a cost that is about to arise. Raises MediaUndecodable."""
        self.check(cost, amount)
        self._left[cost] -= int(amount)

    def check(self, cost: Cost, amount: float) -> None:
        """Raise MediaUndecodable if so much is not left."""
        if not amount <= self._left[cost]:  # also of what is no number
            raise MediaUndecodable(
                f"an SVG document: {cost.name}", f"An SVG document has more than {LIMITS[cost]:,} {cost}."
            )

    def spend_layer(self, canvas: skia.Canvas, work: float = LAYER_WORK) -> None:
        """Count a group that is drawn apart. `work`: what each of its pixels costs, in painted pixels."""
        self.spend(Cost.layers)
        self.spend_work(canvas, work)

    def spend_work(self, canvas: skia.Canvas, work: float) -> None:
        """Count `work` painted pixels for each pixel of the clip."""
        self.spend(Cost.painted, work * _area(canvas))

    def check_work(self, canvas: skia.Canvas, work: float) -> None:
        """Raise MediaUndecodable if so much work is not left."""
        self.check(Cost.painted, work * _area(canvas))

    def spend_painted(self, canvas: skia.Canvas, box: skia.Rect) -> None:
        """Count the device pixels of a box that lie within the clip: what painting an outline in it costs at most."""
        device = canvas.getTotalMatrix().mapRect(box)
        self.spend(
            Cost.painted, max(1, int(device.width() * device.height())) if device.intersect(_clip(canvas)) else 1
        )

    def spend_dashes(self, canvas: skia.Canvas, count: float, width: float) -> None:
        """Count dashes of a stroke, which is `width` user units wide."""
        scale = math.sqrt(abs(_determinant(canvas.getTotalMatrix())))
        self.spend(Cost.painted, count * (DASH_WORK + DASH_PIXEL_WORK * width * scale))

    def spend_crossings(self, path: skia.Path) -> None:
        """Count about how often a path crosses itself, by its control polygons: painting it costs a step for each crossing."""
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
    is_end = np.ones(len(points), np.bool_)  # of a segment: all but the first point of each contour
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
    """Return the elements that `use` and nesting make of the root. Each element is counted once for each depth at which it is reached."""
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
