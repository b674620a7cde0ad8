"""Exact random numbers of the format; pictures depend on their last bits (animation.md 4.7, 6.6, 7.2; layers.md 8.5,
12.1).

All words are 32 bits wide. Every product is a double and its rounding matters.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from motion.arrays import Doubles

_WORD = 0xFFFFFFFF
_P1 = 374761393.0
_P2 = 668265263.0
_P3 = 2246822519.0
_P4 = 2654435761.0
_MIX = 1274126177.0
_SCALE = 4294967296.0


def sine_hash(n: float) -> float:
    """Return the hash of expressions: 0..1 for any number, integer or not."""
    angle = 127.1 * n
    return _fraction(math.sin(angle) * 43758.5453) if math.isfinite(angle) else math.nan


def smooth_noise(x: float) -> float:
    """Return value noise over `sine_hash`, 0..1."""
    if not math.isfinite(x):
        return math.nan
    cell = math.floor(x)
    f = x - cell
    low = sine_hash(cell)
    return low + (sine_hash(cell + 1.0) - low) * smoothstep(f)


@lru_cache(maxsize=4096)
def property_seed(node_id: str, property_path: str) -> int:
    """Return the seed of a property, 0..10006, from the UTF-16 code units of its key."""
    h = 0
    units = f"{node_id}:{property_path}".encode("utf-16-le", "surrogatepass")
    for at in range(0, len(units), 2):
        h = (31 * h + int.from_bytes(units[at : at + 2], "little")) & _WORD
    return h % 10007


def draw(seed: float, counter: int) -> float:
    """Return the `counter`-th random number of an expression, counted from 1."""
    return sine_hash(1013.7 * seed + 71.3 * counter)


def wiggle_offset(seed: float, time: float, frequency: float, amplitude: float, octaves: int, factor: float) -> float:
    """Return the offset that `wiggle` adds to the value, with at most eight octaves."""
    total = amplitude_sum = 0.0
    f, a = frequency, amplitude
    for _ in range(min(8, max(1, octaves))):
        total += (2.0 * smooth_noise(time * f + seed) - 1.0) * a
        amplitude_sum += a
        f *= 2.0
        a *= factor
    return total / amplitude_sum * amplitude if amplitude_sum > 0 else 0.0


def unit_hash(a: float, b: float) -> float:
    """Return the hash of text selectors, 0..1."""
    return _scramble((_signed(a) + 1.0) * _P1 + (_signed(b) + 1.0) * _P2) / _SCALE


def unit_hashes(a: Doubles, b: float) -> Doubles:
    """`unit_hash` of many numbers at once."""
    return _scrambled((_signed_words(a) + 1.0) * _P1 + (_signed(b) + 1.0) * _P2)


def clone_hash(i: int, salt: int, seed: float) -> float:
    """Return the hash of cloners and particles, 0..1."""
    return _scramble(i * _P1 + salt * _P2 + seed * _P3) / _SCALE


def permutation(count: int, seed: float) -> tuple[int, ...]:
    """Return a Fisher-Yates shuffle of 0..count-1 with the hash of text selectors."""
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = math.floor(unit_hash(i, seed) * (i + 1))
        order[i], order[j] = order[j], order[i]
    return tuple(order)


def unit_wiggles(q: Doubles, time: float, channel: int) -> Doubles:
    """Return the value noise of text selectors at many places, 0..1, between whole times."""
    cell = math.floor(time)
    word = _signed_words(q * _P4 + 40503.0 * channel)
    low, high = (_scrambled((word + 1.0) * _P1 + (_signed(k) + 1.0) * _P2) for k in (cell, cell + 1.0))
    return low + (high - low) * smoothstep(time - cell)


def smoothstep(f: float) -> float:
    """f squared times (3 - 2f)."""
    return f * f * (3.0 - 2.0 * f)


def _scramble(x: float) -> int:
    word = _unsigned(x)
    first = _as_signed(word ^ (word >> 13))
    second = _unsigned(first * _MIX)
    return second ^ (second >> 16)


def _unsigned(x: float) -> int:
    """Return the number truncated toward zero, modulo 2**32; 0 if it is not finite."""
    return int(x) & _WORD if math.isfinite(x) else 0


def _signed(x: float) -> int:
    return _as_signed(_unsigned(x))


def _as_signed(word: int) -> int:
    return word - 0x100000000 if word & 0x80000000 else word


def _fraction(x: float) -> float:
    return x - math.floor(x)


def clone_hashes(i: Doubles, salt: int, seed: float) -> Doubles:
    """`clone_hash` of many numbers at once."""
    return _scrambled(i * _P1 + salt * _P2 + seed * _P3)


def plane_hashes(a: Doubles, b: Doubles) -> Doubles:
    """Return the hash of raster effects, 0..1, of any whole numbers (effects.md 6, h2); the arrays are broadcast."""
    return _scrambled(a * _P1 + b * _P2)


def lattices(i: Doubles, k: float, seed: float, channel: int) -> Doubles:
    """Return the noise of path operators at an integer time, -1..1."""
    return _scrambled((i + 1.0) * _P1 + k * _P2 + seed * _P3 + channel * _P4) * 2.0 - 1.0


def _scrambled(x: Doubles) -> Doubles:
    word = _words(x)
    second = _words(_as_signed_words(word ^ (word >> 13)) * _MIX)
    return np.asarray((second ^ (second >> 16)) / _SCALE)


def _signed_words(x: Doubles) -> Doubles:
    return _as_signed_words(_words(x))


def _as_signed_words(word: npt.NDArray[np.int64]) -> Doubles:
    return np.where(word >= 1 << 31, word - (1 << 32), word).astype(np.float64)


def _words(x: Doubles) -> npt.NDArray[np.int64]:
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.nan_to_num(x, posinf=0.0, neginf=0.0)
        return np.asarray(np.fmod(finite, _SCALE).astype(np.int64) & _WORD)
