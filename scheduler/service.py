"""Base class of the scheduler's services: a loop that ticks at an interval, or when something wakes it."""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from typing import Final

from farm_core.telemetry import logs
from farm_core.telemetry.logs import REPEAT_SECONDS, in_a_line
from scheduler.dependencies import Dependencies

_log = logs.logger(__name__)

RETRY_SECONDS: Final = 0.5
"""Pause after a failed tick, for example while Postgres is away."""


class Service(ABC):
    """Loop that runs `tick` every `every_seconds`, and at once if it is woken or the last tick found work.

    If a tick raises, the service logs the error and tries again: a store can be away, and waiting loses nothing.
    """

    every_seconds: float = 1.0

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies = dependencies
        self.ticked = asyncio.Event()
        """Set after every successful tick. Tests wait for it instead of sleeping."""
        self._awake = asyncio.Event()
        self._soon: asyncio.TimerHandle | None = None
        self._logged = ("", 0.0)
        self._stopping = False
        self._running: asyncio.Task[None] | None = None

    @abstractmethod
    async def tick(self) -> int:
        """Do the work that is due. Return the amount of work done; if it is not 0, the next tick follows at once."""

    def wake(self) -> None:
        """Run the next tick at once."""
        self._awake.set()

    def wake_within(self, seconds: float) -> None:
        """Run the next tick after at most `seconds`. Repeated calls have the effect of one."""
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(seconds, self._wake_late)

    def forget_wake(self) -> None:
        """Take back `wake_within`."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None

    def _wake_late(self) -> None:
        self._soon = None
        self.wake()

    def start(self) -> None:
        """Start the loop."""
        if self._running is None:
            self._running = asyncio.create_task(self._run(), name=type(self).__name__)

    async def stop(self) -> None:
        """Stop after the running tick has ended."""
        self._stopping = True
        self.wake()
        self.forget_wake()
        if self._running is not None:
            await self._running
            self._running = None

    async def _run(self) -> None:
        while not self._stopping:
            self._awake.clear()
            done, pause = await self._run_tick()
            if not done and not self._stopping:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._awake.wait(), pause)

    async def _run_tick(self) -> tuple[int, float]:
        try:
            done = await self.tick()
        except Exception as error:
            # Outer boundary of every service: log any error, and try again.
            self._log_once(in_a_line(error))
            return 0, RETRY_SECONDS
        self.ticked.set()
        return done, self.every_seconds

    def _log_once(self, error: str) -> None:
        """Log the error unless the same one was logged less than REPEAT_SECONDS ago."""
        now = asyncio.get_running_loop().time()
        before, at = self._logged
        if error != before or now - at >= REPEAT_SECONDS:
            self._logged = (error, now)
            _log.warning("tick failed", service=type(self).__name__, error=error)
