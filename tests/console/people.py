"""People who are signed in to the console."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import redis

from farm_core.db.database import Database
from farm_core.sign_in import repository
from tests.api.world import Someone, World

COOKIE = "farm_console"


@dataclass
class Person:
    """A browser without scripts, signed in. `api` calls the API with the same account."""

    api: Someone
    client: httpx.Client

    @property
    def cookie(self) -> Any:
        """Return the session as a Playwright cookie."""
        value = self.client.cookies[COOKIE]
        return {
            "name": COOKIE,
            "value": value,
            "url": f"{self.origin}/console/",
            "httpOnly": True,
            "sameSite": "Strict",
        }

    @property
    def origin(self) -> str:
        return self.api.world.origin

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self.client.get(f"/console{path}", **given)

    def text(self, path: str) -> str:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def csrf(self) -> str:
        found = re.search(r'data-csrf="([0-9a-f]{64})"', self.text("/account"))
        assert found is not None
        return found[1]

    def post(self, path: str, **form: Any) -> httpx.Response:
        return self.client.post(f"/console{path}", data={"csrf": self.csrf(), **form})


def link_token(world: World, account_id: str, *, read_only: bool = False) -> str:
    """Create a one-time link as `./farm console-link` does; return its token."""

    async def made() -> str:
        database = Database(str(world.settings.database_url))
        try:
            async with database.work() as session:
                now = world.clock.now()
                return await repository.create_link(session, account_id, now, read_only=read_only)
        finally:
            await database.close()

    with ThreadPoolExecutor(1) as pool:  # Playwright keeps an event loop running in the tests' thread
        return pool.submit(lambda: asyncio.run(made())).result()


@contextmanager
def browser(world: World) -> Iterator[httpx.Client]:
    """Return a browser without scripts that is not signed in. Its address has no former tries to sign in: all tests of a minute
    have the same one."""
    with redis.Redis.from_url(str(world.settings.redis_url)) as counts:
        for key in counts.scan_iter("rate:sign-in:*"):
            counts.delete(key)
    with world.new_client() as client:
        yield client


@contextmanager
def signed_in(world: World, name: str, *, operator: bool = False, read_only: bool = False) -> Iterator[Person]:
    """Create an account and sign it in with a one-time link."""
    someone = world.account(name, monthlyRenderMinutes=None)
    world.database.execute("UPDATE accounts SET operator = %s WHERE id = %s", (operator, someone.account_id))
    with browser(world) as client:
        token = link_token(world, someone.account_id, read_only=read_only)
        answer = client.post("/console/enter", data={"token": token})
        assert answer.status_code == 303, answer.text
        yield Person(someone, client)
