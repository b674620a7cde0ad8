"""Audio effects, each a processor of blocks with a state (audio.md 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from motion.sound.effects import delays, filters, modulation, reverb, stereo
from motion.sound.voice import AudioEffect, Samples


class Processor(Protocol):
    """An effect at work on one voice."""

    def process(self, samples: Samples, first: int) -> Samples:
        """Process the next sample frames of the voice. `first` is the index of the first one. Calls must be in order."""


DEFAULTS: Final[dict[str, dict[str, float]]] = {
    "parametric-eq": {"frequency": 1000.0, "gain": 0.0, "q": 1.0},
    "bass-treble": {"bass": 0.0, "treble": 0.0},
    "high-low-pass": {"cutoff": 1000.0, "q": 0.707},
    "delay": {"time": 0.25, "feedback": 30.0, "mix": 40.0},
    "reverb": {"decay": 1.8, "preDelay": 20.0, "mix": 20.0},
    "flange-chorus": {"separation": 3.0, "depth": 50.0, "rate": 0.4, "feedback": 0.0, "mix": 50.0},
    "tone": {"frequency": 440.0, "level": -12.0},
    "modulator": {"rate": 30.0, "depth": 50.0},
    "stereo-mixer": {"leftLevel": 100.0, "rightLevel": 100.0, "leftPan": -100.0, "rightPan": 100.0},
    "backwards": {},
}
"""Every type with its parameters."""
TAILED: Final = frozenset({"delay", "reverb", "flange-chorus"})
"""Types that sound on after the voice."""

_MAKERS: Final[dict[str, Callable[[AudioEffect, int], Processor]]] = {
    "parametric-eq": filters.parametric_eq,
    "bass-treble": filters.bass_treble,
    "high-low-pass": filters.high_low_pass,
    "delay": delays.Delay,
    "flange-chorus": delays.FlangeChorus,
    "reverb": reverb.Reverb,
    "tone": modulation.Tone,
    "modulator": modulation.Modulator,
    "stereo-mixer": stereo.StereoMixer,
}


def processor(effect: AudioEffect, length: int) -> Processor | None:
    """Return the effect for a voice of `length` sample frames. None for `backwards`, which changes how the file is
    read.
    """
    make = _MAKERS.get(effect.type)
    return None if make is None else make(effect, length)
