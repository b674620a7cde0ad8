"""Text direction inside a line: Unicode's bidirectional algorithm (UAX 9)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeVar

T = TypeVar("T")

_CLASSES = {"L": "L", "": "L", "R": "R", "AL": "A", "EN": "E", "AN": "N", "ES": "S", "CS": "C", "ET": "T", "NSM": "M"}
"""One letter for each class of the algorithm. Other classes are neutral: O."""
_PAIRED = (
    "()[]{}༺༻༼༽᚛᚜⁅⁆⁽⁾₍₎⌈⌉⌊⌋❨❩❪❫❬❭❮❯❰❱❲❳❴❵⟅⟆⟦⟧⟨⟩⟪⟫⟬⟭⟮⟯⦃⦄⦅⦆⦇⦈⦉⦊⦋⦌⦍⦐⦏⦎⦑⦒⦓⦔⦕⦖⦗⦘⧘⧙⧚⧛⧼⧽"
    "⸢⸣⸤⸥⸦⸧⸨⸩⹕⹖⹗⹘⹙⹚⹛⹜〈〉《》「」『』【】〔〕〖〗〘〙〚〛﹙﹚﹛﹜﹝﹞（）［］｛｝｟｠｢｣"
)
"""Pairs of an opening and a closing bracket, one after the other (Unicode's BidiBrackets.txt)."""
_CLOSING = dict(zip(_PAIRED[::2], _PAIRED[1::2], strict=True))
_MAX_OPEN = 63
"""Nesting depth at which rule BD16 stops looking for pairs."""


def levels(text: str, base: str = "L") -> list[int]:
    """Return the embedding level of each character: even runs left to right, odd right to left.

    `base`: direction of the line, L or R. On a canvas it is L. Explicit embeddings are rare, and treated as neutral.
    """
    kinds = "".join(_CLASSES.get(unicodedata.bidirectional(char), "O") for char in text)
    if base == "L" and not re.search("[RAN]", kinds):
        return [0] * len(text)
    kinds = f"{base}{kinds}{base}"  # the base direction is on both sides
    kinds = re.sub("(.)M+", lambda run: run[1] * len(run[0]), kinds)  # W1
    kinds = re.sub("A[^LR]*", lambda run: run[0].replace("E", "N"), kinds).replace("A", "R")  # W2 and W3
    kinds = re.sub("(?<=N)C(?=N)", "N", re.sub("(?<=E)[SC](?=E)", "E", kinds))  # W4
    kinds = re.sub("(?<=E)T+|T+(?=E)", lambda run: "E" * len(run[0]), kinds)  # W5
    kinds = re.sub("[SCT]", "O", kinds)  # W6
    kinds = re.sub("L[^LR]*", lambda run: run[0].replace("E", "L"), kinds)  # W7
    kinds = _with_brackets(text, kinds, base)  # N0
    kinds = re.sub("(?<=[REN])O+(?=[REN])", lambda run: "R" * len(run[0]), kinds)  # N1
    kinds = re.sub("(?<=L)O+(?=L)", lambda run: "L" * len(run[0]), kinds)
    level_of = {"L": 0, "O": 0, "R": 1, "E": 2, "N": 2} if base == "L" else {"L": 2, "O": 1, "R": 1, "E": 2, "N": 2}
    return [level_of[kind] for kind in kinds[1:-1]]  # N2: other neutrals have the base level


def visual_order(level_of_run: list[int]) -> list[int]:
    """Return the indices of runs from left to right (rule L2)."""
    order = list(range(len(level_of_run)))
    for level in range(max(level_of_run, default=0), 0, -1):
        for at_least, start, end in equal_runs([level_of_run[index] >= level for index in order]):
            if at_least:
                order[start:end] = order[start:end][::-1]
    return order


def equal_runs(values: Iterable[T]) -> Iterator[tuple[T, int, int]]:
    """Yield value, start and end of each run of equal values."""
    start = 0
    for value, group in groupby(values):
        end = start + len(list(group))
        yield value, start, end
        start = end


def _with_brackets(text: str, kinds: str, base: str) -> str:
    """Give both brackets of a pair the direction of the text inside them or before them (rule N0).

    `kinds` has one letter more than `text` at each end. Numbers count as right to left.
    """
    resolved = list(kinds)
    for opening, closing in _bracket_pairs(text):
        inside = {"L" if kind == "L" else "R" for kind in resolved[opening + 1 : closing] if kind != "O"}
        if base in inside:
            direction = base
        elif inside:
            direction = next("L" if kind == "L" else "R" for kind in reversed(resolved[:opening]) if kind != "O")
        else:
            continue
        for bracket in (opening, closing):
            resolved[bracket] = direction
            for at in range(bracket, len(text)):  # marks on a bracket have its direction
                if unicodedata.bidirectional(text[at]) != "NSM":
                    break
                resolved[at + 1] = direction
    return "".join(resolved)


def _bracket_pairs(text: str) -> list[tuple[int, int]]:
    """Return the places of paired brackets, counted from 1, in order of the opening ones (rule BD16)."""
    pairs: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    for at, char in enumerate(text, 1):
        if char in _CLOSING:
            if len(opened) == _MAX_OPEN:
                return []
            opened.append((_CLOSING[char], at))
        for index in range(len(opened) - 1, -1, -1):
            if opened[index][0] == char:
                pairs.append((opened[index][1], at))
                del opened[index:]
                break
    return sorted(pairs)
