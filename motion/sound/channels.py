"""Any number of channels as one or two (audio.md 2.6)."""

from __future__ import annotations

import numpy as np

from motion.arrays import Floats

CENTRE = 0.7071


def at_most_stereo(samples: Floats) -> Floats:
    """(sample frames, channels) as one channel or two.

    Four channels are L, R, SL, SR; six are L, R, C, LFE, SL, SR, of which LFE is dropped; of others the first two are taken.
    """
    channels = samples.shape[1]
    if channels == 4:
        return 0.5 * (samples[:, :2] + samples[:, 2:])
    if channels == 6:
        return samples[:, :2] + np.float32(CENTRE) * (samples[:, 2:3] + samples[:, 4:6])
    return samples[:, :2]
