"""Tables whose identifiers are never cut off."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table


class Listing:
    """Table of named columns. On a narrow terminal, each row becomes a block of lines without its empty cells."""

    def __init__(self, *names: str, empty: str = "") -> None:
        """Set the names of the columns, and a sentence to print instead of a table without rows."""
        self._names, self._empty = names, empty
        self._rows: list[Sequence[str]] = []

    def add_row(self, *cells: str) -> None:
        """Add a row. Its first cell is the identifier."""
        self._rows.append(cells)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._rows and self._empty:
            yield self._empty
            return
        table = self._table()
        if Measurement.get(console, options.update(max_width=10_000), table).minimum <= options.max_width:
            yield table
            return
        for row in self._rows:
            yield self._block(row)

    def _table(self) -> Table:
        table = Table(*self._names)
        table.columns[0].no_wrap = True
        for row in self._rows:
            table.add_row(*row)
        return table

    def _block(self, row: Sequence[str]) -> Table:
        block = Table.grid("", "", padding=(0, 2), pad_edge=False)
        for name, cell in zip(self._names, row, strict=True):
            if cell:
                block.add_row(name, cell)
        block.add_row("", "")
        block.columns[0].no_wrap = True
        block.columns[1].overflow = "fold"
        return block
