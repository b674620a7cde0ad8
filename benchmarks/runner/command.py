"""The benchmark suite: results as JSON, a table and a plot.

Each benchmark has a question, fixed scenes and a machine line. Results go to out/bench; with --store to benchmarks/results,
where they are kept with the code. Absolute figures belong to a machine: compare shares and ratios.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

import benchmarks
from benchmarks.runner.benchmark import Benchmark, Row, names
from benchmarks.runner.machine import ROOT, machine_line
from benchmarks.runner.result import Result, compared, plot, show
from gpu_renderer.opengl.context import create_context, identity

OUT = ROOT / "out" / "bench"
STORED = ROOT / "benchmarks" / "results"
INTERRUPTED = 130
"""Exit status of a program that was interrupted, as shells report it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments: names of benchmarks, quick or full, and the folder of results."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="benchmarks to run (default: all)")
    parser.add_argument("--list", action="store_true", help="only print the benchmarks and their questions")
    parser.add_argument("--quick", action="store_true", help="fewer frames and sizes: a first impression")
    parser.add_argument("--depth", type=int, default=None, metavar="N", help="queue: costs with N jobs queued")
    parser.add_argument("--store", action="store_true", help="keep the results in benchmarks/results")
    parser.add_argument("--compare", metavar=("OLD", "NEW"), nargs=2, type=Path, help="compare two stored results")


def run(arguments: argparse.Namespace) -> int:
    """Run benchmarks and report. Return 1 for an unknown name or results that cannot be compared, 130 after an
    interrupt.
    """
    console = Console(highlight=False)
    if arguments.compare:
        return _compare(arguments.compare[0], arguments.compare[1], console)
    found = discovered()
    if arguments.depth is not None:
        arguments.names = ["depth" if name == "queue" else name for name in arguments.names]
        found |= {name: one.at_depth(arguments.depth) for name, one in found.items() if one.at_depth is not None}
    if unknown := [name for name in arguments.names if name not in found]:
        print(
            f"bench: there is no benchmark {', '.join(map(repr, unknown))}; `./farm bench --list` lists all",
            file=sys.stderr,
        )
        return 1
    for name in arguments.names or found:
        if arguments.list:
            console.print(f"{name:12} {found[name].question}")
        elif not _run(name, found[name], arguments, console):
            return INTERRUPTED
    return 0


def discovered() -> dict[str, Benchmark]:
    """Return the benchmarks in the folder `benchmarks`, by the names of their modules."""
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.ispkg]
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in names}
    return {name: module.BENCHMARK for name, module in modules.items() if hasattr(module, "BENCHMARK")}


def _run(name: str, benchmark: Benchmark, arguments: argparse.Namespace, console: Console) -> bool:
    """Run a benchmark. Return True if it was not interrupted. The rows of an interrupted one are shown but not stored."""
    machine = machine_line(_renderer())
    rows, is_whole = _measured(name, benchmark, arguments.quick, console)
    advice = benchmark.advice(rows) if is_whole else "Interrupted: nothing was written."
    result = Result.of(name, benchmark, rows, advice, machine)
    show(result, console)
    if is_whole:
        path = result.write(STORED if arguments.store else OUT)
        console.print(f"{path} and {plot(result, OUT)}")
    return is_whole


def _measured(name: str, benchmark: Benchmark, quick: bool, console: Console) -> tuple[Sequence[Row], bool]:
    """Return the rows, and True if they are complete. Each is printed as soon as it is known."""
    rows: list[Row] = []
    try:
        with console.status(f"{name}: {benchmark.question}"):
            for row in benchmark.rows(quick):
                rows.append(row)
                cells = " ".join(str(row[column]) for column in names(benchmark.label, row))
                console.print(f"{name}: {cells}: {benchmark.bar} {row[benchmark.bar]}", style="dim", soft_wrap=True)
    except KeyboardInterrupt:
        return rows, False
    return rows, True


def _renderer() -> str:
    context = create_context()
    who = identity(context)
    context.release()
    return f"{who.renderer}, {who.version}"


def _compare(old: Path, new: Path, console: Console) -> int:
    try:
        show(compared(Result.read(old), Result.read(new)), console)
    except ValueError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0
