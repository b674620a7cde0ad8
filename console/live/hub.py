"""One subscription to Redis for all open pages of this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from redis.asyncio import Redis

from farm_core.progress.changes import JobChange, listen

FLUSH_SECONDS: Final = 0.5
"""Minimum time between two batches of changes for a page."""
PENDING_MAX: Final = 1_000
"""Limit of renders in one batch. A page shows fifty."""


@dataclass(slots=True, eq=False)
class Listener:
    """Queue of changes for an open page. A batch has at most one change per render."""

    account_id: str | None
    pending: dict[str, dict[str, Any]] = field(default_factory=dict)
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    missed: bool = False

    def offer(self, change: JobChange) -> None:
        """Add a change if the page may see it."""
        if self.account_id is not None and change["account_id"] != self.account_id:
            return
        if len(self.pending) >= PENDING_MAX and change["job_id"] not in self.pending:
            self.missed = True
        else:
            self.pending.setdefault(change["job_id"], {}).update(change)
        self.woken.set()

    async def batch(self, wait_seconds: float) -> list[dict[str, Any]]:
        """Wait for changes since the last batch and return them. Return an empty list after `wait_seconds`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_seconds):
                await self.woken.wait()
        self.woken.clear()
        changes, self.pending = list(self.pending.values()), {}
        return changes


class Hub:
    """Distribute changes of renders to all open pages. Subscribe to Redis only while a page is open."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._listeners: set[Listener] = set()
        self._task: asyncio.Task[None] | None = None

    def count_of(self, account_id: str | None) -> int:
        """Return the number of open pages of the account. Return 0 for operators, who see all accounts."""
        return 0 if account_id is None else sum(one.account_id == account_id for one in self._listeners)

    @asynccontextmanager
    async def listening(self, account_id: str | None) -> AsyncIterator[Listener]:
        """Yield a listener for the changes of one account's renders, or of all. It is active until the block ends.

        The subscription of the last one has ended with its block: the app then closes its connections.
        """
        listener = Listener(account_id)
        self._listeners.add(listener)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._pass_on())
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            if not self._listeners and self._task is not None:
                ending, self._task = self._task, None
                ending.cancel()
                await asyncio.wait({ending})

    async def _pass_on(self) -> None:
        async for change in listen(self._redis, None):
            for listener in self._listeners:
                if change is None:
                    listener.missed = True
                    listener.woken.set()
                else:
                    listener.offer(change)
