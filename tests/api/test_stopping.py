"""The API stops while requests wait: it closes every connection, after the requests that use them have ended."""

from __future__ import annotations

import gc
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest
from redis import Redis

from farm_core.settings import Settings
from farm_core.stills import exchange
from tests.api.conftest import running
from tests.api.world import World
from tests.console.people import signed_in

pytestmark = pytest.mark.service
PAUSE_MS = 3000
"""The server cancels requests after 1 s. Those for stills then tell Redis that nobody waits, which takes until the end of this pause."""


def give_up(world: World, path: str, **credentials: Any) -> None:
    """Send a request that waits until the server stops."""
    with suppress(httpx.HTTPError), world.new_client(**credentials) as client:
        client.get(path)


def until_asked(world: World, count: int) -> None:
    """Wait until this number of stills is requested, and an event stream is open."""
    with Redis.from_url(str(world.settings.redis_url)) as redis:
        while redis.llen("stills:requests") < count or not redis.pubsub_numpat():
            pass
        redis.client_pause(PAUSE_MS, all=False)


def test_requests_that_are_given_up_leave_no_connection_open(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They connected to Redis after the app had closed its connections."""
    monkeypatch.setattr(exchange, "CONNECTIONS_MAX", 2)  # one to receive answers; requests wait for the other
    stills = 4
    with ThreadPoolExecutor(stills + 1) as pool, warnings.catch_warnings(record=True) as caught:
        with running(settings) as world, signed_in(world, "ada") as person:
            path = f"/api/v1/templates/{person.api.template()}/still"
            for frame in range(stills):
                pool.submit(give_up, world, f"{path}?frame={frame}", headers=person.api.headers)
            pool.submit(give_up, world, "/console/events", cookies=person.client.cookies)
            until_asked(world, stills)
        gc.collect()
    assert [str(one.message) for one in caught] == []
