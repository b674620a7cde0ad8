"""Connection to Postgres: connection pools, transactions, and single statements.

Every transaction locks tables in this order, and rows of one table in order of their key:

    accounts, templates, jobs, tasks, workers, deliveries, segments, assets, presets, usage, api_keys, account_queues,
    object_charges

The advisory lock of `farm_core/jobs/shared_objects.py` comes before all of them.

Triggers of jobs, tasks and object_charges lock account_queues at the end of their statement. A transaction with
several such statements starts with the one that names all accounts, after it has locked all jobs and tasks that it
changes later.

Locks are `FOR NO KEY UPDATE`, as taken by UPDATE; `FOR UPDATE` is only for rows that are deleted. Foreign-key checks
take key-share locks in any order; only `FOR UPDATE` locks block them. Statements with SKIP LOCKED never wait. If
Postgres still rolls a transaction back (deadlock, serialization failure), `transaction` and `single` run it again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from farm_core.db.arrays import PlainListDumper
from farm_core.db.bounded_connection import CANCEL_SECONDS, connecting
from farm_core.db.shares import SharedPool
from farm_core.db.urls import CONNECTION, SERVER_LIMITS, limiting

Result = TypeVar("Result")

POOL_SECONDS: Final = 10.0
"""Time limit of a request that waits for a connection."""
VICTIM_ATTEMPTS: Final = 5
_VICTIM_STATES: Final = frozenset({"40P01", "40001"})
_VICTIM_PAUSE_SECONDS: Final = 0.05
_CANCELLED_STATE: Final = "57014"
_READ_ONLY_STATE: Final = "25006"
_LOCK_TIMEOUT_STATE: Final = "55P03"
_ENDED_STATES: Final = frozenset({"25P03", "25P04"})
_IDLE_MS: Final = 120_000
"""Maximum pause within a transaction. Requests make calls of storage in one, which take up to a minute."""


class Database:
    """Two connection pools: one for transactions, one for single statements. Use `work()` to change several rows in
    one transaction."""

    def __init__(
        self, url: str, pool_connections: int = 10, *, ping: bool = True, statement_seconds: float | None = None
    ) -> None:
        """Create the pools, each with up to `pool_connections`. `ping` tests every connection before use; callers
        that repeat failed work can omit it. Postgres cancels a statement after `statement_seconds` (`was_too_slow`); if it does not, the
        connection breaks."""
        options: dict[str, Any] = {
            "poolclass": SharedPool,
            "pool_size": pool_connections,
            "max_overflow": 0,  # a connection beyond `pool_size` would be closed after its use, with its plans
            "pool_timeout": POOL_SECONDS,
            "pool_pre_ping": ping,
            "pool_use_lifo": True,  # a few connections, with prepared statements, do most of the work
            "json_serializer": _json_text,
            "json_deserializer": orjson.loads,
            "connect_args": CONNECTION if statement_seconds is None else CONNECTION | _bounded(statement_seconds),
        }
        self.engine: AsyncEngine = create_async_engine(driver_url(url), **options)
        # A single statement is its own transaction, which saves two round trips. These connections always stay in
        # autocommit mode: changing the mode at each use costs as much as the statement.
        self._single = create_async_engine(
            driver_url(url),
            isolation_level="AUTOCOMMIT",
            skip_autocommit_rollback=True,
            pool_reset_on_return=None,
            **options,
        )
        self.engines = (self.engine, self._single)
        for engine in self.engines:
            event.listen(engine.sync_engine, "connect", _dump_lists_fast)
            event.listen(engine.sync_engine, "connect", partial(_limit_server, statement_seconds))
        self._sessions = async_sessionmaker(self.engine, expire_on_commit=False)
        self._readers = async_sessionmaker(self._single, expire_on_commit=False)

    @asynccontextmanager
    async def work(self) -> AsyncIterator[AsyncSession]:
        """Open a transaction. It is committed when the block ends, and rolled back if the block raises."""
        async with self._sessions.begin() as session:
            yield session

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction for plain statements, without an ORM session."""
        async with self.engine.begin() as connection:
            yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        """Open a session for reads. Each statement sees what is committed when it runs."""
        async with self._readers() as session:
            yield session

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[AsyncSession]:
        """Open a session for reads. All statements see what is committed when the first one runs."""
        async with self._sessions.begin() as session:
            await session.connection(
                execution_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
            )
            yield session

    async def transaction(self, act: Callable[[AsyncSession], Awaitable[Result]]) -> Result:
        """Run `act` in a transaction and return its result.

        If Postgres rolls the transaction back because of a deadlock or serialization failure, `act` runs again in a
        new one, at most VICTIM_ATTEMPTS times. It must change nothing outside the session.
        """

        async def once() -> Result:
            async with self._sessions.begin() as session:
                return await act(session)

        return await _repeat_if_victim(once)

    async def single(self, act: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        """Run `act` without a transaction and return its result. Only its last statement may write.

        If the connection is dead, `act` runs once more on another one, so it must be idempotent: the server may have
        run the statement. After a restart of Postgres, the pool drops all other connections of that age.
        """
        try:
            return await _repeat_if_victim(lambda: self._once(act))
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            return await self._once(act)

    async def _once(self, act: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        async with self._single.connect() as connection:
            return await act(connection)

    async def close(self) -> None:
        """Close all connections."""
        for engine in self.engines:
            await engine.dispose()


async def _repeat_if_victim(act: Callable[[], Awaitable[Result]]) -> Result:
    """Run `act` again, after random pauses, while Postgres rolls it back as a victim. Return its result."""
    for attempt in range(1, VICTIM_ATTEMPTS):
        try:
            return await act()
        except DBAPIError as error:
            if not is_victim(error):
                raise
        await asyncio.sleep(random.uniform(0, _VICTIM_PAUSE_SECONDS * attempt))
    return await act()


def is_victim(error: DBAPIError) -> bool:
    """Return True if Postgres rolled the transaction back as a victim, so that running it again can succeed."""
    return getattr(error.orig, "sqlstate", None) in _VICTIM_STATES


def is_read_only(error: BaseException) -> bool:
    """Return True if the server takes no writes, as a standby that was not promoted yet."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) == _READ_ONLY_STATE


def was_too_slow(error: BaseException) -> bool:
    """Return True if Postgres cancelled the statement, because it took longer than `statement_seconds`."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) == _CANCELLED_STATE


def was_ended(error: BaseException) -> bool:
    """Return True if Postgres ended the transaction and its connection, because it was idle or took too long."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in _ENDED_STATES


def waited_in_vain(error: DBAPIError) -> bool:
    """Return True if Postgres cancelled the statement, because it waited longer for a lock than its `lock_timeout`."""
    return getattr(error.orig, "sqlstate", None) == _LOCK_TIMEOUT_STATE


def _bounded(statement_seconds: float) -> dict[str, Any]:
    return {"async_creator_fn": connecting(statement_seconds + CANCEL_SECONDS)}


def _limit_server(statement_seconds: float | None, connection: Any, _record: object) -> None:
    """Let the server roll back and unlock what this process has begun, if the process stops or its machine vanishes."""
    limits = {**SERVER_LIMITS, "idle_in_transaction_session_timeout": _IDLE_MS}
    if statement_seconds is not None:
        limits["statement_timeout"] = max(1, round(statement_seconds * 1000))
    cursor = connection.cursor()
    cursor.execute(limiting(limits))
    cursor.close()
    connection.commit()


def _dump_lists_fast(connection: Any, _record: object) -> None:
    connection.driver_connection.adapters.register_dumper(list, PlainListDumper)


def _json_text(value: object) -> str:
    return orjson.dumps(value).decode()


def driver_url(url: str) -> str:
    """Return the URL with the farm's driver (psycopg 3), for any spelling of Postgres in the URL."""
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
