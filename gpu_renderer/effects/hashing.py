"""Keys and lattices of the noise functions (format/effects.md 6); the hashes themselves are in shaders/include/hash.glsl."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

DOUBLE_BITS = 53


def hash_key(k: float) -> tuple[int, int]:
    """Return a hash's key for the shader: its low 32 bits, signed, and the exponent of its last place as a double."""
    whole = int(k)
    low = whole & 0xFFFFFFFF
    exponent = max(0, math.frexp(float(whole))[1] - DOUBLE_BITS)
    return (low - (1 << 32) if low >= 1 << 31 else low), exponent


def sine_hash(x: npt.ArrayLike, y: npt.ArrayLike, seed: float) -> npt.NDArray[np.float64]:
    """HS: a hash that needs doubles, so it is made here and reaches shaders as a texture."""
    wave = np.sin(127.1 * np.asarray(x) + 311.7 * np.asarray(y) + 74.7 * seed) * 43758.5453
    return np.asarray(wave - np.floor(wave), np.float64)
