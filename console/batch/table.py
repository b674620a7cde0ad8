"""Parse tables of input values: CSV text, or rows copied from a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from api.batches.schemas import ROWS_MAX
from farm_core.assets.repository import FILE_NAME_MAX
from farm_core.strict_json import character_fault
from motion.hints import Hints
from motion.template import InputField

CHARACTERS_MAX: Final = 1_000_000
COLUMNS_MAX: Final = 1_000
"""As many as a JSON object of a request has members."""
REMARKS_MAX: Final = 20
_SEPARATORS: Final = {"\t": "a tab", ";": "a semicolon", ",": "a comma"}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: the number of its last line, and its non-empty cells by input id.

    A row with a `fault` cannot be rendered.
    """

    line: int
    cells: Mapping[str, str]
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, ids of the inputs with a column, and warnings about other columns. A table with a `fault` cannot be rendered."""

    rows: Sequence[Row] = ()
    inputs: Sequence[str] = ()
    remarks: Sequence[str] = ()
    fault: str | None = None


def read_table(text: str, fields: Sequence[InputField]) -> Table:
    """Parse a table. The first line names inputs by id or label. Commas, semicolons or tabs separate cells."""
    text = text.removeprefix("\ufeff").strip("\r\n")
    if not text.strip():
        return Table(fault="The table is empty. Its first line names the inputs, and each further line is a video.")
    if len(text) > CHARACTERS_MAX:
        return Table(fault=f"The table has more than {CHARACTERS_MAX:,} characters. Render it in parts.")
    if fault := character_fault(text):
        return Table(fault=f"The table {fault}.")
    separator = _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        return Table(fault=f"{_reading_fault(str(error))}, after line {reader.line_num}.")
    return _table(names, lines, fields, _SEPARATORS[separator])


def _reading_fault(error: str) -> str:
    """Return a sentence without its full stop for an error of the csv module."""
    if "end of data" in error:
        return "A quotation mark is not closed"
    if "field larger" in error:
        return f"A cell has more than {csv.field_size_limit():,} characters"
    return f"The table cannot be read: {error}"


def example(fields: Sequence[InputField], designed: Mapping[str, str]) -> str:
    """Return an example table as CSV: a column for each input, a row of default values, in an encoding for spreadsheets."""
    out = io.StringIO()
    csv.writer(out).writerows([[field.id for field in fields], [designed.get(field.id, "") for field in fields]])
    return "\ufeff" + out.getvalue()


def _table(
    names: Sequence[str], lines: Sequence[tuple[int, Sequence[str]]], fields: Sequence[InputField], separator: str
) -> Table:
    if len(names) > COLUMNS_MAX:
        return Table(fault=f"The first line has {len(names):,} names; a table has at most {COLUMNS_MAX:,} columns.")
    if not fields:
        return Table(fault="The template has no inputs, so all rows would be the same video.")
    columns = list(_inputs_of(names, fields))
    inputs = [one for one in columns if one is not None]
    labels = ", ".join(field.id for field in fields[:20])
    if not inputs:
        return Table(fault=f"The first line names no input of this template. Its inputs are: {labels}.")
    if twice := [name for name, count in Counter(inputs).items() if count > 1]:
        return Table(fault=f"Several columns are for the input {twice[0]!r}. Keep one of them.")
    if not lines:
        return Table(fault="The table has names, and no rows below them.")
    if len(lines) > ROWS_MAX:
        return Table(fault=f"The table has {len(lines):,} rows; at most {ROWS_MAX:,} are rendered at once.")
    rows = [Row(line, dict(_cells(columns, cells)), _excess(cells[len(names) :], separator)) for line, cells in lines]
    return Table(rows, inputs, list(_remarks(names, columns, fields)))


def with_uploads(rows: Sequence[Row], media: Collection[str], addresses: Mapping[str, str]) -> list[Row]:
    """Return the rows with the addresses of uploads instead of their names in cells of these media inputs."""
    return [
        replace(
            row,
            cells={
                name: addresses.get(cell.strip(), cell) if name in media else cell for name, cell in row.cells.items()
            },
        )
        for row in rows
    ]


def file_names(rows: Sequence[Row], media: Collection[str]) -> set[str]:
    """Return the cells of these media inputs that are no addresses."""
    cells = {cell.strip() for row in rows for name, cell in row.cells.items() if name in media}
    return {cell for cell in cells if "/" not in cell and len(cell) <= FILE_NAME_MAX}


def _cells(columns: Sequence[str | None], cells: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((name, cell) for name, cell in zip(columns, cells, strict=False) if name is not None and cell.strip())


def _excess(cells: Sequence[str], separator: str) -> str | None:
    """Return the fault of a row for its cells without a name, or None if all of them are empty."""
    if not any(cell.strip() for cell in cells):
        return None
    count = "1 cell" if len(cells) == 1 else f"{len(cells):,} cells"
    mend = f"If a cell contains {separator}, put it between quotation marks."
    return f"{count} more than the first line has names. {mend}"


def _separator(text: str) -> str:
    """Return the separator of the names in the first line."""
    first = text.splitlines()[0]
    return max(_SEPARATORS, key=lambda sign: (first.count(sign), sign == ","))


def _inputs_of(names: Sequence[str], fields: Sequence[InputField]) -> Iterator[str | None]:
    """Yield the id of each column's input: its name is the id, or a label that no other input has. Letter case does not count."""
    ids, alike = {field.id for field in fields}, defaultdict[str, set[str]](set)
    for field in fields:
        alike[field.id.casefold()].add(field.id)
        alike[field.label.casefold()].add(field.id)
    for name in names:
        meant = {name} if name in ids else alike.get(name.casefold(), set())
        yield next(iter(meant)) if name and len(meant) == 1 else None


def _remarks(names: Sequence[str], columns: Sequence[str | None], fields: Sequence[InputField]) -> Iterator[str]:
    """Yield a remark on each named column that changes no video; from REMARKS_MAX on, one on all others."""
    hints = Hints((field.id for field in fields), ratio_least=0.75)
    unknown = [name for name, column in zip(names, columns, strict=True) if column is None and name]
    for name in unknown[:REMARKS_MAX]:
        near = hints.nearest(name)
        hint = f" Did you mean “{near}”?" if near else ""
        yield f"The column “{name[:100]}” is left out: no single input has this id or label.{hint}"
    if (more := len(unknown) - REMARKS_MAX) > 0:
        yield f"{more:,} more columns are left out."
