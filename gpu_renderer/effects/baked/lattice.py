"""Noise lattices that need doubles: hashed here, interpolated by shaders (shaders/include/sine_noise.glsl)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.hashing import sine_hash
from gpu_renderer.effects.surface import Textures, Uniforms

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas

LATTICES_MAX = 8
ROW = 2048
"""Texels in a row of the texture that holds the lattices one after the other."""
FINE = 2.0
"""Above this frequency each pixel brings its own two corners a side: the lattice between them would be larger."""
LATTICE_UNIFORMS = ("u_lattice", "u_lattice_starts", "u_lattice_columns", "u_lattice_frequencies")


@contextmanager
def lattices(canvas: Canvas, octaves: Sequence[tuple[float, float]]) -> Iterator[tuple[Uniforms, Textures]]:
    """Value noise HS for each (frequency, seed) over the canvas: uniforms and textures for `sine_noise(octave, pixel)`."""
    parts, starts, columns, start = [], [], [], 0
    for frequency, seed in octaves:
        x, y = _corners(canvas.width, frequency), _corners(canvas.height, frequency)
        parts.append(sine_hash(x[None, :], y[:, None], seed).ravel().astype(np.float32))
        starts.append(start)
        columns.append(len(x))
        start += parts[-1].size
    texture = _texture(canvas, np.concatenate(parts))
    uniforms = {
        "u_lattice_starts": _ints(starts),
        "u_lattice_columns": _ints(columns),
        "u_lattice_frequencies": np.resize(np.asarray([f for f, _ in octaves], np.float32), LATTICES_MAX).tobytes(),
    }
    try:
        yield uniforms, {"u_lattice": texture}
    finally:
        texture.release()


@contextmanager
def scattered_points(canvas: Canvas, cell: float, seed: float) -> Iterator[moderngl.Texture]:
    """Provide the feature point of each cell from (-1, -1) on, in fractions of the cell, as a two-channel texture."""
    columns, rows = (np.arange(-1, int(side / cell) + 3) for side in (canvas.width, canvas.height))
    points = np.stack([sine_hash(columns[None, :], rows[:, None], seed + shift) for shift in (0.0, 17.3)], axis=2)
    texture = canvas.painter.context.texture(
        (len(columns), len(rows)), 2, np.ascontiguousarray(points, np.float32).tobytes(), dtype="f4"
    )
    texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
    try:
        yield texture
    finally:
        texture.release()


def _corners(side: int, frequency: float) -> npt.NDArray[np.float64]:
    """Return the lattice coordinates along a side: all of them or, where fine, two for each pixel."""
    if frequency <= FINE:
        return np.arange(int((side - 1) * frequency) + 2, dtype=np.float64)
    low = np.floor(np.arange(side) * np.float64(frequency))
    return np.stack([low, low + 1], axis=1).ravel()


def _texture(canvas: Canvas, values: npt.NDArray[np.float32]) -> moderngl.Texture:
    rows = -(-values.size // ROW)
    padded = np.zeros(rows * ROW, np.float32)
    padded[: values.size] = values
    texture = canvas.painter.context.texture((ROW, rows), 1, padded.tobytes(), dtype="f4")
    texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
    return texture


def _ints(values: Sequence[int]) -> bytes:
    return np.asarray([*values, *[0] * (LATTICES_MAX - len(values))], np.int32).tobytes()
