"""Parts of a frame beside its layers: camera, lights, colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from motion.snapshot.placement import Matrix4


@dataclass(frozen=True, slots=True)
class Camera:
    """The active camera (three-d.md 3 to 5): eye and look-at resolved into a view matrix."""

    view: Matrix4
    focal_length: float
    eye: tuple[float, float, float]
    depth_of_field: bool = False
    focus_distance: float = 0.0
    aperture: float = 0.0
    strength: float = 0.0
    f_stop: float = 0.0
    """Above 0: the physical model with a lens of `lens_px` (three-d.md 7)."""
    lens_px: float = 0.0


@dataclass(frozen=True, slots=True)
class Light:
    """A light as the shading of 3D layers needs it (three-d.md 6)."""

    id: str
    light: Literal["point", "ambient", "spot", "parallel"]
    color: str
    intensity: float
    position: tuple[float, float, float]
    direction: tuple[float, float, float]
    cone: float
    cone_feather: float
    radius: float
    falloff: str
    falloff_distance: float
    casts_shadows: bool
    shadow_darkness: float
    shadow_diffusion: float


@dataclass(frozen=True, slots=True)
class ColorManagement:
    """Working space and display transform (compositing.md 1.1)."""

    working_space: Literal["srgb-linear", "aces-cg"] = "srgb-linear"
    display_transform: Literal["srgb", "aces", "pq", "hlg"] = "srgb"
    bit_depth: Literal[16, 32] = 16


STANDARD_COLOR = ColorManagement()
"""Colour management of a document that states none."""
