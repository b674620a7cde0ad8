"""Drawing cost of a shape's brush strokes (layers.md 12.3), for its budgets."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from motion.arrays import Doubles
from motion.model.content import ShapeContent
from motion.model.layer import Layer

_SIDE_MAX_PX = 16_384.0
"""Largest side of a composition: what a stroke paints beyond it is cut off."""


def crossings(layer: Layer) -> float:
    """Return the length of the brush strokes over the longer side of the box around them. Each point adds the brush's size: its round join."""
    found = lines(layer)
    if not found:
        return 0.0
    strokes = cast(ShapeContent, layer.content).brush_strokes
    size = max(stroke.size for stroke in strokes)
    joins = sum(stroke.size * len(stroke.points) for stroke in strokes)
    length = sum(float(np.hypot(*np.diff(line, axis=0).T).sum()) for line in found)
    return (length + joins) / max(float(np.ptp(np.concatenate(found), axis=0).max()) + size, 1.0)


def lines(layer: Layer) -> list[Doubles]:
    """Return the points of each brush stroke, shape (points, 2), px."""
    strokes = layer.content.brush_strokes if isinstance(layer.content, ShapeContent) else ()
    return [np.array(stroke.points, dtype=np.float64) for stroke in strokes if stroke.points]


def soft_pixels(layer: Layer) -> int:
    """Return the pixels of the boxes around the soft brush strokes with their blur, about 0.1 us each."""
    strokes = layer.content.brush_strokes if isinstance(layer.content, ShapeContent) else ()
    total = 0.0
    for stroke in strokes:
        if stroke.hardness < 1 and stroke.points:
            around = stroke.size * (1 + 2 * (1 - stroke.hardness))
            total += math.prod(
                min(_SIDE_MAX_PX, max(side) - min(side) + around) for side in zip(*stroke.points, strict=True)
            )
    return math.floor(total)
