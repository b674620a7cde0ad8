"""Units of a string: words between spaces, characters with their marks, runs of one direction."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_JOINER = "\u200d"
_WORDS = re.compile(r" |[^ ]+")


def words(text: str) -> list[str]:
    """Return the text cut at spaces; every space is a word of its own."""
    return _WORDS.findall(text)


def clusters(text: str) -> Iterator[str]:
    """Characters with what attaches to them: marks, variation selectors, skin tones, joined emoji, pairs of flags."""
    current = ""
    for char in text:
        if current and not _attaches(current, char):
            yield current
            current = ""
        current += char
    if current:
        yield current


def _attaches(current: str, char: str) -> bool:
    if current[-1] == _JOINER or char in (_JOINER, "\ufe0e", "\ufe0f") or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    if _is_flag(char):
        return _is_flag(current[-1]) and len(current) % 2 == 1
    return unicodedata.category(char) in ("Mn", "Me", "Mc") or "\U000e0020" <= char <= "\U000e007f"


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
