"""Rate limits: a maximum number of events in every window of a minute.

Redis counts for all processes. If it does not answer, each process applies the limit to its own events.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections import deque
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from farm_core.errors import RateLimited
from farm_core.lru_dict import LruDict
from farm_core.turns import others_first

WINDOW_SECONDS: Final = 60.0
_AWAY_SECONDS: Final = 1.0
_KEYS_MAX: Final = 50_000

QUICK_REFUSALS: Final = 30
"""Refusals of a key in a window after which further ones are delayed."""
REFUSAL_SECONDS: Final = 1.0
"""Delay of a refusal. A client that repeats a refused request at once would otherwise keep the API busy with refusals."""

# A sorted set holds the times of the events in the last window. The script returns 0 and adds the event, or returns the
# milliseconds until the oldest event leaves a full window. It uses the server's time, because clocks of processes can
# differ. Events in the future are from before the server's clock was set back. They are removed, or they would fill the
# window until then.
_SCRIPT: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
    local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
    return math.max(1, oldest[2] + window - now)
end
redis.call('ZADD', KEYS[1], now, ARGV[3])
redis.call('PEXPIRE', KEYS[1], window)
return 0
"""


class OwnCount:
    """The same window for this process only."""

    def __init__(self) -> None:
        self._moments: LruDict[str, deque[float]] = LruDict(_KEYS_MAX)

    def wait_seconds(self, key: str, limit: int, now: float) -> float:
        """Count the event and return 0 if the limit allows it. Otherwise return the seconds until it does."""
        self._moments[key] = seen = self._moments.get(key, deque())
        while seen and seen[0] <= now - WINDOW_SECONDS:
            seen.popleft()
        if len(seen) >= limit:
            return seen[0] + WINDOW_SECONDS - now
        seen.append(now)
        return 0.0


class RateLimiter:
    """Count events by key."""

    def __init__(self, redis: Redis) -> None:
        self._script = redis.register_script(_SCRIPT)
        self._own, self._refusals = OwnCount(), OwnCount()
        self._away_until = 0.0

    async def wait_seconds(self, key: str, limit: int) -> int:
        """Count the event and return 0 if the limit allows it. Otherwise return the whole seconds until it does."""
        if time.monotonic() >= self._away_until:
            try:
                member = f"{time.time_ns()}-{secrets.token_hex(4)}"
                wait_ms = await self._script(keys=[f"rate:{key}"], args=[int(WINDOW_SECONDS * 1000), limit, member])
                return math.ceil(int(wait_ms) / 1000)
            except (RedisError, OSError):
                self._away_until = time.monotonic() + _AWAY_SECONDS
        return math.ceil(self._own.wait_seconds(key, limit, time.monotonic()))

    async def patient_wait_seconds(self, key: str, limit: int) -> int:
        """Return `wait_seconds`, after REFUSAL_SECONDS if the key was refused QUICK_REFUSALS times in this window.

        Call it before anything is held: it sleeps.
        """
        wait = await self.wait_seconds(key, limit)
        if wait and self._refusals.wait_seconds(key, QUICK_REFUSALS, time.monotonic()):
            async with others_first():
                await asyncio.sleep(REFUSAL_SECONDS)
        return wait

    async def require(
        self, key: str, limit: int, rule: str = "Too many requests.", *, is_patient: bool = False
    ) -> None:
        """Count the event. Raises RateLimited above the limit, with a message that starts with the `rule`. `is_patient`: delay further
        refusals (`patient_wait_seconds`)."""
        wait = await (self.patient_wait_seconds if is_patient else self.wait_seconds)(key, limit)
        if wait:
            raise RateLimited(wait, f"{rule} Try again in {wait} s.")
