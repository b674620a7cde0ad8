"""Division of a text into the units of its animators' selectors (animation.md 7.2)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from motion.formulas.expressions.values import SPACE


class Units(NamedTuple):
    """The unit of every code point, -1 without a unit, and the number of units."""

    of: tuple[int, ...]
    total: int


@lru_cache(maxsize=256)
def divide(content: str, based_on: str) -> Units:
    """Return the units of a text: characters (also for an unknown word), characters without spaces, words, or lines."""
    if based_on == "charactersExcludingSpaces":
        return _visible(content)
    if based_on == "words":
        return _words(content)
    if based_on == "lines":
        return _lines(content)
    return Units(tuple(range(len(content))), len(content))


def _visible(content: str) -> Units:
    units: list[int] = []
    count = 0
    for character in content:
        units.append(-1 if character in SPACE else count)
        count += character not in SPACE
    return Units(tuple(units), count)


def _words(content: str) -> Units:
    """White space belongs to the word before it, at the start to the first one."""
    if not content.strip(SPACE):
        return Units((0,) * len(content), max(1, len(content)))
    units: list[int] = []
    word, is_in_space = -1, True
    for character in content:
        if is_in_space and character not in SPACE:
            word += 1
        is_in_space = character in SPACE
        units.append(max(0, word))
    return Units(tuple(units), word + 1)


def _lines(content: str) -> Units:
    """Authored lines only; the newline belongs to the line that it ends."""
    units: list[int] = []
    line = 0
    for character in content:
        units.append(line)
        line += character == "\n"
    return Units(tuple(units), line + 1)
