"""Encoder presets and threads, and depths of the pipeline's queues, on one scene that changes and one that mostly stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.drawing.measure import Case, measured
from benchmarks.runner.benchmark import Benchmark, Row
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.pipeline import PipelineOptions

SCENES = ("title-card", "fifty-layers")
VARIANTS: dict[str, tuple[EncoderProfile, PipelineOptions]] = {
    "as shipped": (EncoderProfile(), PipelineOptions()),
    **{f"{n} encoder threads": (EncoderProfile(threads=n), PipelineOptions()) for n in (1, 2, 4)},
    **{
        f"preset {name}": (EncoderProfile(preset=name), PipelineOptions())
        for name in ("ultrafast", "superfast", "medium")
    },
    **{f"readback depth {n}": (EncoderProfile(), PipelineOptions(readback_depth=n)) for n in (1, 3)},
    **{f"evaluate {n} ahead": (EncoderProfile(), PipelineOptions(evaluate_ahead_frames=n)) for n in (0, 8)},
    **{f"encode {n} ahead": (EncoderProfile(), PipelineOptions(encode_ahead_frames=n)) for n in (0, 8)},
}


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each variant and scene."""
    frames, rounds = (60, 1) if quick else (240, 2)
    for scene in SCENES[:1] if quick else SCENES:
        for name, (encoder, options) in VARIANTS.items():
            found = measured(Case(scene, 1280, 720, frames, rounds, encoder, options))
            yield {
                "variant": f"{scene}: {name}",
                "fps": found.fps,
                "alone": found.same_alone_fps,
                "share": found.same_share,
            }


def _advice(rows: Sequence[Row]) -> str:
    """Name the fastest of each scene that keeps the preset."""
    kept = [row for row in rows if "preset" not in row["variant"]]
    of_scenes = [[row for row in kept if row["variant"].startswith(scene)] for scene in SCENES]
    best = [max(found, key=lambda row: float(row["fps"]))["variant"] for found in of_scenes if found]
    return f"Fastest with the shipped preset: {'; '.join(best)}" if best else ""


BENCHMARK = Benchmark(
    "Which encoder threads, preset, readback depth and queue lengths are fastest here?",
    _rows,
    label="variant",
    bar="fps",
    advice=_advice,
)
