"""Limit how many requests of one account run at once. Further requests wait for their own account, not for others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from farm_core.errors import RateLimited

_RETRY_SECONDS: Final = 1


class ConcurrencyLimit:
    """A semaphore of `count` slots for each account. Waiting requests get slots in the order of their arrival, at once or after at
    most `wait_seconds`."""

    def __init__(
        self,
        count: int,
        wait_seconds: float | None,
        rule: str = "Too many requests of this account at once.",
        *,
        requests_max: int | None = None,
    ) -> None:
        self.count, self._wait_seconds, self._rule, self._requests_max = count, wait_seconds, rule, requests_max
        self._semaphores: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = {}
        """Number of requests that hold or await a slot, by account."""

    @asynccontextmanager
    async def slot(self, account: str) -> AsyncIterator[None]:
        """Hold a slot of the account until the block ends. Raises RateLimited if none becomes free in time."""
        await self.acquire(account)
        try:
            yield
        finally:
            self.release(account)

    async def acquire(self, account: str, count: int | None = None) -> None:
        """Take a slot. `count` overrides the number of slots for this account. Raises RateLimited if none becomes
        free in time, or at once if `requests_max` of the account hold or await one."""
        if self._requests_max is not None and self._users.get(account, 0) >= self._requests_max:
            raise self._refusal()
        semaphore = self._semaphores.setdefault(account, asyncio.Semaphore(count or self.count))
        self._users[account] = self._users.get(account, 0) + 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await semaphore.acquire()
        except BaseException as error:
            self._forget(account)
            if isinstance(error, TimeoutError):
                raise self._refusal() from None
            raise

    def release(self, account: str) -> None:
        """Give a slot back."""
        self._semaphores[account].release()
        self._forget(account)

    def _refusal(self) -> RateLimited:
        return RateLimited(_RETRY_SECONDS, f"{self._rule} Try again in {_RETRY_SECONDS} s.")

    def _forget(self, account: str) -> None:
        self._users[account] -= 1
        if not self._users[account]:
            del self._users[account], self._semaphores[account]
