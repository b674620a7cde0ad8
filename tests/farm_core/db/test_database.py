"""Transactions that Postgres picks as victims run again."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.db.database import Database

pytestmark = pytest.mark.service


def test_of_two_transactions_in_a_deadlock_both_are_committed_in_the_end(empty_database_url: str) -> None:
    async def story() -> None:
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

    asyncio.run(story())
