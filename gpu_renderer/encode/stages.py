"""Where the time of a segment goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

STAGES = ("evaluate", "draw", "convert", "readback", "encode", "mux")


class StageClock:
    """Adds up the time spent in each stage. Each stage is timed by one thread only."""

    def __init__(self) -> None:
        self.stage_ms = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times the block under one of STAGES."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.stage_ms[name] += (time.perf_counter() - started) * 1000.0
