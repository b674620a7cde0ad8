"""Limit the preparations of an account that fetch media, and tell which of them wait for slow servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

ACCOUNT_PREPARATIONS_MAX: Final = 4
"""Maximum number of jobs of one account whose media are fetched at once. Its other jobs wait without blocking other
accounts."""

SLOW_SECONDS: Final = 10.0
"""Time from which a fetch of media counts as slow. It only waits for a server, and no longer takes the place of another account's."""


class MediaGate:
    """Places of one account for preparations that fetch media."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._places = asyncio.Semaphore(ACCOUNT_PREPARATIONS_MAX)
        self._monotonic = monotonic
        self._entered: dict[asyncio.Task[Any] | None, float] = {}

    async def __aenter__(self) -> None:
        await self._places.acquire()
        self._entered[asyncio.current_task()] = self._monotonic()

    async def __aexit__(self, *_: object) -> None:
        del self._entered[asyncio.current_task()]
        self._places.release()

    def slow_count(self) -> int:
        """Return the number of preparations that have fetched media for long."""
        now = self._monotonic()
        return sum(now - entered > SLOW_SECONDS for entered in self._entered.values())

    def is_clogged(self) -> bool:
        """Return True if slow servers hold every place, so that further jobs of the account would only wait."""
        return self.slow_count() >= ACCOUNT_PREPARATIONS_MAX
