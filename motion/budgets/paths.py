"""Length and crossings of a layer's outlines, masks and brush strokes, which decide the cost of painting them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np

from motion.arrays import Doubles
from motion.budgets import brushes
from motion.budgets.crossings import SEGMENTS_MIN, estimated_crossings
from motion.formulas.outline_growth import DataPoint
from motion.model.content import ShapeContent
from motion.model.layer import Layer
from motion.snapshot import MaskPath, MaskPoint, PathPoint

Points = Sequence[PathPoint | MaskPoint | DataPoint]


def crossing_count(layer: Layer) -> int:
    """Return how often the layer's outlines, masks and brush strokes cross the box around them: their length over its longer side.

    Drawing an outline costs a step for each line of pixels that it crosses, whatever its size and number of points.
    """
    of_shape, of_masks = shapes_over_time(layer), masks_over_time(layer)
    return math.floor(max(map(_crossings, of_shape)) + max(map(_crossings, of_masks)) + brushes.crossings(layer))


def self_crossing_count(layer: Layer) -> int:
    """Estimate the self-crossings of the layer's outlines, masks or brush strokes, at the time with the most of them.

    Drawing an outline costs a step for each crossing, in however small a part of its box they lie.
    """
    most = max(map(_self_crossings, shapes_over_time(layer))) + max(map(_self_crossings, masks_over_time(layer)))
    return most + sum(estimated_crossings(_steps(line)) for line in brushes.lines(layer))


def mask_count(layer: Layer) -> int:
    """Return the most masks that the layer has at a time. Each is painted over the whole layer."""
    return max(len(masks) for masks in masks_over_time(layer))


def stored_point_count(layer: Layer) -> int:
    """Return the points of the shape's outlines, before its path operators, at the time with the most of them."""
    return max(sum(map(len, drawn)) for drawn in shapes_over_time(layer))


def shapes_over_time(layer: Layer) -> Iterator[list[Points]]:
    """Yield the outlines that the shape has at a time: those stored, then those of each keyframe."""
    yield [run.points for run in layer.content.runs] if isinstance(layer.content, ShapeContent) else []
    track = layer.data.get("path.points")
    if track is not None and track.kind == "points":
        yield from ([cast(Points, key.value)] for key in track.keys)


def masks_over_time(layer: Layer) -> Iterator[list[Points]]:
    """Yield the masks that the layer has at a time: those stored, then those of each keyframe."""
    yield _points(layer.masks)
    if layer.mask_track is not None:
        yield from map(_points, layer.mask_track.shapes)


def _points(masks: Iterable[MaskPath]) -> list[Points]:
    return [mask.points for mask in masks]


def total_length(paths: Sequence[Points]) -> float:
    """Return the length of the curves' control polygons, px."""
    return sum(_length(_polygon(curves(outline))) for outline in paths if outline)


def _crossings(paths: Sequence[Points]) -> float:
    """Return the length of the curves' control polygons over the longer side of the box around their points."""
    drawn = [curves(outline) for outline in paths if outline]
    if not drawn:
        return 0.0
    box = np.ptp(np.concatenate(drawn)[:, 0], axis=0)
    return sum(_length(_polygon(curve)) for curve in drawn) / max(float(box.max()), 1.0)


def _self_crossings(contours: Sequence[Points]) -> int:
    """Return about how often the contours of one path cross themselves and each other."""
    if sum(map(len, contours)) < SEGMENTS_MIN:
        return 0
    return estimated_crossings(np.concatenate([_steps(_polygon(curves(contour))) for contour in contours if contour]))


def curves(outline: Points) -> Doubles:
    """Return each vertex with its incoming and outgoing handle, as an array of shape (points, 3, 2), px."""
    points = np.array([point[:6] for point in outline], dtype=np.float64).reshape(-1, 3, 2)
    return np.where(np.isnan(points), points[:, :1], points)  # a handle that is None lies on the vertex


def _polygon(drawn: Doubles) -> Doubles:
    """Return the points of the control polygon of `curves`, closed: shape (3 * vertices + 1, 2), px."""
    vertices, arriving, leaving = drawn[:, 0], drawn[:, 1], drawn[:, 2]
    following = np.stack([vertices, leaving, np.roll(arriving, -1, axis=0)], axis=1).reshape(-1, 2)
    return np.concatenate([following, vertices[:1]])


def _steps(line: Doubles) -> Doubles:
    """Return the segments of a line through points: shape (points - 1, 2, 2)."""
    return np.stack([line[:-1], line[1:]], axis=1)


def _length(line: Doubles) -> float:
    return float(np.hypot(*np.diff(line, axis=0).T).sum())
