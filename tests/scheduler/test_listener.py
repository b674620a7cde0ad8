"""The scheduler's connection for Postgres notifications."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from farm_core.db.urls import libpq_url
from scheduler import listener
from scheduler.listener import Listener
from scheduler.service import Service
from tests.patience import HANG_SECONDS


class Woken(Service):
    """Service that counts its wake-ups."""

    def __init__(self) -> None:
        nothing: Any = None
        super().__init__(nothing)
        self.wakes: asyncio.Queue[None] = asyncio.Queue()

    async def tick(self) -> int:
        return 0

    def wake(self) -> None:
        self.wakes.put_nowait(None)

    async def woken(self) -> None:
        await asyncio.wait_for(self.wakes.get(), HANG_SECONDS)


def test_an_outage_of_postgres_is_logged_once_and_its_end_once(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "RECONNECT_SECONDS", 0.01)
    url = libpq_url(empty_database_url)
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    maintenance = psycopg.conninfo.make_conninfo(url, dbname="postgres")

    async def story() -> None:
        service = Woken()
        listening = Listener(empty_database_url, None, {"jobs": (service.wake,)})
        async with await psycopg.AsyncConnection.connect(maintenance, autocommit=True) as other:
            listening.start()
            await service.woken()
            for _ in range(2):
                await other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
                await other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
                await asyncio.sleep(0.3)  # many attempts
                await other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
                await service.woken()
                await asyncio.sleep(0.05)
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as other:
            await other.execute("NOTIFY jobs")
        await service.woken()
        await listening.stop()

    with capture_logs() as lines:
        asyncio.run(story())
    assert [line["event"] for line in lines] == ["listening again soon", "listening again"] * 2
