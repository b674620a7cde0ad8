"""An event loop with simulated time: sleeps cost nothing, and no time passes while a server is asked."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, TypeVarTuple

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Advance to the next timer when nothing is left to do and no socket or thread is waited for."""

    def __init__(self) -> None:
        self._now = 0.0
        self.threads = 0
        """Calls under way in threads."""
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Simulated seconds since the loop was made."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move simulated time on."""
        self._now += seconds

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Arguments], Result], *args: *Arguments
    ) -> asyncio.Future[Result]:
        """Run in a thread; simulated time stands still until it ends."""
        self.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(lambda _: self._thread_ended())
        return future

    def _thread_ended(self) -> None:
        self.threads -= 1


class _Selector(selectors.DefaultSelector):
    """Wait for sockets in real time, and for timers in simulated time."""

    def __init__(self, loop: SimulatedLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return the events of sockets. Without any to wait for, simulated time advances by the timeout."""
        if timeout is not None and timeout <= 0:
            return list(super().select(0))
        waits = len(self.get_map()) > 1 or self._loop.threads > 0  # one is the loop's own
        if waits or timeout is None:
            return list(super().select(None))
        self._loop.advance(timeout)
        return []


class SimulatedClock:
    """The clock of a simulated loop, for its threads too."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        """Return the time in UTC."""
        return EPOCH + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Simulated seconds."""
        return self._loop.time()


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """Run the coroutine in simulated time."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(main)
