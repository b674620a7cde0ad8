"""Supervision of the local farm's parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from cluster.local.parts import Part
from farm_core.telemetry import logs
from farm_core.user_error import UserError

_log = logs.logger(__name__)

POLL_SECONDS: Final = 0.2
RESTART_SECONDS_MAX: Final = 10.0
FAILURES_MAX: Final = 3
"""Number of deaths during the start after which a part is given up."""


class Supervisor:
    """Start parts in order, restart dead ones, stop them in reverse order. Call all methods from one thread."""

    def __init__(self, parts: Sequence[Part], clock: Callable[[], float] = time.monotonic) -> None:
        self._parts = parts
        self._clock = clock
        self._failures: dict[str, int] = {}
        self._due: dict[str, float] = {}
        self._started: list[Part] = []

    def start(self) -> None:
        """Start every part. Raises ServerFailed, after stopping the parts that have started."""
        for part in self._parts:
            self._started.append(part)
            part.start()

    def poll(self) -> None:
        """Restart dead parts: at once the first time, then with increasing delays if they die again soon."""
        now = self._clock()
        for part in self._started:
            if part.alive:
                if part.name in self._due and now - self._due[part.name] > RESTART_SECONDS_MAX:
                    del self._due[part.name], self._failures[part.name]
                continue
            if part.name not in self._due or (self._failures[part.name] and now >= self._due[part.name]):
                self._restart(part, now)

    def failing(self, name: str) -> Part | None:
        """Return the named part if it died FAILURES_MAX times without running for RESTART_SECONDS_MAX in between."""
        is_failing = self._failures.get(name, 0) >= FAILURES_MAX
        return next((part for part in self._started if part.name == name), None) if is_failing else None

    def stop(self) -> None:
        """Stop every part in reverse order."""
        while self._started:
            self._started.pop().stop()

    def _restart(self, part: Part, now: float) -> None:
        failures = self._failures.get(part.name, 0) + 1
        self._failures[part.name] = failures
        self._due[part.name] = now + min(RESTART_SECONDS_MAX, 0.25 * 2**failures)
        reason = {"reason": part.reason} if failures >= FAILURES_MAX and part.reason else {}
        _log.warning("part died, restarting it", part=part.name, failures=failures, **reason)
        try:
            part.start()
        except (UserError, OSError) as error:
            _log.error("part did not start", part=part.name, error=str(error))
