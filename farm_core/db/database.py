"""The connection to Postgres: a pool, and units of work that commit whole or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine


class Database:
    """A pool of connections. Every change is made inside `work()`; nothing else commits."""

    def __init__(self, url: str, pool_connections: int = 10, *, ping: bool = True) -> None:
        """`ping` asks every connection whether it still lives before it is used; who repeats what fails can do without."""
        self.engine: AsyncEngine = create_async_engine(
            driver_url(url),
            pool_size=pool_connections,
            max_overflow=pool_connections,
            pool_timeout=10,
            pool_pre_ping=ping,
            json_serializer=_json_text,
            json_deserializer=orjson.loads,
            connect_args={"connect_timeout": 5},
        )
        self._sessions = async_sessionmaker(self.engine, expire_on_commit=False)

    @asynccontextmanager
    async def work(self) -> AsyncIterator[AsyncSession]:
        """A transaction: committed when the block ends, rolled back when it raises."""
        async with self._sessions.begin() as session:
            yield session

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection]:
        """A transaction of plain statements, without the session's bookkeeping."""
        async with self.engine.begin() as connection:
            yield connection

    async def close(self) -> None:
        """Gives the connections back."""
        await self.engine.dispose()


def _json_text(value: object) -> str:
    return orjson.dumps(value).decode()


def driver_url(url: str) -> str:
    """The URL with the driver that the farm uses (psycopg 3), whatever spelling of Postgres it names."""
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def libpq_url(url: str) -> str:
    """The URL as psycopg itself reads it, without a driver's name."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
