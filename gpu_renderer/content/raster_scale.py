"""Raster px per layer px of a layer's content (format/layers.md 5, compositing.md 2.6)."""

from __future__ import annotations

from motion.timing import round_half_up

TIERS = (0.5, 1.0, 2.0, 4.0)
CONTINUOUS_TIERS = (*TIERS, 8.0, 16.0, 32.0, 64.0)
SIDE_PX_MAX = 4096.0
CONTINUOUS_AREA_PX_MAX = 16_777_216.0


def tier(requested: float, *, continuous: bool = False, width: float = 1.0, height: float = 1.0) -> float:
    """Return the smallest rung of the ladder that holds the requested scale, else the highest."""
    ladder = CONTINUOUS_TIERS if continuous else TIERS
    allowed = [step for step in ladder if step <= 4 or width * height * step * step <= CONTINUOUS_AREA_PX_MAX]
    return next((step for step in allowed if step >= requested), allowed[-1])


def supersample(step: float, longest_px: float) -> float:
    """Raster px per layer px of an unbaked layer: twice the tier, less where a side would grow too long."""
    doubled = 2 * step
    if longest_px * doubled > SIDE_PX_MAX:
        return max(step, min(doubled, SIDE_PX_MAX / longest_px))
    return doubled


def of_field(requested: float, width: float, height: float) -> float:
    """Raster px per layer px of a field of particles: the requested scale itself, at least a half (layers.md 12.2)."""
    longest = max(1, round_half_up(width), round_half_up(height))
    return max(TIERS[0], min(requested, SIDE_PX_MAX / longest))
