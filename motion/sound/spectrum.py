"""The spectrum of a moment of a sound (audio.md 3.3)."""

from __future__ import annotations

from typing import Final

import numpy as np

from motion.arrays import Doubles

WINDOW: Final = 1024
"""Samples of a spectrum."""


def magnitudes(samples: Doubles) -> list[float]:
    """Return the magnitudes of `WINDOW` samples under a Hann window at `WINDOW` / 2 frequencies, not divided by `WINDOW`.

    They are evenly spaced, from 0 Hz up to half of the sample rate.
    """
    found: list[float] = np.abs(np.fft.rfft(samples * np.hanning(WINDOW)))[: WINDOW // 2].tolist()
    return found
