"""Changes of renders, as the farm publishes them to open pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
from redis import Redis

from farm_core.progress.changes import JobChange
from farm_core.progress.store import channel
from tests.api.world import World


def publish(world: World, *changes: JobChange) -> None:
    """Publish each change once."""
    with Redis.from_url(str(world.settings.redis_url)) as client:
        for change in changes:
            client.publish(channel(change["account_id"]), orjson.dumps(change))


def publish_until(page: Any, world: World, change: JobChange, seen: Callable[[], bool]) -> None:
    """Publish a change until the page shows it: its stream may only just be opening."""
    for _ in range(150):
        publish(world, change)
        if seen():
            return
        page.wait_for_timeout(200)
    raise AssertionError("the page does not show the change")
