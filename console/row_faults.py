"""Labels of a template's inputs, and faults of a table by its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from motion.template import InputField

_LINES_MAX: Final = 20
"""Limit of ranges of lines that are named beside a fault that they share."""


def labels_of(fields: Sequence[InputField]) -> dict[str, str]:
    """Return the label of each input by id. A label that several inputs have is followed by the id."""
    labels = {field.id: field.label or field.id for field in fields}
    count = Counter(labels.values())
    return {name: label if count[label] == 1 else f"{label} ({name})" for name, label in labels.items()}


def by_fault(rows: Iterable[tuple[int, Iterable[str]]]) -> list[tuple[str, str]]:
    """Return each fault with the lines that have it, such as *Lines 2–5, 9*, in the order of the first lines.

    `rows` are numbers of lines with the faults of the line, in ascending order.
    """
    lines: dict[str, list[int]] = {}
    for line, faults in rows:
        for one in dict.fromkeys(faults):
            lines.setdefault(one, []).append(line)
    return [(_words(numbers), fault) for fault, numbers in lines.items()]


def _words(numbers: Sequence[int]) -> str:
    """Return line numbers as text. Numbers that follow one another become a range."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    shown = ", ".join("–".join(map(str, one)) for one in ranges[:_LINES_MAX])
    more = sum(one[-1] - one[0] + 1 for one in ranges[_LINES_MAX:])
    return f"{'Line' if len(numbers) == 1 else 'Lines'} {shown}{f' and {more:,} more' if more else ''}"
