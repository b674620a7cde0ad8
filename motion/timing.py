"""Number of frames, sample time of each frame, and placement of the composition in the output (document.md 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass


def round_half_up(value: float) -> int:
    """Return the nearest integer, halves towards plus infinity: the rounding of the whole format."""
    return math.floor(value + 0.5)


def frame_count(duration_seconds: float, fps: float) -> int:
    """Return the number of frames of a duration, at least one (document.md 4.3)."""
    return max(1, round_half_up(duration_seconds * fps))


def frame_time(index: int, fps: float) -> float:
    """Return the time in seconds at which frame `index` is sampled: its start, by one division."""
    return index / fps


@dataclass(frozen=True, slots=True)
class Fit:
    """Placement of a composition in the output, output px: out = composition * scale + offset."""

    scale: float
    offset_x: float
    offset_y: float


def fit(composition_width: float, composition_height: float, output_width: float, output_height: float) -> Fit:
    """Uniform, contained, centred (document.md 4.4)."""
    scale = min(output_width / composition_width, output_height / composition_height)
    return Fit(
        scale,
        (output_width - composition_width * scale) / 2,
        (output_height - composition_height * scale) / 2,
    )
