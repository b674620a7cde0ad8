"""The evidence that the services of a scheduler share, and what all schedulers share of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial

from farm_core.jobs import slow_frames
from farm_core.jobs.slow_frames import SlowFrameRestart
from scheduler.dependencies import Dependencies
from scheduler.isolation import learning, rules
from scheduler.isolation.state import Evidence, Frame, Strike, View
from scheduler.ports import WorkerState
from scheduler.running_tasks import RunningTasks


class Isolation:
    """The evidence that the services of a scheduler share."""

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks) -> None:
        self.dependencies = dependencies
        self.running_tasks = running_tasks
        self.evidence = Evidence()
        self.foreign: Mapping[str, Frame] = {}
        """Slow frames of other schedulers' segments that hold tasks of this one, by token."""
        self.resumed_at = -math.inf
        """Time before which this process did not read the progress of workers."""

    def forgive_pause(self, now: float) -> None:
        """Count the time of frames from now on: this process was suspended."""
        self.resumed_at, self.foreign = now, {}

    def view(self, living: Sequence[WorkerState] | None = None) -> View:
        """Return the running tasks of now and these workers, all live ones by default."""
        states = self.dependencies.executor.workers() if living is None else living
        workers = {worker.id: worker for worker in states}
        return View(self.dependencies.clock.monotonic(), workers, self.running_tasks, self.foreign)

    async def read_strikes(self) -> None:
        """Read the strikes of all schedulers."""
        clock = self.dependencies.clock
        now, now_monotonic = clock.now(), clock.monotonic()
        read = partial(slow_frames.slow_frames, now=now, seconds=rules.LIMIT_SECONDS)
        found = await self.dependencies.database.single(read)
        strikes = [Strike(now_monotonic - (now - one.at).total_seconds(), *one[1:]) for one in found]
        self.evidence = learning.with_strikes(self.evidence, strikes)

    async def strike(self, strike: Strike) -> None:
        """Record a strike, here and for all schedulers."""
        self.evidence = learning.with_strikes(self.evidence, [strike])
        clock = self.dependencies.clock
        restart = SlowFrameRestart(clock.now() - timedelta(seconds=clock.monotonic() - strike.at), *strike[1:])
        async with self.dependencies.database.connection() as connection:
            await slow_frames.record_slow_frame(connection, restart)
