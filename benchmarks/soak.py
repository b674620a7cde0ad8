"""Thousands of short jobs through one session."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from benchmarks.drawing.scenes import SCENES
from benchmarks.runner.benchmark import Benchmark, Row
from gpu_renderer.commands.options import default_session_options
from gpu_renderer.session import Output, RenderSession
from motion.bundle import read_value

JOBS = 2000
GROWTH_LIMIT_MB = 30.0
NAMES = ("title-card", "fifty-layers", "gradient-hero", "shape-particles")


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row after each tenth of the jobs: resident memory, jobs a second, acquired targets."""
    jobs = 80 if quick else JOBS
    documents = [read_value(SCENES[name].document()) for name in NAMES]
    with RenderSession(default_session_options()) as session, tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        for number in range(1, jobs + 1):
            output = Output(320, 180, duration_seconds=1.0)
            with session.open(documents[number % len(documents)], output, lambda _: None) as opened:
                session.render_segment(opened, 0, opened.frame_count, Path(folder) / "segment.mp4")
            if number % (jobs // 10) == 0:
                yield _row(number, session, time.perf_counter() - started)


def _advice(rows: Sequence[Row]) -> str:
    growth = rows[-1]["rss_mb"] - rows[1]["rss_mb"]
    verdict = "flat" if growth < GROWTH_LIMIT_MB else "growing"
    return f"Memory is {verdict}: {growth:+.0f} MB from job {rows[1]['jobs']} to job {rows[-1]['jobs']}."


def _row(number: int, session: RenderSession, seconds: float) -> Row:
    return {
        "jobs": number,
        "rss_mb": round(psutil.Process().memory_info().rss / 2**20, 1),
        "jobs_per_second": round(number / seconds, 2),
        "targets_acquired": session.painter.pool.acquired_count,
    }


BENCHMARK = Benchmark(
    "Does memory stay flat over 2,000 jobs of one second through one session?",
    _rows,
    label="jobs",
    bar="rss_mb",
    advice=_advice,
)
