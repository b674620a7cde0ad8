"""Results: as JSON with a machine line, as a table, as a plot with the limit drawn in, and two of them compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from benchmarks.runner.benchmark import Benchmark, Row, names

WIDTH_MAX = 10_000
"""Characters: more than any table takes."""


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a benchmark. `bar` names the column that is plotted over `label`, `limit` the line to reach."""

    name: str
    question: str
    rows: Sequence[Row]
    label: str
    bar: str
    limit: float | None = None
    recommendation: str = ""
    machine: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, name: str, benchmark: Benchmark, rows: Sequence[Row], advice: str, machine: Mapping[str, str]
    ) -> Result:
        """Return the result of a benchmark that has given its rows."""
        shown = benchmark.ordered(rows)
        return cls(name, benchmark.question, shown, benchmark.label, benchmark.bar, benchmark.limit, advice, machine)

    @classmethod
    def read(cls, path: Path) -> Result:
        """A stored result. Raises ValueError for any other file."""
        try:
            return cls(**json.loads(path.read_text()))
        except (TypeError, OSError) as error:
            raise ValueError(f"{path} is no benchmark result: {error}") from error

    def write(self, folder: Path) -> Path:
        """Write the result as JSON; return the file."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")
        return path


def show(result: Result, console: Console) -> None:
    """Print the question, all columns in as many tables as the console's width takes, and the recommendation."""
    console.print(result.question, style="italic")
    first = result.rows[0] if result.rows else {}
    rest = [column for column in first if column not in names(result.label, first)]
    while rest:
        count = len(rest)
        while count > 1 and _width(_table(result, rest[:count]), console) > console.width:
            count -= 1
        console.print(_table(result, rest[:count]))
        rest = rest[count:]
    console.print(_machine_caption(result), style="dim italic")
    if result.recommendation:
        console.print(result.recommendation)


def plot(result: Result, folder: Path) -> Path:
    """Draw the bars and the limit; return the PNG."""
    import matplotlib as mpl  # noqa: PLC0415  # slow to import, and only needed here

    mpl.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    labels = [" ".join(map(str, _key(result, row))) for row in result.rows]
    figure, axes = pyplot.subplots(figsize=(9, 1.4 + 0.34 * len(labels)), layout="constrained")
    axes.barh(labels, [row[result.bar] for row in result.rows], color="#2563eb")
    axes.invert_yaxis()
    if result.limit is not None:
        axes.axvline(result.limit, color="#dc2626", label=f"limit {result.limit:g}")
        axes.legend()
    axes.set_xlabel(result.bar.replace("_", " "))
    axes.set_title(result.question, fontsize=10)
    path = folder / f"{result.name}.png"
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path


def compared(old: Result, new: Result) -> Result:
    """Return the rows that both results have, with the ratio new / old of the plotted column."""
    before = {_key(old, row): row[old.bar] for row in old.rows}
    rows = [
        {
            new.label: " ".join(map(str, _key(new, row))),
            "old": before[_key(new, row)],
            "new": row[new.bar],
            "ratio": round(row[new.bar] / before[_key(new, row)], 3) if before[_key(new, row)] else 0.0,
        }
        for row in new.rows
        if _key(new, row) in before
    ]
    same = old.machine.get("processor") == new.machine.get("processor")
    warning = "" if same else "Measured on different machines: compare ratios, not figures."
    return Result(
        f"{new.name}-compared", f"{new.bar}: what changed?", rows, new.label, "ratio", 1.0, warning, new.machine
    )


def _table(result: Result, columns: Sequence[str]) -> Table:
    """Return a table of some columns of the result, after the columns that name its rows."""
    table = Table()
    naming = names(result.label, result.rows[0])
    for column in (*naming, *columns):
        table.add_column(column, justify="left" if column in naming else "right", no_wrap=True)
    for row in result.rows:
        table.add_row(*(_cell(row[column]) for column in (*naming, *columns)))
    return table


def _width(table: Table, console: Console) -> int:
    return Measurement.get(console, console.options.update(max_width=WIDTH_MAX), table).maximum


def _key(result: Result, row: Row) -> tuple[Any, ...]:
    return tuple(row[column] for column in names(result.label, row))


def _machine_caption(result: Result) -> str:
    machine = result.machine
    return f"{machine.get('processor', '?')}, {machine.get('cores', '?')} cores, {machine.get('renderer', '?')}, {machine.get('commit', '?')}"


def _cell(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
