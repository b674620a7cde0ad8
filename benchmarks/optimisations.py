"""Each optimisation switched off in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from benchmarks.benchmark import Benchmark, Row
from benchmarks.measure import Case, measured
from gpu_renderer.optimisation import Optimisations
from gpu_renderer.pipeline import PipelineOptions

SCENES = ("title-card", "lower-third", "fifty-layers")
OFF: dict[str, tuple[Optimisations, PipelineOptions]] = {
    "all on": (Optimisations(), PipelineOptions()),
    **{
        f"no {held.name}": (replace(Optimisations(), **{held.name: False}), PipelineOptions())
        for held in fields(Optimisations)
    },
    "no evaluate_ahead": (Optimisations(), PipelineOptions(evaluate_ahead_frames=0)),
    "no encode_thread": (Optimisations(), PipelineOptions(encode_ahead_frames=0)),
    "no readback_ring": (Optimisations(), PipelineOptions(readback_depth=1)),
    "no convert_changes_only": (Optimisations(), PipelineOptions(convert_changes_only=False)),
    "no encode_from_gpu": (Optimisations(), PipelineOptions(encode_from_gpu=False)),
    "no reuse_unchanged": (Optimisations(), PipelineOptions(reuse_unchanged=False)),
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
