"""Effects made of an oscillator: tone and modulator (audio.md 3.1)."""

from __future__ import annotations

import numpy as np

from motion.sound.curves import Curve
from motion.sound.effects.oscillators import Oscillator
from motion.sound.voice import RATE, AudioEffect, Samples


class Tone:
    """Add a wave, equal in all channels, while the voice lasts."""

    def __init__(self, effect: AudioEffect, length: int) -> None:
        self._gain = effect.parameters["level"].mapped(lambda db: 10.0 ** (min(0.0, max(-60.0, db)) / 20.0))
        hertz = effect.parameters["frequency"].mapped(lambda value: min(20_000.0, max(20.0, value)))
        self._wave = Oscillator(effect.wave, hertz, length)

    def process(self, samples: Samples, first: int) -> Samples:
        """Return the samples with the tone."""
        gain = self._gain.at((first + np.arange(len(samples))) / RATE)
        return samples + (gain * self._wave.block(first, len(samples)))[:, None]


class Modulator:
    """Multiplies by a wave; at full depth ring modulation."""

    def __init__(self, effect: AudioEffect, length: int) -> None:
        self._depth = share(effect.parameters["depth"])
        self._wave = Oscillator(effect.wave, effect.parameters["rate"], length)

    def process(self, samples: Samples, first: int) -> Samples:
        """Return the modulated samples."""
        wave = self._wave.block(first, len(samples))
        depth = self._depth.at((first + np.arange(len(samples))) / RATE)
        return samples * ((1 - depth) + depth * wave)[:, None]


def share(percent: Curve) -> Curve:
    """Percent as 0..1, clamped."""
    return percent.mapped(lambda value: min(1.0, max(0.0, value / 100.0)))
