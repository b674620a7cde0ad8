"""Placement of a layer: in the plane, or in space with a material."""

from __future__ import annotations

from dataclasses import dataclass

from motion.records import record

Matrix4 = tuple[
    float, float, float, float, float, float, float, float,
    float, float, float, float, float, float, float, float,
]  # fmt: skip
"""Sixteen numbers in row order: x' = m[0]*x + m[1]*y + m[2]*z + m[3]."""


@record(frozen=True, slots=True)
class Transform2D:
    """The decomposed world transform plus the layer's own anchor, skew and corner pin (layers.md 3).

    p -> T(x, y) R(rotation) K(skew) S(scale) (p - anchor), p in px from the box centre.
    `corner_pin`: eight numbers TL, TR, BR, BL in unit-square coordinates of the drawn quad, None when it is the identity.
    """

    x: float
    y: float
    rotation: float = 0.0
    scale_x: float = 1.0
    scale_y: float = 1.0
    skew: float = 0.0
    skew_axis: float = 0.0
    anchor_x: float = 0.0
    anchor_y: float = 0.0
    corner_pin: tuple[float, float, float, float, float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """Response of a 3D layer to light (three-d.md 6.3); fractions, not percent."""

    accepts_lights: bool = True
    accepts_shadows: bool = True
    ambient: float = 1.0
    diffuse: float = 0.5
    specular: float = 0.5
    shininess: float = 0.05
    metal: float = 1.0
    light_transmission: float = 0.0


@dataclass(frozen=True, slots=True)
class Extrusion:
    """Depth and bevel in px (three-d.md 8)."""

    depth: float
    bevel: float
    side_fill: str | None = None
    bevel_fill: str | None = None
    back_fill: str | None = None
    side_gain: float = 1.0
    bevel_gain: float = 1.0
    back_gain: float = 1.0


@dataclass(frozen=True, slots=True)
class Transform3D:
    """World matrix of a 3D layer; the anchor's x and y enter when the quad is placed (three-d.md 2)."""

    matrix: Matrix4
    anchor_x: float
    anchor_y: float
    flat: Transform2D
    """The same layer without depth, for routes that leave the depth path (mattes, motion blur)."""
    material: Material = Material()
    extrusion: Extrusion | None = None
    sorted_at: tuple[float, float, float] | None = None
    """The world point whose depth decides the drawing order, None for the layer's own origin: planes of one text share one."""
    lit_at: tuple[float, float, float] | None = None
    """The point at which lights shade the layer as a whole (three-d.md 6.2), None for the matrix's origin."""
