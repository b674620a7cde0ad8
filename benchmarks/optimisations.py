"""Each optimisation flag of the renderer switched off in turn, over all scenes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from benchmarks.drawing.measure import Case, measured
from benchmarks.drawing.scenes import SCENES
from benchmarks.runner.benchmark import Benchmark, Row
from gpu_renderer.frame.renderer import Optimisations

OFF: dict[str, Optimisations] = {
    "all on": Optimisations(),
    **{f"no {flag.name}": replace(Optimisations(), **{flag.name: False}) for flag in fields(Optimisations)},
}


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each scene and flag that is off. `gain` is its processor time divided by that with the flag on."""
    frames, rounds = (30, 1) if quick else (60, 3)
    for scene in list(SCENES)[:1] if quick else SCENES:
        all_on = 0.0
        for name, drawing in OFF.items():
            cpu_ms = measured(Case(scene, 1280, 720, frames, rounds, drawing=drawing, beside_encoding=False)).cpu_ms
            all_on = all_on or cpu_ms
            yield {"flag": f"{scene}: {name}", "cpu_ms": cpu_ms, "gain": round(cpu_ms / all_on, 3)}


BENCHMARK = Benchmark("What is each optimisation flag worth?", _rows, label="flag", bar="gain", limit=1.0)
