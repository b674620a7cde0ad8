"""Secrets of API keys, and the stored form of any secret."""

from __future__ import annotations

import hashlib
import secrets
import string
from typing import Final

LIVE_PREFIX: Final = "pm_live_"
PREFIX_LENGTH: Final = 12
_ALPHABET: Final = string.ascii_letters + string.digits + "-_"
_RANDOM_LENGTH: Final = 40


def new_secret() -> str:
    """Return a new secret: `pm_live_` and forty random URL-safe characters (240 bits)."""
    return LIVE_PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))


def hash_of(secret: str) -> str:
    """Return the stored form of a secret. With 240 random bits, a plain SHA-256 cannot be reversed by search."""
    return hashlib.sha256(secret.encode()).hexdigest()
