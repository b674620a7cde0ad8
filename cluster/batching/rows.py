"""Rows of a CSV file and the output path of each row."""

from __future__ import annotations

import csv
import string
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from farm_core.user_error import UserError

FAULTS_SHOWN_MAX: Final = 20


class RowsRefused(UserError):
    """The rows cannot be rendered. The message lists every fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        shown = list(faults[:FAULTS_SHOWN_MAX])
        if len(faults) > FAULTS_SHOWN_MAX:
            shown.append(f"and {len(faults) - FAULTS_SHOWN_MAX} more")
        super().__init__("nothing was rendered:\n  " + "\n  ".join(shown))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the file: line number (the header is line 1), non-empty cells and output path."""

    number: int
    cells: Mapping[str, str]
    path: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a row: an error, or a video with warnings about content that it leaves out."""

    row: Row
    error: str | None = None
    warnings: Sequence[str] = ()


def unused_columns(rows: Sequence[Row], pattern: str, inputs: Collection[str]) -> list[str]:
    """Return a warning for each column that is neither an input nor part of the pattern, such as a misspelled name."""
    used, columns = {*inputs, *_names(pattern)}, dict.fromkeys(name for row in rows for name in row.cells)
    remarks = []
    for name in columns.keys() - used:
        near = get_close_matches(name, inputs, 1, 0.75)
        hint = f"did you mean {near[0]!r}?" if near else "it is left out"
        remarks.append(f"the column {name!r} is neither an input nor part of --out; {hint}")
    return sorted(remarks)


def read_rows(path: Path, pattern: str) -> list[Row]:
    """Return the rows of a CSV file. Raises RowsRefused for a wrong file or pattern, OSError for an unreadable file."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            names = list(reader.fieldnames or [])
            lines = [(reader.line_num, line) for line in reader if any(line.values())]  # spreadsheets export empty rows
        except UnicodeDecodeError as error:
            raise RowsRefused([f"{path} is not in UTF-8: save it as 'CSV UTF-8'"]) from error
        except csv.Error as error:
            fault = f"{error}; is a quotation mark left open?" if "end of data" in str(error) else f"{error}"
            raise RowsRefused([f"{path} is not a CSV file after line {reader.line_num}: {fault}"]) from error
    if not any(names):
        raise RowsRefused([f"{path} has no names of columns in its first line"])
    if len(names) == 1 and (other := next((sign for sign in ";\t" if sign in names[0]), None)):
        raise RowsRefused([f"{path} has {other!r} between its columns: save it with commas"])
    faults = [
        f"--out names a column {name!r}, and the file has {', '.join(names)}"
        for name in _names(pattern)
        if name not in names
    ]
    faults += [
        f"the file has {count} columns {name!r}: give each its own name"
        for name, count in Counter(names).items()
        if count > 1 and name
    ]
    faults += [f"line {number} has more cells than there are names" for number, line in lines if None in line]
    if faults or not lines:
        raise RowsRefused(faults or [f"{path} has no rows"])
    rows = [_row(index, number, line, pattern) for index, (number, line) in enumerate(lines, 1)]
    twice = [str(one) for one, count in Counter(row.path for row in rows).items() if count > 1]
    if twice:
        raise RowsRefused([f"several rows write {one}: put a column that differs into --out" for one in twice])
    return rows


def _names(pattern: str) -> list[str]:
    try:
        return [name for _, name, _, _ in string.Formatter().parse(pattern) if name is not None and name != "row"]
    except ValueError as error:
        raise RowsRefused([f"--out {pattern!r}: {error}"]) from error


def _row(index: int, number: int, line: Mapping[str, str | None], pattern: str) -> Row:
    cells = {name: value for name, value in line.items() if value}
    words = {name: _as_file_name(value or "") for name, value in line.items()}
    return Row(number, cells, Path(pattern.format(**{**words, "row": f"{index:04d}"})))


def _as_file_name(text: str) -> str:
    """Return the text without characters that are invalid in a file name or could lead to another folder."""
    kept = "".join("-" if one in "/\\:\0" or not one.isprintable() else one for one in text.strip())
    return kept.strip(". ")[:100] or "empty"
