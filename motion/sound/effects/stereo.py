"""The stereo mixer (audio.md 3.1). A mono file counts as left only."""

from __future__ import annotations

import math

import numpy as np

from motion.sound.curves import Curve
from motion.sound.voice import RATE, AudioEffect, Samples


class StereoMixer:
    """Level and place of both channels."""

    def __init__(self, effect: AudioEffect, _length: int) -> None:
        parameters = effect.parameters
        self._left = _panned(parameters["leftLevel"], parameters["leftPan"])
        self._right = _panned(parameters["rightLevel"], parameters["rightPan"])

    def process(self, samples: Samples, first: int) -> Samples:
        """Return two channels, each mixed from both channels of the sound."""
        times = (first + np.arange(len(samples))) / RATE
        left = samples[:, 0]
        right = samples[:, 1] if samples.shape[1] > 1 else np.zeros(len(samples))
        result = np.zeros((len(samples), 2))
        for channel, (level, angle) in ((left, self._left), (right, self._right)):
            gains, angles = level.at(times), angle.at(times)
            result[:, 0] += gains * np.cos(angles) * channel
            result[:, 1] += gains * np.sin(angles) * channel
        return result


def _panned(level: Curve, pan: Curve) -> tuple[Curve, Curve]:
    gain = level.mapped(lambda percent: min(2.0, max(0.0, percent / 100.0)))
    return gain, pan.mapped(lambda value: (min(1.0, max(-1.0, value / 100.0)) + 1) * math.pi / 4)
