"""Grain, denoising and scattering on a layer's canvas (format/effects.md 8.7 and 8.9)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpu_renderer.effects.baked.lattice import LATTICE_UNIFORMS, lattices
from gpu_renderer.effects.baked.windows import medians
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.hashing import hash_key
from gpu_renderer.effects.parameters import degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.opengl.programs import UniformValue

WINDOW_MAX = 8
"""Largest radius of a median's window, px."""
KEY_FACTOR = 1442695040888963328
"""Factor of the seed in scattering hashes (effects.md 6)."""


def packed(keys: list[tuple[int, int]]) -> bytes:
    """Hash keys as an array of ivec2."""
    return np.asarray(keys, np.int32).tobytes()


@effect("add-grain", Tier.COMMON, Route.RASTER)
class AddGrain(Effect):
    """Film grain, strongest in the midtones."""

    parameters = (
        percent("intensity", 30),
        pixels("size", 1, 0.1, 20),
        percent("saturation", 0),
        number("seed", 0, 0, 10000),
    )
    shader = "effects/baked/add_grain.frag"
    derived = frozenset({*LATTICE_UNIFORMS})

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("intensity") == 0

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        frequency, seed = 1 / max(0.1, values.number("size")), values.number("seed")
        shifts = (0.0, 1.7, 5.3, 9.1) if values.number("saturation") else (0.0,)
        with lattices(canvas, [(frequency, seed + shift) for shift in shifts]) as (uniforms, textures):
            canvas.apply(self.shader, values, uniforms=uniforms, textures=textures)


@effect("median", Tier.RARE, Route.RASTER)
class Median(Effect):
    """Median of each pixel's neighbourhood."""

    parameters = (pixels("radius", 2, 0, 8),)
    shader = "effects/baked/median.frag"
    derived = frozenset({"u_ranked"})
    is_one_pass = True

    def is_idle(self, values: EffectValues) -> bool:
        return values.whole("radius") <= 0

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        with medians(canvas, min(WINDOW_MAX, max(0, values.whole("radius"))), is_disc=False) as (defines, textures):
            canvas.apply(self.shader, values, textures=textures, defines=defines)


@effect("dust-scratches", Tier.RARE, Route.RASTER)
class DustScratches(Effect):
    """Replaces outliers by the median around them."""

    parameters = (
        pixels("radius", 2, 1, 8),
        number("threshold", 20, 0, 255),
    )
    shader = "effects/baked/dust_scratches.frag"
    derived = frozenset({"u_ranked"})
    is_one_pass = True

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        with medians(canvas, min(WINDOW_MAX, max(1, values.whole("radius"))), is_disc=True) as (defines, textures):
            canvas.apply(self.shader, values, textures=textures, defines=defines)


@effect("noise-alpha", Tier.RARE, Route.RASTER)
class NoiseAlpha(Effect):
    """Random holes in the alpha."""

    parameters = (
        percent("amount", 50),
        flag("uniformNoise", True),
        number("seed", 1, 0, 100000),
        number("noisePhase", 0, 0, 100000),
        flag("clipResult", True),
    )
    shader = "effects/baked/noise_alpha.frag"


@effect("scatter", Tier.RARE, Route.RASTER)
class Scatter(Effect):
    """Scatters the pixels."""

    parameters = (
        pixels("amount", 10, 0, 200),
        number("grain", 0, 0, 2),
        number("seed", 1, 0, 10000),
        number("evolution", 0, 0, 10000),
    )
    shader = "effects/baked/scatter.frag"
    derived = frozenset({"u_keys"})

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        base = values.number("seed") * KEY_FACTOR + values.number("evolution") * 3266489917
        return {"u_keys": packed([hash_key(base + salt * 2246822519) for salt in (1, 2)])}


@effect("roughen-edges", Tier.COMMON, Route.RASTER)
class RoughenEdges(Effect):
    """Eats into the alpha with noise."""

    parameters = (
        pixels("border", 12, 0, 200),
        number("edgeSharpness", 1, 0, 10),
        percent("scale", 100, 1, 1000),
        number("complexity", 2, 1, 6),
        degrees("evolution", 0, -36000, 36000),
        number("seed", 1, 0, 9999),
    )
    shader = "effects/baked/roughen_edges.frag"
    derived = frozenset({"u_keys"})

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("border") <= 0

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        seed = values.number("seed")
        return {"u_keys": packed([hash_key((seed + 101 * k) * KEY_FACTOR) for k in range(6)])}
