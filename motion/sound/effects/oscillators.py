"""Oscillators: phase 0 at the voice's start, amplitude 1 (audio.md 3.1). Audible waves are band-limited."""

from __future__ import annotations

import math

import numpy as np

from motion.arrays import Doubles
from motion.sound.curves import Curve
from motion.sound.voice import RATE, Wave

AUDIBLE_HZ = 20.0
"""Slower waves have no harmonics that alias audibly."""
HARMONICS_MAX = 512


class Oscillator:
    """A wave whose frequency may glide. It stops with the voice, after `length` sample frames."""

    def __init__(self, wave: Wave, hertz: Curve, length: int) -> None:
        self._wave, self._hertz, self._length = wave, hertz, length
        self._phase = 0.0

    def block(self, first: int, count: int) -> Doubles:
        """Return the next `count` values. `first` is the index of the first one. Calls must be in order."""
        sounding = max(0, min(count, self._length - first))
        return np.concatenate([self._sounding(first, sounding), np.zeros(count - sounding)])

    def _sounding(self, first: int, count: int) -> Doubles:
        numbers = first + np.arange(count)
        if self._hertz.is_constant:
            hertz = float(self._hertz.values[0])
            return _values(self._wave, (numbers * (hertz / RATE)).astype(np.float64), hertz)
        steps = self._hertz.at(numbers / RATE) / RATE
        phases = self._phase + np.concatenate([[0.0], np.cumsum(steps)])
        self._phase = float(phases[-1] % 1.0)
        return _values(self._wave, phases[:-1], float(steps.max() * RATE) if count else 0.0)


def _values(wave: Wave, phases: Doubles, hertz: float) -> Doubles:
    if wave == "sine":
        return np.sin(2 * np.pi * phases)
    if hertz < AUDIBLE_HZ:
        return _plain(wave, phases)
    return _limited(wave, phases, min(HARMONICS_MAX, int(RATE / 2 / hertz)))


def _plain(wave: Wave, phases: Doubles) -> Doubles:
    if wave == "square":
        return np.where(phases % 1.0 < 0.5, 1.0, -1.0)
    if wave == "sawtooth":
        return 2 * ((phases + 0.5) % 1.0) - 1
    return 1 - 4 * np.abs((phases + 0.25) % 1.0 - 0.5)


def _limited(wave: Wave, phases: Doubles, harmonics: int) -> Doubles:
    total = np.zeros(len(phases))
    for n in range(1, harmonics + 1):
        weight = _weight(wave, n)
        if weight:
            total += weight * np.sin(2 * np.pi * n * phases)
    return total


def _weight(wave: Wave, n: int) -> float:
    """Return the weight of the sine of the n-th harmonic."""
    if wave == "sawtooth":
        return (2.0 if n % 2 else -2.0) / math.pi / n
    if n % 2 == 0:
        return 0.0
    if wave == "square":
        return 4.0 / math.pi / n
    return (8.0 if n % 4 == 1 else -8.0) / math.pi**2 / n**2
