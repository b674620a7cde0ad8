"""Cells of a layer that effects show as one colour: blocks, dots of a screen. Their regions are in cells, not in px."""

from __future__ import annotations

import math
from typing import NamedTuple

from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.geometry.region import Region

MARGIN = 1
"""Cells on every side: single floats of a shader may put a pixel on a border into the next cell."""


class Bounds(NamedTuple):
    """A rectangle in layer px."""

    left: float
    top: float
    right: float
    bottom: float


def visible(scene: EffectScene, region: Region) -> Bounds:
    """Return the bounds of a region of the frame in layer px: `place()` of shaders/include/chain.glsl."""
    box = scene.layer_box
    across, down = (max(1.0, s) / max(1e-6, b) for s, b in zip(_size(scene), (box.width, box.height), strict=True))
    top, bottom = region.y, region.bottom
    if scene.mirrored:
        top, bottom = scene.frame.height - bottom, scene.frame.height - top
    return Bounds(
        (region.x - box.left) * across, (top - box.top) * down,
        (region.right - box.left) * across, (bottom - box.top) * down,
    )  # fmt: skip


def blocks_of(scene: EffectScene, region: Region, columns: float, rows: float) -> Region:
    """Return the blocks of an equal division that a region of the frame shows, and one beyond the layer on each side."""
    shown = visible(scene, region)
    width, height = (max(1.0, side) for side in _size(scene))
    left, right = (_within(edge * columns / width, columns) for edge in (shown.left, shown.right))
    top, bottom = (_within(edge * rows / height, rows) for edge in (shown.top, shown.bottom))
    return _held(left, top, right, bottom)


def turned_cells(scene: EffectScene, region: Region, cell: float, turn: float) -> Region:
    """Return the square cells of a turned lattice that a region of the frame shows within the layer; `turn` in radians."""
    shown, (width, height) = visible(scene, region), _size(scene)
    columns = [min(width, max(0.0, x)) - 0.5 for x in (shown.left, shown.right)]
    rows = [min(height, max(0.0, y)) - 0.5 for y in (shown.top, shown.bottom)]
    across = [(x * math.cos(turn) + y * math.sin(turn)) / cell for x in columns for y in rows]
    down = [(y * math.cos(turn) - x * math.sin(turn)) / cell for x in columns for y in rows]
    return _held(min(across), min(down), max(across), max(down))


def _size(scene: EffectScene) -> tuple[float, float]:
    return scene.layer_width, scene.layer_height


def _within(block: float, count: float) -> float:
    return min(count, max(-1.0, block))


def _held(left: float, top: float, right: float, bottom: float) -> Region:
    x, y = math.floor(left) - MARGIN, math.floor(top) - MARGIN
    return Region(x, y, math.floor(right) + 1 + MARGIN - x, math.floor(bottom) + 1 + MARGIN - y)
