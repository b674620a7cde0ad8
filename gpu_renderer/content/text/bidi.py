"""Direction levels of a line (Unicode's bidirectional algorithm without explicit embeddings, which canvases rarely see).

The base direction is left to right, as a canvas's is.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby

_NEUTRAL = ("B", "S", "WS", "ON", "BN", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def levels(text: str) -> list[int]:
    """Return the embedding level of each character: even runs left to right, odd right to left."""
    kinds = [unicodedata.bidirectional(char) or "L" for char in text]
    if not any(kind in ("R", "AL", "AN") for kind in kinds):
        return [0] * len(text)
    kinds = _weak_resolved(kinds)
    kinds = _neutral_resolved(kinds)
    return [{"L": 0, "R": 1, "EN": 2, "AN": 2}[kind] for kind in kinds]


def visual_order(level_of_run: list[int]) -> list[int]:
    """Return the indices of runs from left to right (rule L2)."""
    order = list(range(len(level_of_run)))
    for level in range(max(level_of_run, default=0), 0, -1):
        start = 0
        for at_least, group in groupby(order.copy(), key=lambda index: level_of_run[index] >= level):
            count = len(list(group))
            if at_least:
                order[start : start + count] = order[start : start + count][::-1]
            start += count
    return order


def _weak_resolved(kinds: list[str]) -> list[str]:
    """Rules W1 to W7."""
    kinds, strong, previous = kinds.copy(), "L", "L"
    for index, kind in enumerate(kinds):
        resolved = previous if kind == "NSM" else kind
        if resolved in ("L", "R", "AL"):
            strong = resolved
        elif resolved == "EN" and strong == "AL":
            resolved = "AN"
        kinds[index] = previous = resolved
    kinds = ["R" if kind == "AL" else kind for kind in kinds]
    _join_separators(kinds)
    _join_terminators(kinds)
    return _numbers_after_latin(kinds)


def _join_separators(kinds: list[str]) -> None:
    for index in range(1, len(kinds) - 1):
        before, after = kinds[index - 1], kinds[index + 1]
        if (kinds[index] == "ES" and before == after == "EN") or (
            kinds[index] == "CS" and before == after and before in ("EN", "AN")
        ):
            kinds[index] = before


def _join_terminators(kinds: list[str]) -> None:
    start = 0
    for kind, group in groupby(kinds.copy()):
        end = start + len(list(group))
        if kind == "ET":
            beside = (kinds[start - 1] if start else "", kinds[end] if end < len(kinds) else "")
            kinds[start:end] = ["EN" if "EN" in beside else "ON"] * (end - start)
        start = end
    kinds[:] = ["ON" if kind in ("ES", "CS") else kind for kind in kinds]


def _numbers_after_latin(kinds: list[str]) -> list[str]:
    strong, after = "L", []
    for kind in kinds:
        strong = kind if kind in ("L", "R") else strong
        after.append("L" if kind == "EN" and strong == "L" else kind)
    return after


def _neutral_resolved(kinds: list[str]) -> list[str]:
    """Rules N1 and N2: neutrals between equal directions take them, others the base direction."""
    after, start = kinds.copy(), 0
    for neutral, group in groupby(kinds, key=lambda kind: kind in _NEUTRAL):
        end = start + len(list(group))
        if neutral:
            before, behind = _direction(after[start - 1 : start]), _direction(kinds[end : end + 1])
            after[start:end] = [before if before == behind else "L"] * (end - start)
        start = end
    return after


def _direction(kinds: list[str]) -> str:
    return "L" if not kinds or kinds[0] == "L" else "R"
