"""Reading a sound at any speed: windowed sinc interpolation, exact at whole sample frames."""

from __future__ import annotations

from typing import Final

import numpy as np

from motion.arrays import Doubles
from motion.sound.voice import Samples, Sound

TAPS: Final = 32
_ROWS: Final = 2048
"""Sample frames interpolated at once: memory is bounded at any speed."""


def read_exact(sound: Sound, first: int, count: int, *, backwards: bool = False) -> Samples:
    """Return sample frames [first, first + count), or first, first - 1 ... backwards. Outside the file they are zero."""
    low = first - count + 1 if backwards else first
    start, stop = max(0, low), min(sound.length, low + count)
    found = np.zeros((count, sound.channels))
    if stop > start:
        found[start - low : stop - low] = sound.read(start, stop - start)
    return found[::-1] if backwards else found


def read_at(sound: Sound, positions: Doubles, rate: float) -> Samples:
    """Return the sound at positions in sample frames. Above `rate` 1, the distance of the positions, it is low-passed first."""
    found = np.empty((len(positions), sound.channels))
    for start in range(0, len(positions), _ROWS):
        found[start : start + _ROWS] = _interpolated(sound, positions[start : start + _ROWS], max(1.0, abs(rate)))
    return found


def _interpolated(sound: Sound, positions: Doubles, widening: float) -> Samples:
    half = round(TAPS / 2 * widening)
    centres = np.floor(positions).astype(np.int64)
    low, high = int(centres.min()) - half + 1, int(centres.max()) + half + 1
    texels = read_exact(sound, low, high - low)
    offsets = np.arange(-half + 1, half + 1)
    distances = (positions - centres)[:, None] - offsets[None, :]
    weights = np.sinc(distances / widening) * np.cos(np.pi / 2 * np.clip(distances / half, -1, 1)) ** 2
    weights /= weights.sum(axis=1, keepdims=True)
    indexes = centres[:, None] + offsets[None, :] - low
    return np.stack([(texels[:, channel][indexes] * weights).sum(axis=1) for channel in range(sound.channels)], axis=1)
