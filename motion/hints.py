"""Hints for unknown names: the nearest known one, at a bounded cost."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

NAME_CHARACTERS_MAX: Final = 64
COMPARISONS_MAX: Final = 50_000
"""Pairs of characters that the hints of a request compare: 15 ms. A name of 60 characters, compared with a thousand of
that length, would take a second.
"""
_COMPARISONS_OF_A_NAME: Final = 50
"""Cost of comparing two short names, in pairs of characters."""


class Hints:
    """Find the known name that is nearest to an unknown one. One instance serves a request, whose names share COMPARISONS_MAX."""

    def __init__(self, known: Iterable[str], ratio_least: float) -> None:
        """`ratio_least`: least ratio of equal characters, 0 to 1."""
        self._known = {_plain(name): name for name in known}
        self._characters = sum(map(len, self._known))
        self._least = _COMPARISONS_OF_A_NAME * len(self._known)
        self._ratio_least = ratio_least
        self._left = COMPARISONS_MAX
        self._found: dict[str, str | None] = {}

    def nearest(self, name: str) -> str | None:
        """Return the nearest known name; None if none is near, the name is too long, or too much was compared before."""
        plain = _plain(name)
        if plain in self._known or len(name) > NAME_CHARACTERS_MAX:
            return self._known.get(plain)
        if plain not in self._found:
            self._left -= len(plain) * self._characters + self._least
            if self._left < 0:
                return None
            near = get_close_matches(plain, self._known, 1, self._ratio_least)
            self._found[plain] = self._known[near[0]] if near else None
        return self._found[plain]


def _plain(name: str) -> str:
    return name.lower().replace("_", "")
