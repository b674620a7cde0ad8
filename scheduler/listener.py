"""Listen to Postgres notifications about new jobs, tasks and webhooks, so that services need not wait for their next
poll."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo

from farm_core.db.urls import CONNECTION, libpq_url
from farm_core.telemetry import logs

_log = logs.logger(__name__)

RECONNECT_SECONDS: Final = 0.5


class Listener:
    """Wake services when Postgres notifies their channel. Reconnect after a lost connection; services poll meanwhile."""

    def __init__(self, database_url: str, wakes: Mapping[str, Sequence[Callable[[], None]]]) -> None:
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
            for channel in self._wakes:
                await connection.execute(psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(channel)))
                self._wake(channel)
            if self._away:
                self._away = False
                _log.info("listening again")
            async for notice in connection.notifies():
                self._wake(notice.channel)

    def _wake(self, channel: str) -> None:
        for wake in self._wakes[channel]:
            wake()
