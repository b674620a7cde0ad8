"""Biquads, as the Web Audio specification has them (audio.md 3.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from motion.arrays import Doubles
from motion.sound.voice import RATE, AudioEffect, Samples

BASS_HZ: Final = 320.0
TREBLE_HZ: Final = 3200.0
GAIN_MAX_DB: Final = 1541.0
RESONANCE_MAX_DB: Final = 770.0
"""Largest resonance that a browser's 32-bit numbers can hold."""
_CHUNK: Final = 128
"""Sample frames filtered by one product of matrices."""


class Coefficients(NamedTuple):
    """y = b0 x + b1 x' + b2 x'' - a1 y' - a2 y''."""

    b0: float
    b1: float
    b2: float
    a1: float
    a2: float


Shape = Callable[..., Coefficients]


def peaking(frequency: float, gain: float, q: float) -> Coefficients:
    """Raise or lower a band; `gain` in dB."""
    w, a = _angle(frequency), _amplitude(gain)
    alpha, c = math.sin(w) / (2 * max(q, 0.0001)), math.cos(w)
    return _normalised(1 + alpha * a, -2 * c, 1 - alpha * a, 1 + alpha / a, -2 * c, 1 - alpha / a)


def low_shelf(gain: float) -> Coefficients:
    """Bass at BASS_HZ, slope 1; `gain` in dB."""
    a, c, beta = _shelf(BASS_HZ, gain)
    return _normalised(
        a * ((a + 1) - (a - 1) * c + beta), 2 * a * ((a - 1) - (a + 1) * c), a * ((a + 1) - (a - 1) * c - beta),
        (a + 1) + (a - 1) * c + beta, -2 * ((a - 1) + (a + 1) * c), (a + 1) + (a - 1) * c - beta,
    )  # fmt: skip


def high_shelf(gain: float) -> Coefficients:
    """Treble at TREBLE_HZ, slope 1; `gain` in dB."""
    a, c, beta = _shelf(TREBLE_HZ, gain)
    return _normalised(
        a * ((a + 1) + (a - 1) * c + beta), -2 * a * ((a - 1) + (a + 1) * c), a * ((a + 1) + (a - 1) * c - beta),
        (a + 1) - (a - 1) * c + beta, 2 * ((a - 1) - (a + 1) * c), (a + 1) - (a - 1) * c - beta,
    )  # fmt: skip


def low_pass(cutoff: float, q: float) -> Coefficients:
    """`q` is in decibels here."""
    w = _angle(cutoff)
    alpha, c = math.sin(w) / (2 * _resonance(q)), math.cos(w)
    return _normalised((1 - c) / 2, 1 - c, (1 - c) / 2, 1 + alpha, -2 * c, 1 - alpha)


def high_pass(cutoff: float, q: float) -> Coefficients:
    """`q` is in decibels here."""
    w = _angle(cutoff)
    alpha, c = math.sin(w) / (2 * _resonance(q)), math.cos(w)
    return _normalised((1 + c) / 2, -(1 + c), (1 + c) / 2, 1 + alpha, -2 * c, 1 - alpha)


def parametric_eq(effect: AudioEffect, _length: int) -> Filters:
    """Return the processor of the equaliser."""
    return Filters(effect, [(peaking, ("frequency", "gain", "q"))])


def bass_treble(effect: AudioEffect, _length: int) -> Filters:
    """Return the processor of both shelves, the lower one first."""
    return Filters(effect, [(low_shelf, ("bass",)), (high_shelf, ("treble",))])


def high_low_pass(effect: AudioEffect, _length: int) -> Filters:
    """Return the processor of one of both passes."""
    shape = low_pass if effect.mode == "lowpass" else high_pass
    return Filters(effect, [(shape, ("cutoff", "q"))])


class Filters:
    """Biquads one after the other."""

    def __init__(self, effect: AudioEffect, shapes: Sequence[tuple[Shape, tuple[str, ...]]]) -> None:
        self._parts = [_Biquad(shape, [effect.parameters[name] for name in names]) for shape, names in shapes]

    def process(self, samples: Samples, first: int) -> Samples:
        """Return the filtered sample frames."""
        for part in self._parts:
            samples = part.process(samples, first)
        return samples


class _Biquad:
    def __init__(self, shape: Shape, curves: Sequence[object]) -> None:
        self._shape, self._curves = shape, curves
        self._is_constant = all(curve.is_constant for curve in curves)  # type: ignore[attr-defined]
        self._state = np.zeros((2 if self._is_constant else 4, 0))
        self._chunks: _Chunks | None = None

    def process(self, samples: Samples, first: int) -> Samples:
        if self._state.shape[1] != samples.shape[1]:
            self._state = np.zeros((len(self._state), samples.shape[1]))
        if not self._is_constant:
            return self._moving(samples, first)
        if self._chunks is None:
            self._chunks = _Chunks(self._shape(*(float(curve.values[0]) for curve in self._curves)))  # type: ignore[attr-defined]
        done = len(samples) // _CHUNK * _CHUNK
        whole, self._state = self._chunks.run(samples[:done], self._state)
        return np.concatenate([whole, self._rest(samples[done:], self._chunks.coefficients)])

    def _rest(self, samples: Samples, c: Coefficients) -> Samples:
        """Filter less than a chunk in direct form II transposed, which has the same state as the chunks."""
        result = np.empty_like(samples)
        for channel in range(samples.shape[1]):
            s1, s2 = self._state[:, channel].tolist()
            found = []
            for x in samples[:, channel].tolist():
                y = c.b0 * x + s1
                s1, s2 = c.b1 * x - c.a1 * y + s2, c.b2 * x - c.a2 * y
                found.append(y)
            result[:, channel] = found
            self._state[:, channel] = s1, s2
        return result

    def _moving(self, samples: Samples, first: int) -> Samples:
        """Filter with coefficients of each sample frame: direct form I, which the specification states. Other forms differ while they move."""
        times = (first + np.arange(len(samples))) / RATE
        values = [curve.at(times).tolist() for curve in self._curves]  # type: ignore[attr-defined]
        coefficients = [self._shape(*numbers) for numbers in zip(*values, strict=True)]
        result = np.empty_like(samples)
        for channel in range(samples.shape[1]):
            x1, x2, y1, y2 = self._state[:, channel].tolist()
            found = []
            for x, (b0, b1, b2, a1, a2) in zip(samples[:, channel].tolist(), coefficients, strict=True):
                y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
                x1, x2, y1, y2 = x, x1, y, y1
                found.append(y)
            result[:, channel] = found
            self._state[:, channel] = x1, x2, y1, y2
        return result


class _Chunks:
    """The same recursion, chunk by chunk: the sum of the input's response and the previous state's response."""

    def __init__(self, c: Coefficients) -> None:
        self.coefficients = c
        step = np.array([[-c.a1, 1.0], [-c.a2, 0.0]])
        entry = np.array([c.b1 - c.a1 * c.b0, c.b2 - c.a2 * c.b0])
        powers = [np.eye(2)]
        for _ in range(_CHUNK):
            powers.append(step @ powers[-1])
        response = [c.b0, *((power @ entry)[0] for power in powers[: _CHUNK - 1])]
        lags = np.arange(_CHUNK)[:, None] - np.arange(_CHUNK)[None, :]
        self._from_input: Doubles = np.where(lags >= 0, np.array(response)[np.maximum(lags, 0)], 0.0)
        self._from_state: Doubles = np.array([power[0] for power in powers[:_CHUNK]])
        self._into_state: Doubles = np.array([power @ entry for power in reversed(powers[:_CHUNK])]).T
        self._across: Doubles = powers[_CHUNK]

    def run(self, samples: Samples, state: Doubles) -> tuple[Samples, Doubles]:
        """Return the filtered whole chunks, and the state after them."""
        count, channels = len(samples) // _CHUNK, samples.shape[1]
        chunks = samples.reshape(count, _CHUNK, channels)
        entering = self._into_state @ chunks
        states = np.empty((count, 2, channels))
        for index in range(count):
            states[index] = state
            state = self._across @ state + entering[index]
        done = self._from_input @ chunks + self._from_state @ states
        return done.reshape(len(samples), channels), state


def _shelf(frequency: float, gain: float) -> tuple[float, float, float]:
    w, a = _angle(frequency), _amplitude(gain)
    return a, math.cos(w), math.sin(w) * math.sqrt(2 * a)


def _angle(frequency: float) -> float:
    """Return radians per sample frame, from 0 Hz to the highest frequency of the rate: outside of it a filter is
    unstable.
    """
    return 2 * math.pi * min(RATE / 2, max(0.0, frequency)) / RATE


def _amplitude(gain: float) -> float:
    """Return the square root of a gain in dB, as a factor."""
    return float(10 ** (min(GAIN_MAX_DB, max(-GAIN_MAX_DB, gain)) / 40))


def _resonance(q: float) -> float:
    """Return a resonance in dB as a factor."""
    return float(10 ** (min(RESONANCE_MAX_DB, max(-RESONANCE_MAX_DB, q)) / 20))


def _normalised(b0: float, b1: float, b2: float, a0: float, a1: float, a2: float) -> Coefficients:
    return Coefficients(b0 / a0, b1 / a0, b2 / a0, a1 / a0, a2 / a0)
