"""Identifiers: time-ordered, URL-safe, with a prefix for their kind."""

from __future__ import annotations

import secrets
import time
from typing import Final

_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_PAIRS: Final = tuple(first + second for first in _ALPHABET for second in _ALPHABET)
_MOMENT_DIGITS: Final = 9
_CHANCE_DIGITS: Final = 13


def new_id(prefix: str) -> str:
    """Return a new identifier such as `job_0lq3f9x2k4e8h1c7b5a9d0`: nine characters of milliseconds, thirteen random
    ones."""
    moment = _base36(time.time_ns() // 1_000_000, _MOMENT_DIGITS)
    return f"{prefix}_{moment}{_base36(secrets.randbelow(36**_CHANCE_DIGITS), _CHANCE_DIGITS)}"


def _base36(number: int, digits: int) -> str:
    """Return the last `digits` digits of the number. Pairs of digits are faster: a round of leases creates hundreds
    of ids."""
    written = ""
    for _ in range(0, digits, 2):
        number, pair = divmod(number, len(_PAIRS))
        written = _PAIRS[pair] + written
    return written[-digits:]
