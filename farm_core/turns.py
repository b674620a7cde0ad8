"""Turns of requests: a process handles few requests of an account at once, so that a burst of them delays others little.

An event loop serves ready requests in order. Without turns, a request of another account would wait for a step of every request
of the burst, several times.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Final

from farm_core.concurrency_limit import ConcurrencyLimit

TURNS_PER_ACCOUNT: Final = 2
"""Requests of an account that are handled at once: one can work while the other waits for Postgres, Redis or a disk."""
TURN_SECONDS: Final = 1.0
"""Longest turn. A request that waits longer for a server goes on without one."""


class Turn:
    """Place of one request among those of its account. It can be given back and taken again."""

    def __init__(self, places: ConcurrencyLimit, account: str) -> None:
        self._places, self._account = places, account
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    @property
    def is_held(self) -> bool:
        """Return True while the request has its place."""
        return self._timer is not None

    async def take(self) -> None:
        """Wait for a place, unless the turn is over. Raises RateLimited if too many requests wait, or for too long."""
        if not self._is_over:
            await self._places.acquire(self._account)
            self._timer = asyncio.get_running_loop().call_later(TURN_SECONDS, self.give_back)

    def give_back(self) -> None:
        """Let the next request of the account go on."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._places.release(self._account)

    def end(self) -> None:
        """Give the place back for good."""
        self._is_over = True
        self.give_back()


TURN: Final[ContextVar[Turn | None]] = ContextVar("turn", default=None)
"""Turn of the current request."""


@asynccontextmanager
async def others_first() -> AsyncIterator[None]:
    """Give the turn of the current request to others while the block waits."""
    turn = TURN.get()
    if turn is None or not turn.is_held:
        yield
        return
    turn.give_back()
    yield
    await turn.take()
