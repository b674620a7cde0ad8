"""Each optimisation switched off in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from benchmarks.benchmark import Benchmark, Row
from benchmarks.measure import Case, measured
from gpu_renderer.optimisation import Levers
from gpu_renderer.pipeline import PipelineLevers

SCENES = ("title-card", "lower-third", "fifty-layers")
OFF: dict[str, tuple[Levers, PipelineLevers]] = {
    "all on": (Levers(), PipelineLevers()),
    **{f"no {held.name}": (replace(Levers(), **{held.name: False}), PipelineLevers()) for held in fields(Levers)},
    "no evaluate_ahead": (Levers(), PipelineLevers(evaluate_ahead_frames=0)),
    "no encode_thread": (Levers(), PipelineLevers(encode_ahead_frames=0)),
    "no readback_ring": (Levers(), PipelineLevers(readback_depth=1)),
    "no convert_changes_only": (Levers(), PipelineLevers(convert_changes_only=False)),
    "no encode_from_gpu": (Levers(), PipelineLevers(encode_from_gpu=False)),
    "no reuse_unchanged": (Levers(), PipelineLevers(reuse_unchanged=False)),
}


def _rows(quick: bool) -> Iterator[Row]:
    """A row a scene and lever that is off; `gain` is how much faster the scene is with it on."""
    frames, rounds = (60, 1) if quick else (300, 2)
    for scene in SCENES[:1] if quick else SCENES:
        all_on = 0.0
        for name, (drawing, pipeline) in OFF.items():
            case = Case(scene, 1280, 720, frames, rounds, None, pipeline, drawing, beside_encoding=False)
            fps = measured(case).fps
            all_on = all_on or fps
            yield {"lever": f"{scene}: {name}", "fps": fps, "gain": round(all_on / fps, 3)}


BENCHMARK = Benchmark("What is each lever worth?", _rows, label="lever", bar="gain", limit=1.0)
