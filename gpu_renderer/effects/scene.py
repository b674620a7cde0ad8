"""Surroundings of a layer's effects: the frame, the layer's placement, and the layers that effects can read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.targets import Target


class Box(NamedTuple):
    """A rectangle of frame pixels with fractional edges."""

    left: float
    top: float
    width: float
    height: float


def no_layer(_layer_id: str) -> Target | None:
    """No other layer can be drawn."""
    return None


@dataclass(frozen=True, slots=True)
class EffectScene:
    """All that a spatial effect may know besides its own parameters and the pixels.

    `frame`: the whole output frame (letterbox included), origin (0, 0). `layer_box`: the bounding rectangle of the
    layer's transformed quad (raster padding included) in output px. `layer_width`, `layer_height`: the layer's own box,
    unpadded, in layer px. `output_scale`: output px per composition px. `length_scales`: multiply every length
    from left to right and from top to bottom; 1 for layers of the frame, texels per composition px for the private buffer
    of a 3D layer (effects.md 3.6).
    `layer_target(id)`: that layer drawn alone over the whole frame, 8-bit linear premultiplied, or None where it cannot
    be; the effects do not own it. `mirrored`: layer coordinates run upwards as on the reference's export (effects.md 3.5).
    """

    frame: Region
    layer_box: Box
    layer_width: float
    layer_height: float
    output_scale: float = 1.0
    length_scales: tuple[float, float] = (1.0, 1.0)
    layer_target: Callable[[str], Target | None] = no_layer
    layer_id: str = ""
    mirrored: bool = True
    exact_blur: bool = False
    """True if wide blurs use the reference's own taps instead of a smaller picture."""

    @property
    def length_scale(self) -> float:
        """Greater of `length_scales`; both are the same for an effect whose lengths are `round_lengths`."""
        return max(self.length_scales)

    @classmethod
    def adjustment(
        cls, frame: Region, output_scale: float, layer_target: Callable[[str], Target | None] = no_layer
    ) -> EffectScene:
        """Return the scene of an adjustment layer: its box is one pixel in the frame's corner (effects.md 5)."""
        return cls(frame, Box(0, 0, 1, 1), 1, 1, output_scale=output_scale, layer_target=layer_target)
