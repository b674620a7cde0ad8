"""Limit how many requests of one account run at once. Further requests wait for their own account, not for others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from farm_core.errors import RateLimited

_RETRY_SECONDS: Final = 1


class AccountTurns:
    """Up to `count` turns at once for each account, given in the order of the requests."""

    def __init__(
        self, count: int, wait_seconds: float, rule: str = "Too many requests of this account at once."
    ) -> None:
        self.count, self._wait_seconds, self._rule = count, wait_seconds, rule
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._takers: dict[str, int] = {}
        """Number of requests that have or await a turn, by account."""

    @asynccontextmanager
    async def turn(self, account: str) -> AsyncIterator[None]:
        """Hold a turn of the account until the block ends. Raises RateLimited if none becomes free in time."""
        await self.take(account)
        try:
            yield
        finally:
            self.give(account)

    async def take(self, account: str, count: int | None = None) -> None:
        """Take a turn. `count` overrides the number of turns for this account. Raises RateLimited if none becomes
        free in time."""
        turns = self._turns.setdefault(account, asyncio.Semaphore(count or self.count))
        self._takers[account] = self._takers.get(account, 0) + 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await turns.acquire()
        except BaseException as error:
            self._forget(account)
            if isinstance(error, TimeoutError):
                raise RateLimited(_RETRY_SECONDS, f"{self._rule} Try again in {_RETRY_SECONDS} s.") from None
            raise

    def give(self, account: str) -> None:
        """Give a turn back."""
        self._turns[account].release()
        self._forget(account)

    def _forget(self, account: str) -> None:
        self._takers[account] -= 1
        if not self._takers[account]:
            del self._takers[account], self._turns[account]
