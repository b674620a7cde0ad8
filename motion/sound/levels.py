"""Levels: percent, decibels and gain (audio.md 2.5)."""

from __future__ import annotations

import math
from typing import Final

SILENT_DB: Final = -60.0
"""This level and everything below is silence."""
LOUDEST_DB: Final = 770.0
"""The gain of higher levels does not fit a 32-bit number."""


def percent_to_db(percent: float) -> float:
    """Decibels of a legacy level; 100 percent is 0 dB."""
    if percent <= 0:
        return SILENT_DB
    return max(SILENT_DB, 20.0 * math.log10(percent / 100.0))


def db_to_gain(db: float) -> float:
    """Return the factor of the amplitude; 0 at SILENT_DB and below."""
    return 0.0 if not math.isfinite(db) or db <= SILENT_DB else 10.0 ** (min(db, LOUDEST_DB) / 20.0)
