"""Time of a segment by stage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

STAGES = ("evaluate", "draw", "convert", "readback", "encode", "mux")


class StageClock:
    """Sum of the time spent in each stage. Only one thread measures each stage."""

    def __init__(self) -> None:
        self.stage_ms = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block as one of STAGES."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.stage_ms[name] += (time.perf_counter() - started) * 1000.0
