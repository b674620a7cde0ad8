"""Gradients as the quad shader computes them: geometry on the unit square of a shape, colours as a sum of ramps."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from gpu_renderer.content.vector import gradient
from gpu_renderer.content.vector.css import Rgba
from gpu_renderer.opengl.programs import UniformValue
from motion.snapshot import LinearGradient, RadialGradient

STOPS_MAX = 8
"""Of more stops a raster is made: each costs every pixel a ramp."""
_STEP = 1e-6
"""The least way from one stop to the next: two at the same place are a hard step."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """A gradient across a shape's box, interpolated in encoded sRGB with straight alpha (format/layers.md 6).

    `place`: linear, what the offset gains across the unit square and down it, and what it is in the corner; radial, the
    centre on the unit square, and the offset's gain across and down it.
    """

    is_radial: bool
    place: tuple[float, float, float, float]
    stops: tuple[tuple[float, Rgba], ...]

    @property
    def is_opaque(self) -> bool:
        """Whether nothing shows through it anywhere."""
        return all(color.alpha == 1.0 for _, color in self.stops)

    def defines(self) -> dict[str, object]:
        """The variant of the quad shader."""
        return {"GRADIENT": 2 if self.is_radial else 1, "STOPS": len(self.stops)}

    @property
    def ramps(self) -> tuple[tuple[float, ...], ...]:
        """For each pair of stops the offset and slope of its ramp, and what it adds to R, G, B and alpha."""
        return tuple(
            (start, 1.0 / max(end - start, _STEP), *(b - a for a, b in zip(one, other, strict=True)))
            for (start, one), (end, other) in pairwise(self.stops)
        )

    def uniforms(self) -> dict[str, UniformValue]:
        """Place, first colour, and the ramps."""
        ramps = [number for ramp in self.ramps for number in ramp[:2]]
        added = [number for ramp in self.ramps for number in ramp[2:]]
        return {
            "u_place": self.place,
            "u_first": tuple(self.stops[0][1]),
            "u_ramps": struct.pack(f"{len(ramps)}f", *ramps),
            "u_added": struct.pack(f"{len(added)}f", *added),
        }


@lru_cache(maxsize=256)
def gradient_of(paint: LinearGradient | RadialGradient, width: float, height: float) -> Gradient | None:
    """The gradient over a box of width x height px; None where only a raster can show it."""
    stops = gradient.resolved_stops(paint.stops, paint.opacity_stops)
    if not 1 <= len(stops) <= STOPS_MAX or min(width, height) <= 0.0:
        return None
    stops = [(offset, Rgba(*(math.floor(channel * 255 + 0.5) / 255 for channel in color))) for offset, color in stops]
    shown = tuple(stops if len(stops) > 1 else [*stops, *stops])
    if isinstance(paint, RadialGradient):
        x, y, radius = gradient.circle(paint, width, height)
        return Gradient(True, (0.5 + x / width, 0.5 + y / height, width / radius, height / radius), shown)
    x, y = gradient.ends(paint, width, height)
    length = 2.0 * (x * x + y * y)
    across, down = x * width / length, y * height / length
    return Gradient(False, (across, down, 0.5 - 0.5 * (across + down), 0.0), shown)
