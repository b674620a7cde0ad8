"""Several render processes on this machine at once, each with its share of the cores, and segments of several lengths."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.machine import ROOT
from cluster.slots import raster_share

FRAMES = 240
SCENE = "fifty-layers"


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each number of workers and segment length: frames a second of all workers together."""
    cores = len(os.sched_getaffinity(0))
    counts = [1] if quick else sorted({1, 2, cores, cores + 1})
    lengths = [60] if quick else [30, 60, 120, 240]
    for count, length in [*((count, 120) for count in counts), *((1, length) for length in lengths)]:
        yield _row(count, length, FRAMES)


def _advice(rows: Sequence[Row]) -> str:
    best = max(rows, key=lambda row: float(row["fps"]), default=None)
    if best is None:
        return ""
    return f"Most frames a second: {best['workers']} workers, segments of {best['segment_frames']} frames."


def _row(workers: int, segment_frames: int, frames: int) -> Row:
    cores = len(os.sched_getaffinity(0))
    words = [
        sys.executable,
        "-m",
        "benchmarks.workers",
        json.dumps([segment_frames, frames, raster_share(cores, workers)]),
    ]
    started = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(workers)]
    spans = [json.loads(process.communicate()[0].splitlines()[-1]) for process in started]
    seconds = max(end for _, end in spans) - min(begin for begin, _ in spans)
    return {
        "variant": f"{workers} workers, segments of {segment_frames}",
        "workers": workers,
        "segment_frames": segment_frames,
        "fps": round(workers * frames / seconds, 1),
    }


def work(segment_frames: int, frames: int, raster_threads: int) -> tuple[float, float]:
    """Render the scene in segments, warm; return when it began and ended, in seconds of the wall clock."""
    from benchmarks.drawing.scenes import SCENES  # noqa: PLC0415  # only the worker processes need the renderer
    from gpu_renderer.commands.options import default_session_options  # noqa: PLC0415
    from gpu_renderer.session import Output, RenderSession  # noqa: PLC0415
    from motion.bundle import read_value  # noqa: PLC0415

    path = Path(f"/tmp/bench-{os.getpid()}.mp4")
    with RenderSession(replace(default_session_options(), raster_threads=raster_threads)) as session:
        document = read_value(SCENES[SCENE].document())
        with session.open(document, Output(1280, 720), lambda _: None) as opened:
            session.render_segment(opened, 0, 3, path)
            begun = time.time()
            for first in range(0, frames, segment_frames):
                session.render_segment(opened, first, min(segment_frames, frames - first), path)
            ended = time.time()
    path.unlink()
    return begun, ended


BENCHMARK = Benchmark(
    "How many workers and how long segments make the most frames a second on this machine?",
    _rows,
    label="variant",
    bar="fps",
    advice=_advice,
)

if __name__ == "__main__":
    print(json.dumps(work(*json.loads(sys.argv[1]))))
