"""Show the GPU and encoder in use, check every component of the farm and what it does now, and suggest fixes.

Exit status 1 if the farm could not work here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.markup import escape

from cluster.diagnosis.farm import farm_findings
from cluster.diagnosis.finding import Finding
from cluster.diagnosis.machine import machine_findings
from cluster.diagnosis.stores import store_findings
from farm_core.cli.argument_types import folder
from farm_core.settings import Settings, settings

MARKS = {"good": "[green]ok  [/]", "poor": "[yellow]note[/]", "bad": "[red]BAD [/]"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--data`."""
    parser.add_argument("--data", type=folder, default=None, metavar="DIR", help="data folder (.farm)")


def run(arguments: argparse.Namespace) -> int:
    """Print each finding, with its remedy on the next line."""
    chosen = settings() if arguments.data is None else settings().model_copy(update={"data_folder": arguments.data})
    console = Console(highlight=False)
    works = True
    for finding in _all(chosen):
        console.print(f"{MARKS[finding.grade]} {finding.subject}: {escape(finding.fact)}", soft_wrap=True)
        if finding.remedy:
            console.print(f"       {finding.remedy}", soft_wrap=True, markup=False)
        works = works and finding.grade != "bad"
    console.print("The farm can work here." if works else "The farm could not work here.")
    return 0 if works else 1


def _all(chosen: Settings) -> Iterator[Finding]:
    examinations: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
        machine_findings,
        store_findings,
        farm_findings,
    )
    for examine in examinations:
        yield from examine(chosen)
