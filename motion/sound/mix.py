"""Voices and decoded files to samples, block by block: a plain sum, in memory that does not grow with the length.

Order within a voice: file, reversal, speed, effects in list order, level, sum (audio.md 2.5 and 2.6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from motion.sound import effects
from motion.sound.resample import read_at, read_exact
from motion.sound.voice import RATE, Pause, Samples, Sound, Voice, no_pause

BLOCK: Final = 16_384
"""Sample frames mixed at once."""
_SAME_RATE: Final = 1e-9


def mix(
    voices: Sequence[Voice],
    sounds: Mapping[str, Sound],
    first_seconds: float,
    sample_count: int,
    pause: Pause = no_pause,
) -> Iterator[npt.NDArray[np.float32]]:
    """Yield the sum of all voices from `first_seconds` of the output: `sample_count` sample frames at RATE, in blocks of
    shape (sample frames, 2).

    `sounds` holds the decoded files by the voices' `source`; a voice without one is silent. Nothing is limited or normalised.
    `pause` is called before each voice of a block.
    """
    players = [_Player(one, sounds[one.source], first_seconds) for one in voices if one.source in sounds]
    for start in range(0, sample_count, BLOCK):
        count = min(BLOCK, sample_count - start)
        total = np.zeros((count, 2))
        for player in players:
            pause()
            player.add(total, start)
        yield total.astype(np.float32)


class _Player:
    """One voice, asked for blocks in order."""

    def __init__(self, voice: Voice, sound: Sound, first_seconds: float) -> None:
        self._voice, self._sound = voice, sound
        seconds = voice.length
        if voice.is_open and voice.rate > 0:  # backwards it begins in the silence after the file
            seconds = max(0.0, min(seconds, (sound.length / RATE - voice.position) / voice.rate))
        self._first = round((voice.start - first_seconds) * RATE)
        self._count = round((voice.start + seconds - first_seconds) * RATE) - self._first
        self._position, self._rate = voice.position, voice.rate
        if voice.mirror is not None:
            first, end = voice.mirror
            self._position, self._rate = min(sound.length / RATE, end) - (voice.position - first), -voice.rate
        made = [effects.processor(one, self._count) for one in voice.effects]
        self._chain = [one for one in made if one is not None]
        self._rings_on = any(one.type in effects.TAILED for one in voice.effects)

    def add(self, total: Samples, start: int) -> None:
        """Add the voice's samples to the mix from sample frame `start` on."""
        low, high = max(start, self._first), start + len(total)
        if not self._rings_on:
            high = min(high, self._first + self._count)
        if high <= low:
            return
        own = low - self._first
        samples = self._read(own, high - low)
        for one in self._chain:
            samples = one.process(samples, own)
        gain = self._voice.gain.at((own + np.arange(high - low)) / RATE)
        total[low - start : high - start] += samples * gain[:, None]

    def _read(self, own: int, count: int) -> Samples:
        """Return the voice's sample frames from its `own`-th on, zeros after its end."""
        sounding = max(0, min(count, self._count - own))
        found = np.zeros((count, self._sound.channels))
        if sounding:
            found[:sounding] = self._source(own, sounding)
        return found

    def _source(self, own: int, count: int) -> Samples:
        if abs(abs(self._rate) - 1.0) < _SAME_RATE:
            if self._rate > 0:
                return read_exact(self._sound, round(self._position * RATE) + own, count)
            return read_exact(self._sound, round(self._position * RATE) - 1 - own, count, backwards=True)
        positions = np.asarray(self._position * RATE + (own + np.arange(count)) * self._rate, np.float64)
        return read_at(self._sound, positions if self._rate > 0 else positions - 1, self._rate)
