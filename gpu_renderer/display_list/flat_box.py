"""Space that the effects of a 3D layer need, in the layer's own coordinates (format/three-d.md 5)."""

from __future__ import annotations

import math
from typing import Protocol

from gpu_renderer import effects
from gpu_renderer.display_list.graph import Draw
from motion.snapshot import EffectSnapshot

MARGIN_SIZES_MAX = 1.5
BLUR_SIGMAS = 2.5
SCALE_MIN = 1e-6
"""World px per layer px of a layer without extent."""
SIDE_PX_MAX = 100_000.0
"""Largest side of a buffer. Of a larger layer only the middle is shown."""


class Paint(Protocol):
    """A box of layer px, with padding around it."""

    @property
    def width(self) -> float:
        """Width, layer px."""

    @property
    def height(self) -> float:
        """Height, layer px."""

    @property
    def padding(self) -> float:
        """Padding on every side, layer px."""


def box(step: Draw, paint: Paint) -> tuple[float, float]:
    """Return the width and height, layer px, of the layer with space for its effects. Effect lengths are world px."""
    spread = max((_spread_px(entry) for entry in step.layer.effects), default=0.0)
    sides = paint.width + 2 * paint.padding, paint.height + 2 * paint.padding
    grown = [
        side + 2 * min(spread / scale, MARGIN_SIZES_MAX * side)
        for side, scale in zip(sides, world_scale(step), strict=True)
    ]
    return min(max(grown[0], 1.0), SIDE_PX_MAX), min(max(grown[1], 1.0), SIDE_PX_MAX)


def world_scale(step: Draw) -> tuple[float, float]:
    """Return the world px per layer px, horizontally and vertically."""
    if step.plane is None:
        return 1.0, 1.0
    m = step.plane.world
    return max(math.hypot(m[0], m[4], m[8]), SCALE_MIN), max(math.hypot(m[1], m[5], m[9]), SCALE_MIN)


def _spread_px(entry: EffectSnapshot) -> float:
    """Return the reference's margin of an effect, world px (effects.md 3.6). Pixels beyond the margin are cut."""
    effect = effects.find(entry.type)
    if effect is None:
        return 0.0
    values = effects.resolve(effect, entry)
    match entry.type:
        case "blur":
            return BLUR_SIGMAS * values.number("amount")
        case "glow":
            return BLUR_SIGMAS * values.number("radius")
        case "drop-shadow":
            return abs(values.number("distance")) + BLUR_SIGMAS * values.number("softness")
        case "stroke":
            return values.number("width")
        case "displacement-map":
            return abs(values.number("amount"))
        case "compound-blur":
            return BLUR_SIGMAS * values.number("maxBlur")
    return 0.0
