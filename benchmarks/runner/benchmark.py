"""A benchmark: a question, and the rows that answer it, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
"""A line of the result: columns by name."""


def names(label: str, row: Row) -> tuple[str, ...]:
    """Return the columns that identify a row: its label, and its size if it has one."""
    return tuple(column for column in (label, "size") if column in row)


def _nothing(_rows: Sequence[Row]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A module here with a `BENCHMARK` is found by its name."""

    question: str
    rows: Callable[[bool], Iterator[Row]]
    """Function that measures and yields each row as soon as it is known. True makes it quick: fewer frames, sizes or
    rounds.
    """
    label: str
    """The column that names a row."""
    bar: str
    """The column that is plotted."""
    limit: float | None = None
    """The line to reach."""
    advice: Callable[[Sequence[Row]], str] = _nothing
    """Function from the rows to a recommendation for this machine, or to their shortfalls."""
    is_ranked: bool = False
    """True if the rows are sorted by the plotted column, largest first."""
    at_depth: Callable[[int], Benchmark] | None = None
    """Function from a number of queued jobs to the same benchmark beside that many, for `--depth`."""

    def ordered(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the rows as they are shown."""
        return sorted(rows, key=lambda row: -float(row[self.bar])) if self.is_ranked else rows
