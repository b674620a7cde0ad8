"""Time until a farm on fresh data is ready: `./farm up` in a folder that does not exist, with its stores, Ray, API, scheduler and worker."""

from __future__ import annotations

import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import psutil

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.service.processor_time import seconds_of
from cluster.local.ray_head import free_port
from farm_core.settings import ROOT

READY_SECONDS_MAX: Final = 6.0
PREFIX: Final = "ready http"
STOP_SECONDS: Final = 60.0


def _rows(quick: bool) -> Iterator[Row]:
    """Yield the first start, on data that it makes, and a second one on the same data."""
    fresh, again = list[tuple[float, float]](), list[tuple[float, float]]()
    for _ in range(2 if quick else 6):
        with tempfile.TemporaryDirectory(prefix="farm-start-") as folder:
            fresh.append(_start(Path(folder) / "data"))
            again.append(_start(Path(folder) / "data"))
    yield {"what": "on fresh data", **_figures(fresh)}
    yield {"what": "on existing data", **_figures(again)}


def _start(data: Path) -> tuple[float, float]:
    """Start a farm and stop it. Return the seconds until it is ready, and the processor seconds of its processes until then."""
    command = [sys.executable, "-m", "farm_core", "up", "--data", str(data), "--port", str(free_port())]
    began = time.perf_counter()
    farm = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert farm.stdout is not None
        lines = []
        for line in farm.stdout:
            lines.append(line)
            if line.startswith(PREFIX):
                break
        else:
            raise RuntimeError(f"the farm did not start: {''.join(lines)}")
        took, process = time.perf_counter() - began, psutil.Process(farm.pid)
        return took, seconds_of([process, *process.children(recursive=True)])
    finally:
        farm.send_signal(signal.SIGINT)
        farm.communicate(timeout=STOP_SECONDS)


def _figures(starts: Sequence[tuple[float, float]]) -> Row:
    seconds, spent = zip(*starts, strict=True)
    return {
        "ready_s": round(statistics.median(seconds), 2),
        "longest_s": round(max(seconds), 2),
        "processor_s": round(statistics.median(spent), 1),
        "starts": len(starts),
    }


def _advice(rows: Sequence[Row]) -> str:
    slow = [row["what"] for row in rows if row["ready_s"] > READY_SECONDS_MAX]
    return f"Over {READY_SECONDS_MAX:g} s at the median: {', '.join(slow) or 'none'}."


BENCHMARK = Benchmark(
    "How soon is `./farm up` ready, on fresh and on existing data?",
    _rows, label="what", bar="ready_s", limit=READY_SECONDS_MAX, advice=_advice,
)  # fmt: skip
