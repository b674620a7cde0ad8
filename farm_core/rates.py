"""Rate limits: at most so many events in any window of a given length.

Redis counts for all processes. If it does not answer, each process counts for itself and continues to limit.
"""

from __future__ import annotations

import math
import secrets
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

WINDOW_SECONDS: Final = 60.0
_AWAY_SECONDS: Final = 1.0
_KEYS_MAX: Final = 50_000

# Keeps the moments of the last window in a sorted set. Returns 0 and notes the moment, or the milliseconds until the oldest
# of a full window leaves it. Time is the server's, so that processes need not agree on theirs.
_SCRIPT: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
    local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
    return math.max(1, oldest[2] + window - now)
end
redis.call('ZADD', KEYS[1], now, ARGV[3])
redis.call('PEXPIRE', KEYS[1], window)
return 0
"""


@dataclass(slots=True)
class OwnCount:
    """The same window, counted in this process alone; the least recently seen keys are forgotten first."""

    moments: OrderedDict[str, deque[float]]

    def wait_seconds(self, key: str, limit: int, now: float) -> float:
        """0 where the event may happen (it is noted), else how long until it may."""
        seen = self.moments.setdefault(key, deque())
        self.moments.move_to_end(key)
        while seen and seen[0] <= now - WINDOW_SECONDS:
            seen.popleft()
        if len(seen) >= limit:
            return seen[0] + WINDOW_SECONDS - now
        seen.append(now)
        while len(self.moments) > _KEYS_MAX:
            self.moments.popitem(last=False)
        return 0.0


class RateLimiter:
    """Counts events by key. `wait_seconds` is the one question."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._script = redis.register_script(_SCRIPT)
        self._own = OwnCount(OrderedDict())
        self._away_until = 0.0

    async def wait_seconds(self, key: str, limit: int) -> int:
        """0 where the event may happen now (and has been counted), else after how many whole seconds it may."""
        if time.monotonic() >= self._away_until:
            try:
                member = f"{time.time_ns()}-{secrets.token_hex(4)}"
                wait_ms = await self._script(keys=[f"rate:{key}"], args=[int(WINDOW_SECONDS * 1000), limit, member])
                return math.ceil(int(wait_ms) / 1000)
            except (RedisError, OSError):
                self._away_until = time.monotonic() + _AWAY_SECONDS
        return math.ceil(self._own.wait_seconds(key, limit, time.monotonic()))
