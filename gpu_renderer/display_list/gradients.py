"""Gradients in the form of the quad shader: geometry on the shape's unit square, colours as a sum of ramps."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from gpu_renderer.content.vector import paints
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.opengl.programs import UniformValue
from motion.snapshot import LinearGradient, RadialGradient

STOPS_MAX = 8
"""Number of stops above which a gradient becomes a raster: each stop costs one ramp per pixel."""
_STEP = 1e-6
"""Least distance between two stops. Two stops at the same offset make a hard step."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """A gradient across a shape's box, interpolated in encoded sRGB with straight alpha (format/layers.md 6).

    `place` of a linear gradient: change of the offset across and down the unit square, and the offset at its corner.
    `place` of a radial gradient: the centre on the unit square, and the change of the offset across and down.
    """

    is_radial: bool
    place: tuple[float, float, float, float]
    stops: tuple[tuple[float, Rgba], ...]

    @property
    def is_opaque(self) -> bool:
        """Return True if every colour is opaque."""
        return all(color.alpha == 1.0 for _, color in self.stops)

    def defines(self) -> dict[str, object]:
        """Return the defines of the quad shader's variant."""
        return {"GRADIENT": 2 if self.is_radial else 1, "STOPS": len(self.stops)}

    @property
    def ramps(self) -> tuple[tuple[float, ...], ...]:
        """Return the ramp of each pair of stops: offset, slope, and what it adds to R, G, B and alpha."""
        return tuple(
            (start, 1.0 / max(end - start, _STEP), *(b - a for a, b in zip(one, other, strict=True)))
            for (start, one), (end, other) in pairwise(self.stops)
        )

    def uniforms(self) -> dict[str, UniformValue]:
        """Return the uniforms: place, first colour, ramps."""
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
    """Return the gradient over a box of width x height px, or None if it needs a raster."""
    stops = paints.resolved_stops(paint.stops, paint.opacity_stops)
    if not 1 <= len(stops) <= STOPS_MAX or min(width, height) <= 0.0:
        return None
    stops = [(offset, Rgba(*(math.floor(channel * 255 + 0.5) / 255 for channel in color))) for offset, color in stops]
    shown = tuple(stops if len(stops) > 1 else [*stops, *stops])
    if isinstance(paint, RadialGradient):
        x, y, radius = paints.circle(paint, width, height)
        return Gradient(True, (0.5 + x / width, 0.5 + y / height, width / radius, height / radius), shown)
    x, y = paints.ends(paint, width, height)
    length = 2.0 * (x * x + y * y)
    across, down = x * width / length, y * height / length
    return Gradient(False, (across, down, 0.5 - 0.5 * (across + down), 0.0), shown)
