"""Victims of deadlocks run again, named statements survive lost connections, and lists keep their values."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.db.sql import column, execute

pytestmark = pytest.mark.service


async def test_of_two_transactions_in_a_deadlock_both_are_committed_in_the_end(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    async with database.work() as session:
        await session.execute(text("CREATE TABLE rows AS SELECT id, 0 AS value FROM generate_series(1, 2) AS id"))
    both = asyncio.Barrier(2)

    async def add(first: int, second: int) -> None:
        met = False

        async def act(session: AsyncSession) -> None:
            nonlocal met
            await session.execute(text("UPDATE rows SET value = value + 1 WHERE id = :id"), {"id": first})
            if not met:
                met = True
                await both.wait()
            await session.execute(text("UPDATE rows SET value = value + 1 WHERE id = :id"), {"id": second})

        await database.transaction(act)

    await asyncio.gather(add(1, 2), add(2, 1))
    async with database.reading() as session:
        assert list((await session.scalars(text("SELECT value FROM rows ORDER BY id"))).all()) == [2, 2]
        seen = text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        assert await session.scalar(seen) == 1, "the test caused what it is about"
    await database.close()


KILL_THE_OTHERS = text(
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


async def test_a_named_statement_runs_again_on_a_fresh_connection_when_its_own_was_lost(database_url: str) -> None:
    database, other = Database(database_url, ping=False), Database(database_url)
    assert await database.single(lambda connection: column(connection, "count_open")) == [0]
    async with other.work() as session:
        await session.execute(KILL_THE_OTHERS)
    assert await database.single(lambda connection: column(connection, "count_open")) == [0]
    with pytest.raises(OperationalError) as lost:
        async with database.work() as session:
            await column(session, "count_open")
            async with other.work() as killer:
                await killer.execute(KILL_THE_OTHERS)
            await column(session, "count_open")
    assert lost.value.connection_invalidated
    await database.close()
    await other.close()


async def test_connections_of_a_burst_are_used_again(empty_database_url: str) -> None:
    """A new connection prepares each statement anew, and the triggers their plans."""
    database = Database(empty_database_url, pool_connections=4)
    processes = set[int]()

    async def note(connection: AsyncConnection) -> None:
        found = await connection.execute(text("SELECT pg_backend_pid() FROM pg_sleep(0.05)"))
        processes.add(found.scalar_one())

    for _ in range(3):
        await asyncio.gather(*(database.single(note) for _ in range(4)))
    await database.close()
    assert len(processes) <= 4


async def test_named_statements_are_rolled_back_with_their_transaction(database: Database) -> None:
    event = {"now": utc_now(), "job_id": "nobody", "event": "end", "detail": None}

    with pytest.raises(RuntimeError):
        async with database.work() as session:
            await session.execute(text("UPDATE queue_state SET paused_at = now()"))
            await execute(session, "forget_workers", {"before": utc_now(), "drained_before": utc_now()})
            raise RuntimeError
    async with database.reading() as session:
        assert await session.scalar(text("SELECT count(*) FROM queue_state WHERE paused_at IS NOT NULL")) == 0
        with pytest.raises(DataError, match="INSERT INTO job_events"):
            await execute(session, "write_event", {**event, "event": "a\0b"})


async def test_statements_are_limited_only_where_that_is_wanted(empty_database_url: str) -> None:
    async def limits(database: Database) -> set[str]:
        """Return the limits of both pools, also after a transaction that was rolled back."""
        found, wanted = set(), text("SHOW statement_timeout")
        with pytest.raises(RuntimeError):
            async with database.work() as session:
                found.add(str(await session.scalar(wanted)))
                raise RuntimeError
        async with database.work() as session, database.reading() as reading:
            return found | {str(await session.scalar(wanted)), str(await reading.scalar(wanted))}

    limited, free = Database(empty_database_url, statement_seconds=1.5), Database(empty_database_url)
    assert (await limits(limited), await limits(free)) == ({"1500ms"}, {"0"})
    await limited.close()
    await free.close()


NUMBERS: Final[tuple[list[float | None], ...]] = (
    [0], [-1, 70_000], [2**62, None, 1], [0.1, 1e-300, 5, None], [float("inf"), -1e300], [None, None],
)  # fmt: skip
LISTS: Final[tuple[list[str | None], ...]] = (
    ["a"], ["a", "b"], ["job_1.0", "NULL", "{}", " a, b "], [""], ['"'], ["\\"], ['a","b'], ["a", None], ["é", "日本"], ["a\nb\t"],
    [], [None], [None, "a"], ['{"a": "b\\\\c"}', None, "NULL", '{"é": 1}'], ['{"a": "b"}', "", "\\"],
)  # fmt: skip


async def test_lists_of_texts_arrive_as_they_are(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    for sent in LISTS:

        async def echo(connection: AsyncConnection, sent: list[str | None] = sent) -> list[str | None]:
            return list(
                (await connection.execute(text("SELECT unnest(CAST(:list AS text[]))"), {"list": sent})).scalars()
            )

        assert await database.single(echo) == sent
    await database.close()


async def test_lists_of_numbers_arrive_as_they_are_and_share_one_prepared_statement(empty_database_url: str) -> None:
    """psycopg names the smallest type for each list: every combination was a statement to be planned anew."""
    database = Database(empty_database_url)

    async def echo(connection: AsyncConnection) -> None:
        assert connection.sync_connection is not None
        driver = connection.sync_connection.connection.driver_connection
        for sent in NUMBERS:
            query = "SELECT unnest(CAST(%s AS float8[]))"
            cursor = await driver.execute(query, [sent], prepare=True)  # type: ignore[union-attr]
            assert [row[0] for row in await cursor.fetchall()] == sent
        prepared = await connection.execute(text("SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql"))
        assert prepared.scalar_one() == 1

    await database.single(echo)
    await database.close()
