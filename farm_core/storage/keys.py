"""Rules for storage keys. They keep every path inside its folder."""

from __future__ import annotations

import re
from typing import Final

_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
KEY_LENGTH_MAX = 512
FOLDERS: Final = frozenset({"assets", "documents", "frozen", "imports", "media", "results", "segments"})
"""First parts of the farm's keys. A bucket can hold objects of other programs too."""


def is_key(text: str) -> bool:
    """Return True if the text is a key: parts of `A-Z a-z 0-9 . _ -` that do not begin with a dot, separated by slashes."""
    return len(text) <= KEY_LENGTH_MAX and _KEY.fullmatch(text) is not None


def checked(key: str) -> str:
    """Return the key. Raises ValueError if it is invalid."""
    if not is_key(key):
        raise ValueError("not a storage key")
    return key
