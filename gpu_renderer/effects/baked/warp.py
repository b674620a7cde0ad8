"""Raster effects: distortions."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.hashing import hash_key
from gpu_renderer.effects.parameters import degrees, flag, number, percent, pixels, points
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.opengl.programs import UniformValue

Points = npt.NDArray[np.float64]


@effect("transform", Tier.COMMON, Route.RASTER)
class Transform(Effect):
    """Moves, scales and turns the picture within the layer."""

    is_drawn = True
    parameters = (
        pixels("positionX", 0),
        pixels("positionY", 0),
        percent("scale", 100, 0, 1000),
        degrees("rotation", 0),
        percent("opacity", 100),
    )
    shader = "effects/baked/transform.frag"


@effect("corner-pin", Tier.COMMON, Route.RASTER)
class CornerPin(Effect):
    """Moves the four corners in perspective."""

    parameters = (*points("px", "topLeft", "topRight", "bottomRight", "bottomLeft"),)
    shader = "effects/baked/corner_pin.frag"
    derived = frozenset({"u_to_unit"})

    def is_idle(self, values: EffectValues) -> bool:
        return _still(values)

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        rest = np.array([(0, 0), (width, 0), (width, height), (0, height)])
        return {"u_to_unit": _flat(_inverse(_from_unit(rest + _offsets(values))))}


@effect("bezier-warp", Tier.COMMON, Route.RASTER)
class BezierWarp(Effect):
    """Bends the four edges as curves."""

    parameters = (
        *points(
            "px",
            *("topLeft", "top1", "top2", "topRight", "right1", "right2"),
            *("bottomRight", "bottom1", "bottom2", "bottomLeft", "left1", "left2"),
        ),
    )
    shader = "effects/baked/bezier_warp.frag"
    derived = frozenset({"u_points"})

    def is_idle(self, values: EffectValues) -> bool:
        return _still(values)

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
        rest = [
            a + (b - a) * k / 3 for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True) for k in range(3)
        ]
        return {"u_points": (np.array(rest) + _offsets(values)).astype("f4").tobytes()}


@effect("mesh-warp", Tier.COMMON, Route.RASTER)
class MeshWarp(Effect):
    """Bends the picture by a lattice of four by four points."""

    parameters = (*points("px", *(f"v{vertex}" for vertex in range(16))),)
    shader = "effects/baked/mesh_warp.frag"
    derived = frozenset({"u_offsets"})

    def is_idle(self, values: EffectValues) -> bool:
        return _still(values)

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        return {"u_offsets": _offsets(values).astype("f4").tobytes()}


@effect("liquify", Tier.RARE, Route.RASTER)
class Liquify(Effect):
    """Pushes, turns and pinches under one brush."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        pixels("brushSize", 120, 0, 2000),
        pixels("pushX", 0, -1000, 1000),
        pixels("pushY", 0, -1000, 1000),
        degrees("twirl", 0, -720, 720),
        percent("pinch", 0, -100, 100),
    )
    shader = "effects/baked/liquify.frag"


@effect("warp", Tier.COMMON, Route.RASTER)
class Warp(Effect):
    """Bends the picture in one of seven styles."""

    parameters = (
        number("style", 0, 0, 6),
        percent("bend", 50, -200, 200),
        percent("horizontalDistortion", 0, -100, 100),
        percent("verticalDistortion", 0, -100, 100),
        number("warpAxis", 0, 0, 1),
    )
    shader = "effects/baked/warp.frag"


@effect("wave-warp", Tier.COMMON, Route.RASTER)
class WaveWarp(Effect):
    """A wave that runs through the picture."""

    parameters = (
        pixels("waveHeight", 20, 0, 500),
        pixels("waveWidth", 120, 2, 2000),
        degrees("direction", 90, -360, 360),
        degrees("phase", 0, -36000, 36000),
    )
    shader = "effects/baked/wave_warp.frag"


@effect("turbulent-displace", Tier.COMMON, Route.RASTER)
class TurbulentDisplace(Effect):
    """Displaces the picture by fractal noise."""

    parameters = (
        pixels("amount", 30, 0, 500),
        pixels("size", 120, 4, 1000),
        number("complexity", 2, 1, 6),
        number("evolution", 0, -10000, 10000),
    )
    shader = "effects/baked/turbulent_displace.frag"
    derived = frozenset({"u_octaves", "u_keys_x", "u_keys_y"})

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        octaves = min(6, max(1, math.floor(values.number("complexity"))))
        return {"u_octaves": octaves, "u_keys_x": _octave_keys(7), "u_keys_y": _octave_keys(131)}


@effect("polar-coordinates", Tier.COMMON, Route.RASTER)
class PolarCoordinates(Effect):
    """Rolls the picture up around its centre, or unrolls it."""

    parameters = (
        percent("interpolation", 100),
        number("conversion", 0, 0, 1),
    )
    shader = "effects/baked/polar_coordinates.frag"


@effect("optics-compensation", Tier.COMMON, Route.RASTER)
class OpticsCompensation(Effect):
    """Bends the picture like a wide lens."""

    parameters = (
        degrees("fieldOfView", 0, 0, 180),
        flag("reverse", False, literal_true=True),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
    )
    shader = "effects/baked/optics_compensation.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("fieldOfView") <= 0


@effect("page-turn", Tier.RARE, Route.RASTER)
class PageTurn(Effect):
    """Turns the picture over like a page."""

    parameters = (
        percent("amount", 0),
        degrees("angle", 45, -180, 180),
        pixels("curlRadius", 60, 1, 500),
        percent("backOpacity", 60),
        percent("shading", 55),
    )
    shader = "effects/baked/page_turn.frag"


@effect("split", Tier.RARE, Route.RASTER)
class Split(Effect):
    """Cuts the picture along a line and moves the halves apart."""

    parameters = (
        pixels("splitOffset", 0, -4000, 4000),
        degrees("angle", 0, -180, 180),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
    )
    shader = "effects/baked/split.frag"


@effect("slant", Tier.RARE, Route.RASTER)
class Slant(Effect):
    """Shears the picture from the floor or the middle."""

    parameters = (
        pixels("slant", 0, -4000, 4000),
        number("slantAxis", 0, 0, 1),
        number("floor", 1, 0, 1),
    )
    shader = "effects/baked/slant.frag"


@effect("smear", Tier.RARE, Route.RASTER)
class Smear(Effect):
    """Drags one spot of the picture to another."""

    parameters = (
        pixels("fromX", 0, -4000, 4000),
        pixels("fromY", 0, -4000, 4000),
        pixels("toX", 40, -4000, 4000),
        pixels("toY", 0, -4000, 4000),
        pixels("radius", 120, 0, 2000),
        percent("elasticity", 100, 10, 400),
    )
    shader = "effects/baked/smear.frag"


@effect("rolling-shutter", Tier.RARE, Route.RASTER)
class RollingShutter(Effect):
    """Skews the picture as a scanning shutter does."""

    parameters = (
        pixels("sweep", 30, -1000, 1000),
        pixels("wobble", 0, -500, 500),
        number("scanDirection", 0, 0, 1),
        flag("verticalScan", False),
    )
    shader = "effects/baked/rolling_shutter.frag"


@effect("flo-motion", Tier.RARE, Route.RASTER)
class FloMotion(Effect):
    """Pulls the picture towards two knots."""

    parameters = (
        pixels("knot1X", -100, -4000, 4000),
        pixels("knot1Y", 0, -4000, 4000),
        percent("knot1Amount", 30, -100, 100),
        pixels("knot2X", 100, -4000, 4000),
        pixels("knot2Y", 0, -4000, 4000),
        percent("knot2Amount", 30, -100, 100),
        percent("falloff", 40, 1, 100),
    )
    shader = "effects/baked/flo_motion.frag"


@effect("lens", Tier.RARE, Route.RASTER)
class Lens(Effect):
    """Shows the picture in a glass ball."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        percent("size", 80, 5, 200),
        percent("convergence", 60),
    )
    shader = "effects/baked/lens.frag"


@effect("griddler", Tier.RARE, Route.RASTER)
class Griddler(Effect):
    """Scales and turns the picture in square cells."""

    parameters = (
        pixels("tileSize", 60, 4, 400),
        percent("horizontalScale", 90, 1, 200),
        percent("verticalScale", 90, 1, 200),
        degrees("rotation", 10, -180, 180),
    )
    shader = "effects/baked/griddler.frag"


def _offsets(values: EffectValues) -> Points:
    """Return the effect's offsets, shape (points, 2), in the order of their declaration."""
    numbers = [values.number(parameter.key) for parameter in values.effect.parameters]
    return np.array(numbers, float).reshape(-1, 2)


def _still(values: EffectValues) -> bool:
    return not _offsets(values).any()


def _octave_keys(seed: int) -> bytes:
    keys = [hash_key((seed + 101 * octave) * 2147483647) for octave in range(6)]
    return np.array(keys, "i4").tobytes()


def _from_unit(corners: Points) -> Points:
    """Return the projective map of the unit square to TL, TR, BR, BL (format/layers.md 3.4): shape (3, 3), columns apply."""
    p0, p1, p2, p3 = corners
    d1, d2, d3 = p1 - p2, p3 - p2, p0 - p1 + p2 - p3
    den = d1[0] * d2[1] - d2[0] * d1[1]
    if abs(den) < 1e-12:
        return np.zeros((3, 3))
    g, h = (d3[0] * d2[1] - d2[0] * d3[1]) / den, (d1[0] * d3[1] - d3[0] * d1[1]) / den
    columns = (*(p1 - p0 + g * p1), g), (*(p3 - p0 + h * p3), h), (*p0, 1.0)
    return np.array(columns).T


def _inverse(matrix: Points) -> Points:
    """Return the inverse; for a degenerate pin a map that sends every point outside the unit square."""
    nowhere = np.array([(0.0, 0.0, -1.0), (0.0, 0.0, -1.0), (0.0, 0.0, 1.0)])
    return np.asarray(np.linalg.inv(matrix)) if abs(np.linalg.det(matrix)) > 1e-9 else nowhere


def _flat(matrix: Points) -> tuple[float, ...]:
    return tuple(map(float, matrix.T.ravel()))
