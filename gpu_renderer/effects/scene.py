"""Surroundings of a layer's effects: the frame, the layer's placement, and the layers that effects can read.

Some effects draw each cell of a layer in one colour, such as blocks or halftone dots. Regions of cells are in cells,
not in px.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.targets import Target

CELL_MARGIN = 1
"""Number of extra cells on every side: in the shader's single precision a pixel on a border can belong to the next cell."""


class Box(NamedTuple):
    """A rectangle of frame pixels with fractional edges."""

    left: float
    top: float
    width: float
    height: float


def no_layer(_layer_id: str) -> Target | None:
    """Return None: no other layer can be drawn."""
    return None


@dataclass(frozen=True, slots=True)
class EffectScene:
    """Data that a spatial effect can use besides its own parameters and the pixels.

    `frame`: the whole output frame (letterbox included), origin (0, 0).
    `layer_box`: the bounding rectangle of the layer's transformed quad (raster padding included), output px.
    `layer_width`, `layer_height`: the layer's own box without padding, layer px.
    `output_scale`: output px per composition px.
    `still_scale`: size of a still relative to its video, 1 in a video.
    `plane_scales`: texels per composition px of the private buffer of a 3D layer, horizontally and vertically.
    `layer_target(id)`: that layer drawn alone over the whole frame, 8-bit linear premultiplied, or None if it cannot be
    drawn. Effects do not own it.
    `mirrored`: layer coordinates run upwards, as in the reference's export (effects.md 3.5).
    """

    frame: Region
    layer_box: Box
    layer_width: float
    layer_height: float
    output_scale: float = 1.0
    still_scale: float = 1.0
    plane_scales: tuple[float, float] | None = None
    layer_target: Callable[[str], Target | None] = no_layer
    layer_id: str = ""
    mirrored: bool = True
    exact_blur: bool = False
    """True if wide blurs use the reference's own taps instead of a smaller picture."""

    @property
    def length_scales(self) -> tuple[float, float]:
        """Factors of horizontal and vertical lengths (effects.md 3.6)."""
        return self.plane_scales or (self.still_scale, self.still_scale)

    @property
    def length_scale(self) -> float:
        """Larger one of `length_scales`. Both are equal for an effect with `round_lengths`."""
        return max(self.length_scales)

    @property
    def axis_shares(self) -> tuple[float, float]:
        """Each of `length_scales` as a share of the larger one."""
        across, down = self.length_scales
        return across / self.length_scale, down / self.length_scale

    @property
    def offset_scales(self) -> tuple[float, float]:
        """Target px per composition px of a displacement, horizontally and vertically."""
        across, down = self.length_scales
        least = min(across, down)
        return self.output_scale * across / least, self.output_scale * down / least

    @property
    def sides(self) -> tuple[float, float]:
        """Width and height of the layer, layer px, at least 1."""
        return max(1.0, self.layer_width), max(1.0, self.layer_height)


class Bounds(NamedTuple):
    """A rectangle in layer px."""

    left: float
    top: float
    right: float
    bottom: float


def visible(scene: EffectScene, region: Region) -> Bounds:
    """Return the bounds, layer px, of a region of the frame: `place()` of shaders/include/chain.glsl."""
    box = scene.layer_box
    across, down = (s / max(1e-6, b) for s, b in zip(scene.sides, (box.width, box.height), strict=True))
    top, bottom = region.y, region.bottom
    if scene.mirrored:
        top, bottom = scene.frame.height - bottom, scene.frame.height - top
    return Bounds(
        (region.x - box.left) * across, (top - box.top) * down,
        (region.right - box.left) * across, (bottom - box.top) * down,
    )  # fmt: skip


def blocks_of(scene: EffectScene, region: Region, columns: float, rows: float) -> Region:
    """Return the blocks that a region of the frame shows, and one more on each side.

    The layer is divided into equal blocks.
    """
    shown, (width, height) = visible(scene, region), scene.sides
    left, right = (_within(edge * columns / width, columns) for edge in (shown.left, shown.right))
    top, bottom = (_within(edge * rows / height, rows) for edge in (shown.top, shown.bottom))
    return _cells_between(left, top, right, bottom)


def rotated_cells(scene: EffectScene, region: Region, cell: float, turn: float) -> Region:
    """Return the square cells of a rotated lattice that a region of the frame shows within the layer.

    `turn`: radians.
    """
    shown, width, height = visible(scene, region), scene.layer_width, scene.layer_height
    columns = [min(width, max(0.0, x)) - 0.5 for x in (shown.left, shown.right)]
    rows = [min(height, max(0.0, y)) - 0.5 for y in (shown.top, shown.bottom)]
    across = [(x * math.cos(turn) + y * math.sin(turn)) / cell for x in columns for y in rows]
    down = [(y * math.cos(turn) - x * math.sin(turn)) / cell for x in columns for y in rows]
    return _cells_between(min(across), min(down), max(across), max(down))


def _within(block: float, count: float) -> float:
    return min(count, max(-1.0, block))


def _cells_between(left: float, top: float, right: float, bottom: float) -> Region:
    x, y = math.floor(left) - CELL_MARGIN, math.floor(top) - CELL_MARGIN
    return Region(x, y, math.floor(right) + 1 + CELL_MARGIN - x, math.floor(bottom) + 1 + CELL_MARGIN - y)
