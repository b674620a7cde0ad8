"""Listen to Postgres notifications about new jobs, tasks and webhooks, so that services need not wait for their next
poll."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import psycopg
from psycopg.conninfo import make_conninfo

from farm_core.db import storage_claim
from farm_core.db.urls import CONNECTION, libpq_url
from farm_core.telemetry import logs

_log = logs.logger(__name__)

RECONNECT_SECONDS: Final = 0.5


class Listener:
    """Wake services when Postgres notifies their channel. Reconnect after a lost connection; services poll meanwhile.

    Its connection holds the claim of the storage with that identity, unless it is None (`farm_core/db/storage_claim.py`).
    """

    def __init__(
        self, database_url: str, storage: str | None, wakes: Mapping[str, Sequence[Callable[[], None]]]
    ) -> None:
        self._storage = storage
        self._url = make_conninfo(libpq_url(database_url), **CONNECTION)
        self._wakes = wakes
        self._away = False
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to listen."""
        self._running = asyncio.create_task(self._run(), name="Listener")

    async def stop(self) -> None:
        """Stop listening."""
        if self._running is not None:
            self._running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._running

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except psycopg.Error as error:
                if not self._away:
                    _log.info("listening again soon", error=type(error).__name__)
                self._away = True
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _listen(self) -> None:
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as connection:
            await self._claim_storage(connection)
            for channel in self._wakes:
                await connection.execute(psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(channel)))
                self._wake(channel)
            if self._away:
                self._away = False
                _log.info("listening again")
            async for notice in connection.notifies():
                self._wake(notice.channel)

    async def _claim_storage(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Hold the claim of the storage. Schedulers of another one that started at the same time are logged only: this one has work."""
        if self._storage is None:
            return
        try:
            await storage_claim.claim(connection, self._storage)
        except storage_claim.OtherStorage as error:
            _log.error("another farm uses the database", error=str(error))

    def _wake(self, channel: str) -> None:
        for wake in self._wakes[channel]:
            wake()
