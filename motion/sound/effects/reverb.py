"""The reverb: a convolution with noise that decays (audio.md 3.1). Its energy is not normalised."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from motion.arrays import Doubles
from motion.sound.effects.modulation import share
from motion.sound.voice import RATE, AudioEffect, Samples
from motion.timing import round_half_up

_U32: Final = np.uint64(0xFFFF_FFFF)
FNV_OFFSET, FNV_PRIME = 2166136261, 16777619


class Reverb:
    """Overlap-add convolution: the tail of each block is added to the next blocks."""

    def __init__(self, effect: AudioEffect, _length: int) -> None:
        parameters = effect.parameters
        self._mix = share(parameters["mix"])
        decay, delay = float(parameters["decay"].values[0]), float(parameters["preDelay"].values[0])
        self._response = response(effect.id, decay, delay)
        self._spectra: dict[int, npt.NDArray[np.complex128]] = {}
        self._left = np.zeros((len(self._response), 2))

    def process(self, samples: Samples, first: int) -> Samples:
        """Dry and wet, mixed: always two channels."""
        dry = samples if samples.shape[1] == 2 else np.repeat(samples, 2, axis=1)
        count = len(dry)
        total = count + len(self._response) - 1
        size = 1 << (total - 1).bit_length()
        spectrum = self._spectra.get(size)
        if spectrum is None:
            self._spectra = {size: np.fft.rfft(self._response, size, axis=0)}  # blocks are of one size but for the ends
            spectrum = self._spectra[size]
        wet = np.fft.irfft(np.fft.rfft(dry, size, axis=0) * spectrum, size, axis=0)[:total]
        wet[: min(total, len(self._left))] += self._left[:total]
        left = np.zeros_like(self._left)
        beyond = np.concatenate([wet[count:], self._left[total:]])
        left[: len(beyond)] = beyond[: len(left)]
        self._left = left
        m = self._mix.at((first + np.arange(count)) / RATE)[:, None]
        return (1 - m) * dry + m * wet[:count]


def response(effect_id: str, decay_seconds: float, pre_delay_ms: float) -> Doubles:
    """Return the impulse response of an effect: (sample frames, 2)."""
    silent = round_half_up(min(200.0, max(0.0, pre_delay_ms)) / 1000 * RATE)
    count = max(1, round_half_up(min(10.0, max(0.1, decay_seconds)) * RATE))
    fade = 10.0 ** (-3 * np.arange(count) / count)
    found = np.zeros((silent + count, 2))
    for channel in range(2):
        found[silent:, channel] = noise(seed_of(effect_id), channel, count) * fade
    return found


def seed_of(effect_id: str) -> int:
    """32-bit FNV-1a over the UTF-16 units of the id."""
    units = np.frombuffer(effect_id.encode("utf-16-le", "surrogatepass"), np.uint16).tolist()
    found = FNV_OFFSET
    for unit in units:
        found = (found ^ unit) * FNV_PRIME & 0xFFFF_FFFF
    return found


def noise(seed: int, channel: int, count: int) -> Doubles:
    """Values of -1 to 1, by the arithmetic of JavaScript: products are doubles, their low 32 bits are mixed."""
    numbers = np.arange(1, count + 1, dtype=np.float64)
    h = numbers * 374761393.0 + channel * 668265263.0 + float(seed) * 2246822519.0
    low = h.astype(np.uint64) & _U32
    mixed = _signed(low ^ (low >> np.uint64(13)))
    h = mixed.astype(np.float64) * 1274126177.0
    low = h.astype(np.int64).astype(np.uint64) & _U32
    return (low ^ (low >> np.uint64(16))).astype(np.float64) / 2.0**31 - 1.0


def _signed(low: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return the low 32 bits as a signed number."""
    return low.astype(np.uint32).astype(np.int32).astype(np.int64)
