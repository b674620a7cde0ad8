"""Tables of a template's values: CSV text, or rows that were copied from a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from api.batches.schemas import ROWS_MAX
from farm_core.strict_json import character_fault
from motion.template import InputField

CHARACTERS_MAX: Final = 1_000_000
_SEPARATORS: Final = "\t;,"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: the number of its last line, and its cells that are not empty, by input id."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, the ids of the inputs that have a column, and remarks on the other columns. With a `fault` nothing can be rendered."""

    rows: Sequence[Row] = ()
    inputs: Sequence[str] = ()
    remarks: Sequence[str] = ()
    fault: str | None = None


def read_table(text: str, fields: Sequence[InputField]) -> Table:
    """Return the table of the text. Its first line names inputs by id or label; commas, semicolons or tabs part its cells."""
    text = text.removeprefix("\ufeff").strip("\r\n")
    if not text.strip():
        return Table(fault="The table is empty. Its first line names the inputs, and each further line is a video.")
    if len(text) > CHARACTERS_MAX:
        return Table(fault=f"The table has more than {CHARACTERS_MAX:,} characters. Render it in parts.")
    if fault := character_fault(text):
        return Table(fault=f"The table {fault}.")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        fault = (
            "A quotation mark is not closed" if "end of data" in str(error) else f"The table cannot be read: {error}"
        )
        return Table(fault=f"{fault}, after line {reader.line_num}.")
    return _table(names, lines, fields)


def example(fields: Sequence[InputField], designed: Mapping[str, str]) -> str:
    """Return a table as CSV with a column for each input and a row with the template's own values. Spreadsheets read its encoding."""
    out = io.StringIO()
    csv.writer(out).writerows([[field.id for field in fields], [designed.get(field.id, "") for field in fields]])
    return "\ufeff" + out.getvalue()


def _table(names: Sequence[str], lines: Sequence[tuple[int, Sequence[str]]], fields: Sequence[InputField]) -> Table:
    columns = [_input_of(name, fields) for name in names]
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
    if long := [line for line, cells in lines if any(cells[len(names) :])]:
        return Table(fault=f"Line {long[0]} has more cells than the first line has names.")
    rows = [Row(line, dict(_cells(columns, cells))) for line, cells in lines]
    return Table(rows, inputs, list(_remarks(names, columns, fields)))


def _cells(columns: Sequence[str | None], cells: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((name, cell) for name, cell in zip(columns, cells, strict=False) if name is not None and cell.strip())


def _separator(text: str) -> str:
    """Return the sign that parts the names in the first line."""
    first = text.splitlines()[0]
    return max(_SEPARATORS, key=lambda sign: (first.count(sign), sign == ","))


def _input_of(name: str, fields: Sequence[InputField]) -> str | None:
    """Return the id of the input that a column is for: its id, or a label that no other input has. Letter case does not count."""
    if any(field.id == name for field in fields):
        return name
    alike = [field.id for field in fields if name and name.casefold() in (field.id.casefold(), field.label.casefold())]
    return alike[0] if len(alike) == 1 else None


def _remarks(names: Sequence[str], columns: Sequence[str | None], fields: Sequence[InputField]) -> Iterator[str]:
    """Yield a remark on each named column that changes no video."""
    for name, column in zip(names, columns, strict=True):
        if column is None and name:
            near = get_close_matches(name, [field.id for field in fields], 1, 0.75)
            hint = f" Did you mean “{near[0]}”?" if near else ""
            yield f"The column “{name[:100]}” is left out: no single input has this id or label.{hint}"
