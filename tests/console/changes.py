"""Publish changes of renders to open pages, as the farm does, and wait until pages are ready to receive them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import orjson
from redis import Redis

from farm_core.ids import new_id
from farm_core.progress.changes import JobChange
from farm_core.progress.store import channel
from tests.api.world import World
from tests.console.conftest import SHOWN_SECONDS
from tests.console.people import Person


def publish(world: World, *changes: JobChange) -> None:
    """Publish each change once."""
    with Redis.from_url(str(world.settings.redis_url)) as client:
        for change in changes:
            client.publish(channel(change["account_id"]), orjson.dumps(change))


def publish_until(page: Any, world: World, change: JobChange, seen: Callable[[], bool]) -> None:
    """Publish a change repeatedly until the page shows it, because its stream may still be opening."""
    ends = time.monotonic() + SHOWN_SECONDS
    publish(world, change)
    while not seen():
        assert time.monotonic() < ends, "the page does not show the change"
        page.wait_for_timeout(200)
        publish(world, change)


def asks(request: Any) -> bool:
    """Return True if a script of the page sends requests."""
    return any(name in request.headers for name in ("x-console-asks", "hx-request"))


def show(person: Person, window: Callable[..., Any], path: str, job: str) -> Any:
    """Open the page of a render, and wait until its stream is open and it has read the current state."""
    page = window(person)
    with page.expect_response(lambda answer: asks(answer.request)):
        page.goto(f"{person.origin}/console/{path}")
    percent = page.locator(f"[data-job={job}] [data-percent]")
    change: JobChange = {"job_id": job, "account_id": person.api.account_id, "progress": 4.5}
    publish_until(page, person.api.world, change, lambda: percent.inner_text() == "4.5 %")
    return page


def copy_unheard(person: Person, job: str, status: str) -> str:
    """Copy a render without notifying any page; return the id of the copy."""
    copy = new_id("job")
    changes = orjson.dumps({"id": copy, "status": status, "created_at": person.api.world.clock.now()}).decode()
    statement = "INSERT INTO jobs SELECT (jsonb_populate_record(jobs, %s)).* FROM jobs WHERE id = %s"
    person.api.world.database.execute(statement, (changes, job))
    return copy
