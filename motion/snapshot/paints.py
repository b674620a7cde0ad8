"""Fills and outlines: paints, gradients, strokes, runs of a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class SolidPaint:
    """One colour."""

    color: str


@dataclass(frozen=True, slots=True)
class GradientStop:
    """A colour at an offset, which counts as held within 0..1. Stops come in the order stored."""

    offset: float
    color: str


@dataclass(frozen=True, slots=True)
class OpacityStop:
    """An opacity of 0..1 at an offset, held likewise, multiplied onto the colour stops."""

    offset: float
    opacity: float


@dataclass(frozen=True, slots=True)
class LinearGradient:
    """A linear gradient across the layer box; 0 degrees runs right, 90 down (layers.md 6)."""

    angle: float
    stops: tuple[GradientStop, ...]
    opacity_stops: tuple[OpacityStop, ...] = ()


@dataclass(frozen=True, slots=True)
class RadialGradient:
    """A circular gradient; centre as a fraction of the box, radius as a fraction of the half diagonal."""

    center_x: float
    center_y: float
    radius: float
    stops: tuple[GradientStop, ...]
    opacity_stops: tuple[OpacityStop, ...] = ()


Paint = SolidPaint | LinearGradient | RadialGradient


class PathPoint(NamedTuple):
    """A vertex with absolute handles, in pixels from the centre of the layer box."""

    x: float
    y: float
    in_x: float
    in_y: float
    out_x: float
    out_y: float


@dataclass(frozen=True, slots=True)
class Run:
    """One sub-path. `opacity` and `stroke_factor` differ from 1 only on copies of a repeater and on wiggled runs."""

    points: tuple[PathPoint, ...]
    closed: bool
    opacity: float = 1.0
    stroke_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Taper:
    """Widths and lengths as fractions, eases 0..1 (layers.md 7.2)."""

    start_width: float = 1.0
    end_width: float = 1.0
    start_length: float = 0.0
    end_length: float = 0.0
    start_ease: float = 0.0
    end_ease: float = 0.0


@dataclass(frozen=True, slots=True)
class Wave:
    """Amount and wavelength in px, phase in degrees."""

    amount: float
    wavelength: float
    phase: float


@dataclass(frozen=True, slots=True)
class Stroke:
    """An outline; `paint` is resolved (the stroke's own colour is a SolidPaint), opacity 0..1, lengths in layer px."""

    paint: Paint
    width: float
    opacity: float = 1.0
    align: Literal["center", "inside", "outside"] = "center"
    dash: tuple[float, ...] = ()
    dash_offset: float = 0.0
    cap: Literal["butt", "round", "square"] = "butt"
    join: Literal["miter", "round", "bevel"] = "miter"
    taper: Taper | None = None
    wave: Wave | None = None


@dataclass(frozen=True, slots=True)
class BrushStroke:
    """A paint stroke over a shape (layers.md 12.3)."""

    points: tuple[tuple[float, float], ...]
    color: str
    size: float
    opacity: float
    hardness: float
    mode: Literal["paint", "erase", "clone"]
    clone_x: float = 0.0
    clone_y: float = 0.0


class Mesh(NamedTuple):
    """A deformed triangle mesh over the layer's texture (puppet and skeleton rigs).

    `vertices`: (x, y, u, v), x and y in layer px from the box centre, u and v in 0..1 of the unpadded box;
    `triangles`: indices, three a triangle, later triangles in front.
    """

    vertices: tuple[tuple[float, float, float, float], ...]
    triangles: tuple[tuple[int, int, int], ...]
