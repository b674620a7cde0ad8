"""Settings of one composition."""

from __future__ import annotations

from dataclasses import dataclass

from motion.stored import Record


@dataclass(frozen=True, slots=True)
class CompositionSettings:
    """One composition's settings with every default filled in: pixels, frames per second, seconds, degrees."""

    id: str
    name: str
    width: float
    height: float
    fps: float
    duration_seconds: float
    background: str
    background_paint: Record
    global_light_angle: float
    global_light_altitude: float
