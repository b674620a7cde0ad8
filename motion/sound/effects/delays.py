"""Delay lines: delay, flange and chorus (audio.md 3.1)."""

from __future__ import annotations

from typing import Final

import numpy as np

from motion.arrays import Doubles
from motion.sound.curves import Curve
from motion.sound.effects.modulation import share
from motion.sound.effects.oscillators import Oscillator
from motion.sound.voice import RATE, AudioEffect, Samples

DELAY_MAX_SECONDS: Final = 5.0
LOOP_MIN: Final = 128
"""Sample frames of the shortest loop with feedback, as browsers have it."""


class _Line:
    """Delay line u = x + g d, d(n) = u(n - delay), with as much history as the delay needs."""

    def __init__(self, seconds_max: float, feedback: Curve) -> None:
        self._size = int(np.ceil(seconds_max * RATE)) + LOOP_MIN + 2
        self._feedback, self._loops = feedback, bool(np.any(feedback.values))
        self._past = np.zeros((0, 0))

    def run(self, samples: Samples, delays: Doubles, times: Doubles) -> Samples:
        """Return the delayed samples; `delays` in sample frames, `times` in seconds of the voice, both for each sample frame."""
        if self._past.shape[1] != samples.shape[1]:
            self._past = np.zeros((self._size, samples.shape[1]))
        if self._loops:
            delays = np.maximum(delays, LOOP_MIN)
        feedback = self._feedback.at(times)
        line = np.concatenate([self._past, samples])
        delayed = np.empty_like(samples)
        chunk = max(1, int(delays.min()) - 1) if self._loops and len(samples) else max(1, len(samples))
        for start in range(0, len(samples), chunk):
            stop = min(len(samples), start + chunk)
            echo = _between(line, self._size + np.arange(start, stop) - delays[start:stop])
            delayed[start:stop] = echo
            line[self._size + start : self._size + stop] += feedback[start:stop, None] * echo
        self._past = line[-self._size :].copy()
        return delayed


class Delay:
    """Echoes: one delay with feedback."""

    def __init__(self, effect: AudioEffect, _length: int) -> None:
        parameters = effect.parameters
        self._mix = share(parameters["mix"])
        feedback = parameters["feedback"].mapped(lambda value: min(0.95, max(0.0, value / 100.0)))
        self._delay = parameters["time"].mapped(lambda value: min(DELAY_MAX_SECONDS, max(0.0, value)) * RATE)
        self._line = _Line(min(DELAY_MAX_SECONDS, float(self._delay.values.max()) / RATE), feedback)

    def process(self, samples: Samples, first: int) -> Samples:
        """Return the sound mixed with the delayed sound."""
        times = (first + np.arange(len(samples))) / RATE
        wet = self._line.run(samples, self._delay.at(times), times)
        return _mixed(samples, wet, self._mix, times)


class FlangeChorus:
    """Flanger and chorus: a delay of at most 60 ms whose length follows an oscillator."""

    def __init__(self, effect: AudioEffect, length: int) -> None:
        parameters = effect.parameters
        self._mix, self._depth = share(parameters["mix"]), share(parameters["depth"])
        feedback = parameters["feedback"].mapped(lambda value: min(0.95, max(-0.95, value / 100.0)))
        self._separation = parameters["separation"].mapped(lambda ms: min(40.0, max(0.1, ms)) / 1000 * RATE)
        self._wave = Oscillator(effect.wave, parameters["rate"], length)
        self._line = _Line(0.06, feedback)

    def process(self, samples: Samples, first: int) -> Samples:
        """Return the sound mixed with the delayed sound."""
        times = (first + np.arange(len(samples))) / RATE
        separation = self._separation.at(times)
        swing = self._depth.at(times) * self._wave.block(first, len(samples))
        wet = self._line.run(samples, separation + separation / 2 * swing, times)
        return _mixed(samples, wet, self._mix, times)


def _mixed(dry: Samples, wet: Samples, mix: Curve, times: Doubles) -> Samples:
    m = mix.at(times)[:, None]
    return (1 - m) * dry + m * wet


def _between(line: Samples, positions: Doubles) -> Samples:
    """Return the line at positions between its sample frames."""
    lower = np.floor(positions).astype(np.int64)
    part = (positions - lower)[:, None]
    upper = np.minimum(lower + 1, len(line) - 1)
    return line[lower] * (1 - part) + line[upper] * part if part.any() else line[lower]
