"""The benchmark suite: results as JSON, a table and a plot.

Each benchmark has a question, fixed scenes and a machine line. Results go to out/bench; with --store to benchmarks/results,
where they are kept with the code. Absolute figures belong to a machine: compare shares and ratios.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

from rich.console import Console

import benchmarks
from benchmarks.machine import ROOT, machine_line
from benchmarks.result import Result, compared, plot, show
from gpu_renderer.context import create_context, identity

OUT = ROOT / "out" / "bench"
STORED = ROOT / "benchmarks" / "results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which benchmarks, how thoroughly, and where to."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="benchmarks to run (default: all)")
    parser.add_argument("--list", action="store_true", help="only print the benchmarks and their questions")
    parser.add_argument("--quick", action="store_true", help="fewer frames and sizes: a first impression")
    parser.add_argument("--store", action="store_true", help="keep the results in benchmarks/results")
    parser.add_argument("--compare", metavar=("OLD", "NEW"), nargs=2, type=Path, help="compare two stored results")


def run(arguments: argparse.Namespace) -> int:
    """Runs and reports; 1 for a name that is none, or results that cannot be compared."""
    console = Console()
    if arguments.compare:
        return _compare(arguments.compare[0], arguments.compare[1], console)
    found = discovered()
    if unknown := [name for name in arguments.names if name not in found]:
        print(f"bench: there is no {', '.join(unknown)}; there are {', '.join(found)}", file=sys.stderr)
        return 1
    for name in arguments.names or found:
        if arguments.list:
            console.print(f"{name:12} {found[name].QUESTION}")
        else:
            _run(name, found[name], arguments, console)
    return 0


def discovered() -> dict[str, ModuleType]:
    """The modules of this package that ask a question, by name."""
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "QUESTION")}


def _run(name: str, module: ModuleType, arguments: argparse.Namespace, console: Console) -> None:
    machine = machine_line(_renderer())
    result = Result.of(name, module.QUESTION, module.run(quick=arguments.quick), machine)
    folder = STORED if arguments.store else OUT
    path, picture = result.write(folder), plot(result, OUT)
    show(result, console)
    console.print(f"{path} and {picture}")


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
