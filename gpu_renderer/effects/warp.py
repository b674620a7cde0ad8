"""Distortions (effects.md 8.8)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.opengl.programs import UniformValue

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import EffectChain

Points = npt.NDArray[np.float64]


@effect("displacement-map")
class DisplacementMap(Effect):
    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return math.hypot(1, 1) * abs(values.number("amount")) * scene.length_scale

    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        other = chain.map_layer(values.layer("mapLayerId")) or chain.target
        chain.apply(self.shader, values, textures={"u_map": other})


class _Points(Effect):
    """An effect that moves points of the layer."""

    def is_idle(self, values: EffectValues) -> bool:
        return not _offsets(values).any()


@effect("corner-pin")
class CornerPin(_Points):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        rest = np.array([(0, 0), (width, 0), (width, height), (0, height)])
        return {"u_to_unit": _flat(_inverse(_from_unit(rest + _offsets(values))))}


@effect("bezier-warp")
class BezierWarp(_Points):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
        rest = [
            a + (b - a) * k / 3 for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True) for k in range(3)
        ]
        points = np.array(rest) + _offsets(values)
        floats = points.astype("f4")
        return {"u_points": np.hstack([floats, (points - floats).astype("f4")]).tobytes()}

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.apply(self.shader, values, defines=(("DOUBLES", "1"),))


@effect("mesh-warp")
class MeshWarp(_Points):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        return {"u_offsets": _offsets(values).astype("f4").tobytes()}


@effect("smear")
class Smear(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        is_still = all(values.number(f"from{axis}") == values.number(f"to{axis}") for axis in "XY")
        return super().is_idle(values) or is_still


def _offsets(values: EffectValues) -> Points:
    """Return the effect's offsets, shape (points, 2), in the order of their declaration."""
    numbers = [values.number(parameter.key) for parameter in values.effect.parameters]
    return np.array(numbers, float).reshape(-1, 2)


def _from_unit(corners: Points) -> Points:
    """Return the projective map from the unit square to TL, TR, BR, BL (layers.md 3.4): shape (3, 3), for column vectors."""
    p0, p1, p2, p3 = corners
    d1, d2, d3 = p1 - p2, p3 - p2, p0 - p1 + p2 - p3
    den = d1[0] * d2[1] - d2[0] * d1[1]
    if abs(den) < 1e-12:
        return np.zeros((3, 3))
    g, h = (d3[0] * d2[1] - d2[0] * d3[1]) / den, (d1[0] * d3[1] - d3[0] * d1[1]) / den
    columns = (*(p1 - p0 + g * p1), g), (*(p3 - p0 + h * p3), h), (*p0, 1.0)
    return np.array(columns).T


def _inverse(matrix: Points) -> Points:
    """Return the inverse. For a degenerate pin return a map that sends every point outside the unit square."""
    nowhere = np.array([(0.0, 0.0, -1.0), (0.0, 0.0, -1.0), (0.0, 0.0, 1.0)])
    return np.asarray(np.linalg.inv(matrix)) if abs(np.linalg.det(matrix)) > 1e-9 else nowhere


def _flat(matrix: Points) -> tuple[float, ...]:
    return tuple(map(float, matrix.T.ravel()))
