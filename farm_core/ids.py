"""Identifiers: time-ordered, URL-safe, with a prefix that tells what they name."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


def new_id(prefix: str) -> str:
    """A new identifier such as `job_0lq3f9x2k4e8h1c7b5a9d0`: nine characters of milliseconds, thirteen of chance."""
    chance = _base36(secrets.randbelow(36**13))
    return f"{prefix}_{_base36(time.time_ns() // 1_000_000):0>9}{chance:0>13}"


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _ALPHABET[digit] + digits
    return digits or "0"
