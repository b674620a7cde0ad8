"""Hashes, noise, and effects made of them (effects.md 6, 8.6 to 8.9).

Most hashes run in shaders (shaders/include/hash.glsl), with keys computed here. Lattices that need doubles are hashed
here and interpolated by shaders (shaders/include/sine_noise.glsl).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.blur_passes import NEAREST
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.surface import Textures, Uniforms
from gpu_renderer.effects.values import Defines, EffectValues
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.programs import UniformValue
from motion.arrays import Doubles
from motion.formulas.noise import plane_hashes

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas

DOUBLE_BITS = 53
KEY_FACTOR = 1442695040888963328
"""Factor of the seed in the keys of scattering hashes (effects.md 6)."""
HASH_FACTORS = (374761393, 668265263)
"""Factors of a and b in the integer hashes (effects.md 6)."""
LATTICES_MAX = 8
BAND_ROWS = 32
"""Number of rows of a lattice that fit the processor's cache."""
LATTICE_ROW_TEXELS = 2048
"""Texels in a row of the texture that holds the lattices one after the other."""
GRID_CELLS = 256
"""Cells of baked fractal noise along the longer side of the canvas."""
EXACT_HASH_MAX = 2**22
"""Limit below which the products and sums of a hash are whole numbers that a double holds exactly."""
LATTICE_FREQUENCY_MAX = 2.0
"""Frequency above which each pixel has its own two corners per axis, because the lattice would be larger."""


def hash_key(k: float) -> tuple[int, int]:
    """Return a hash's key for the shader: its low 32 bits, signed, and the exponent of its last digit as a double."""
    whole = int(k)
    low = whole & 0xFFFFFFFF
    exponent = max(0, math.frexp(float(whole))[1] - DOUBLE_BITS)
    return (low - (1 << 32) if low >= 1 << 31 else low), exponent


def hash_keys(keys: Iterable[float]) -> bytes:
    """Return hash keys as an array of ivec2."""
    return np.asarray([hash_key(k) for k in keys], np.int32).tobytes()


def random_numbers(seed: int, factor: float, increment: int) -> Iterator[float]:
    """Yield random numbers, 0..1, from a 32-bit linear congruential generator.

    The generator advances before each number. A `factor` of type float rounds products to doubles.
    """
    state = int(seed * factor + increment) & 0xFFFFFFFF
    while True:
        state = int(state * factor + increment) & 0xFFFFFFFF
        yield state / 2**32


def sine_hashes(columns: Doubles, rows: Doubles, seed: float) -> npt.NDArray[np.float32]:
    """Return the sine hashes HS of a lattice's columns and rows, 0..1.

    The hash needs doubles, so it is computed here and shaders read it from a texture. The sine of each sum comes from
    the sines of its column and of its row, which are computed once.
    """
    across, down = 127.1 * columns, 311.7 * rows + 74.7 * seed
    sines, cosines = np.sin(across), np.cos(across)
    found = np.empty((len(rows), len(columns)), np.float32)
    for top in range(0, len(rows), BAND_ROWS):
        here = down[top : top + BAND_ROWS, None]
        wave = np.cos(here) * sines
        wave += np.sin(here) * cosines
        wave *= 43758.5453
        wave -= np.floor(wave)
        found[top : top + BAND_ROWS] = wave
    return found


def lattices(canvas: Canvas, octaves: Sequence[tuple[float, float]]) -> tuple[Uniforms, Textures]:
    """Return the uniforms and textures of `sine_noise(octave, pixel)`: value noise HS over the canvas.

    `octaves`: (frequency, seed) of each.
    """
    parts, starts, columns, start = [], [], [], 0
    for frequency, seed in octaves:
        x, y = _corners(canvas.width, frequency), _corners(canvas.height, frequency)
        parts.append(sine_hashes(x, y, seed).ravel())
        starts.append(start)
        columns.append(len(x))
        start += parts[-1].size
    rows = -(-start // LATTICE_ROW_TEXELS)
    texels = np.concatenate([*parts, np.zeros(rows * LATTICE_ROW_TEXELS - start, np.float32)])
    uniforms = {
        "u_lattice_starts": _ints(starts),
        "u_lattice_columns": _ints(columns),
        "u_lattice_frequencies": np.resize(np.asarray([f for f, _ in octaves], np.float32), LATTICES_MAX).tobytes(),
    }
    return uniforms, {"u_lattice": _texture(canvas, texels, LATTICE_ROW_TEXELS, rows, 1)}


def scattered_points(canvas: Canvas, cell: float, seed: float) -> moderngl.Texture:
    """Return a two-channel texture with the feature point of each cell, starting with cell (-1, -1), in fractions of the cell."""
    columns, rows = (np.arange(-1.0, int(side / cell) + 3) for side in (canvas.width, canvas.height))
    points = np.stack([sine_hashes(columns, rows, seed + shift) for shift in (0.0, 17.3)], axis=2)
    return _texture(canvas, points, len(columns), len(rows), 2)


def _corners(side: int, frequency: float) -> npt.NDArray[np.float64]:
    """Return the lattice coordinates along a side: all of them or, for a high frequency, two for each pixel.

    Products have single precision, as the shader's fractions do. Near a whole number a double can have another floor.
    """
    if frequency <= LATTICE_FREQUENCY_MAX:
        return np.arange(int((side - 1) * frequency) + 2, dtype=np.float64)
    low = np.floor(np.arange(side, dtype=np.float32) * np.float32(frequency)).astype(np.float64)
    return np.stack([low, low + 1], axis=1).ravel()


def _texture(canvas: Canvas, values: npt.NDArray[Any], columns: int, rows: int, channels: int) -> moderngl.Texture:
    texture = canvas.painter.context.texture((columns, rows), channels, values.astype(np.float32).tobytes(), dtype="f4")
    texture.filter = NEAREST
    return texture


def _ints(values: Sequence[int]) -> bytes:
    return np.asarray([*values, *[0] * (LATTICES_MAX - len(values))], np.int32).tobytes()


@effect("noise")
class Noise(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return abs(values.number("amount")) < 1e-6

    def variant(self, values: EffectValues) -> Defines:
        return (("MONOCHROME", "1"),) if values.flag("monochrome") else ()

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        evolution = values.whole("evolution") * 2147483647
        return {"u_keys": hash_keys(evolution + 40503 * channel for channel in range(3))}


@effect("add-grain")
class AddGrain(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        frequency, seed = 1 / max(0.1, values.number("size")), values.number("seed")
        shifts = (0.0, 1.7, 5.3, 9.1) if values.number("saturation") else (0.0,)
        uniforms, textures = lattices(canvas, [(frequency, seed + shift) for shift in shifts])
        canvas.apply(self.shader, values, uniforms=uniforms, spent=textures)


@effect("noise-alpha")
class NoiseAlpha(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        """Hash in the shader if all numbers are exact.

        Otherwise hash in doubles, whose products round as in the reference.
        """
        seed, phase = values.whole("seed"), values.whole("noisePhase")
        columns = np.arange(canvas.width, dtype=np.float64) + (seed + 7919 * phase)
        rows = np.arange(canvas.height, dtype=np.float64) + (104729 * phase - seed)
        if max(np.abs(columns).max(), np.abs(rows).max()) < EXACT_HASH_MAX:
            canvas.apply(self.shader, values)
            return
        hashes = plane_hashes(columns, rows[:, None]).astype(np.float32)
        texture = _texture(canvas, hashes, canvas.width, canvas.height, 1)
        canvas.apply(self.shader, values, spent={"u_hashes": texture}, defines=(("HASHED", "1"),))


@effect("fractal-noise")
class FractalNoise(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        longer = max(canvas.width, canvas.height)
        if not canvas.is_image or longer <= GRID_CELLS:
            canvas.apply(self.shader, values)
            return
        sides = (max(8, math.floor(side / longer * GRID_CELLS + 0.5)) for side in (canvas.width, canvas.height))
        cells = canvas.passed(self.shader, values, defines=(("CELLS", "1"),), region=Region(0, 0, *sides))
        canvas.apply(self.shader, values, defines=(("MEANS", "1"),), spent={"u_means": cells})


@effect("turbulent-noise")
class TurbulentNoise(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        count = values.whole("complexity", 1, 8)
        base = 1 / max(1.0, values.number("scale"))
        octaves = [(base * 2**k, values.number("evolution") + 13.7 * k) for k in range(count)]
        uniforms, textures = lattices(canvas, octaves)
        canvas.apply(self.shader, values, uniforms={**uniforms, "u_octaves": count}, spent=textures)


@effect("cell-pattern")
class CellPattern(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        cell = max(2.0, values.number("size"))
        points = scattered_points(canvas, cell, values.number("evolution"))
        canvas.apply(self.shader, values, uniforms={"u_cell": cell}, spent={"u_points": points})


@effect("scatter")
class Scatter(Effect):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        seed, evolution = values.number("seed") * KEY_FACTOR, values.number("evolution") * 3266489917
        return {"u_keys": hash_keys(seed + salt * 2246822519 + evolution for salt in (1, 2))}  # each sum rounds


@effect("roughen-edges")
class RoughenEdges(Effect):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        seed = values.number("seed")
        return {"u_keys": hash_keys((seed + 101 * k) * KEY_FACTOR for k in range(6))}


@effect("block-dissolve")
class BlockDissolve(Effect):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        return {"u_key": hash_key(values.number("seed") * KEY_FACTOR)}


@effect("burn-film")
class BurnFilm(Effect):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        # h2(x + seed, y - seed) is the hash of x and y with this key. The sum of all is cut off towards zero, so a seed
        # that is not whole has one key for sums above zero and another one below.
        key = values.number("seed") * (HASH_FACTORS[0] - HASH_FACTORS[1])
        return {"u_keys": hash_keys((math.floor(key), math.ceil(key))), "u_key": key / HASH_FACTORS[0]}


@effect("turbulent-displace")
class TurbulentDisplace(Effect):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        octaves = min(6, max(1, math.floor(values.number("complexity"))))
        across, down = (hash_keys((seed + 101 * k) * 2147483647 for k in range(6)) for seed in (7, 131))
        return {"u_octaves": octaves, "u_keys_x": across, "u_keys_y": down}
