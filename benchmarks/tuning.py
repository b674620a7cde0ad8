"""Encoder presets and threads, and depths of the pipeline's queues, on one scene that changes and one that mostly stands."""

from __future__ import annotations

from typing import Any

from benchmarks.measure import Case, measured
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.pipeline import PipelineLevers

QUESTION = "Which encoder threads, preset, readback depth and queue lengths are fastest here?"
SCENES = ("title-card", "fifty-layers")
VARIANTS: dict[str, tuple[EncoderProfile, PipelineLevers]] = {
    "as shipped": (EncoderProfile(), PipelineLevers()),
    **{f"{n} encoder threads": (EncoderProfile(threads=n), PipelineLevers()) for n in (1, 3, 4)},
    **{
        f"preset {name}": (EncoderProfile(preset=name), PipelineLevers())
        for name in ("ultrafast", "superfast", "medium")
    },
    **{f"readback depth {n}": (EncoderProfile(), PipelineLevers(readback_depth=n)) for n in (1, 3)},
    **{f"evaluate {n} ahead": (EncoderProfile(), PipelineLevers(evaluate_ahead_frames=n)) for n in (0, 8)},
    **{f"encode {n} ahead": (EncoderProfile(), PipelineLevers(encode_ahead_frames=n)) for n in (0, 8)},
}


def run(*, quick: bool = False) -> dict[str, Any]:
    """A row a variant and scene; the recommendation names the fastest that keeps the preset."""
    frames, rounds = (60, 1) if quick else (240, 2)
    rows: list[dict[str, Any]] = []
    for scene in SCENES[:1] if quick else SCENES:
        for name, (encoder, levers) in VARIANTS.items():
            found = measured(Case(scene, 1280, 720, frames, rounds, encoder, levers))
            rows.append(
                {
                    "variant": f"{scene}: {name}",
                    "fps": found.fps,
                    "alone": found.encode_alone_fps,
                    "share": found.limit_share,
                }
            )
    kept = [row for row in rows if "preset" not in row["variant"]]
    best = [
        max((row for row in kept if row["variant"].startswith(scene)), key=lambda row: row["fps"], default=None)
        for scene in SCENES
    ]
    recommendation = "Fastest with the shipped preset: " + "; ".join(row["variant"] for row in best if row)
    return {"rows": rows, "label": "variant", "bar": "fps", "recommendation": recommendation}
