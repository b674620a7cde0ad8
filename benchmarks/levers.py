"""Each optimisation switched off in turn."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from benchmarks.measure import Case, measured
from gpu_renderer.levers import Levers
from gpu_renderer.pipeline import PipelineLevers

QUESTION = "What is each lever worth?"
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


def run(*, quick: bool = False) -> dict[str, Any]:
    """A row a scene and lever that is off; `gain` is how much faster the scene is with it on."""
    frames, rounds = (60, 1) if quick else (300, 2)
    rows = []
    for scene in SCENES[:1] if quick else SCENES:
        speeds = {
            name: measured(Case(scene, 1280, 720, frames, rounds, None, pipeline, drawing)).fps
            for name, (drawing, pipeline) in OFF.items()
        }
        rows += [
            {"lever": f"{scene}: {name}", "fps": fps, "gain": round(speeds["all on"] / fps, 3)}
            for name, fps in speeds.items()
        ]
    return {"rows": rows, "label": "lever", "bar": "gain", "limit": 1.0}
