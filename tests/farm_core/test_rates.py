"""Rate limits: the window, and the clock of Redis."""

from __future__ import annotations

import time

import pytest

from farm_core import redis
from farm_core.rates import OwnCount, RateLimiter
from farm_core.stills.exchange import STRIKE_SECONDS, STRIKES_MAX, StillExchange

pytestmark = pytest.mark.service
HOURS = 6 * 3600


async def test_events_from_before_the_clock_went_back_fill_no_window(redis_url: str) -> None:
    client = redis.connect(redis_url)
    limiter = RateLimiter(client)
    ahead = (time.time() + HOURS) * 1000
    await client.zadd("rate:renders:a", {f"event{n}": ahead + n for n in range(3)})
    assert [await limiter.wait_seconds("renders:a", 3) for _ in range(3)] == [0, 0, 0]
    assert 0 < await limiter.wait_seconds("renders:a", 3) <= 60
    await client.aclose()


async def test_the_window_slides(redis_url: str) -> None:
    client = redis.connect(redis_url)
    limiter, now = RateLimiter(client), time.time()
    await client.zadd("rate:renders:a", {f"event{ago}": (now - ago) * 1000 for ago in (90, 61, 10, 5)})
    assert await limiter.wait_seconds("renders:a", 3) == 0, "those of more than a minute ago count no longer"
    assert 0 < await limiter.wait_seconds("renders:a", 3) <= 50, "until the oldest of the last minute counts no longer"
    await client.aclose()


def test_a_process_alone_counts_in_the_same_window() -> None:
    count = OwnCount()
    waits = [count.wait_seconds("renders:a", 2, now) for now in (0, 10, 20, 60, 61, 70)]
    assert waits == [0, 0, 40, 0, 9, 0]
    assert count.wait_seconds("renders:b", 2, 70) == 0


async def test_stills_of_an_account_are_barred_no_longer_than_the_limit(redis_url: str) -> None:
    client, exchange = redis.connect(redis_url), StillExchange(redis_url)
    for _ in range(STRIKES_MAX):
        await exchange.strike("a")
    assert 0 < await exchange.barred_seconds("a") <= STRIKE_SECONDS
    await client.expire("stills:strikes:a", STRIKE_SECONDS + HOURS)  # as in Redis after its clock was set back
    assert await exchange.barred_seconds("a") == 0
    await client.aclose()
    await exchange.close()
