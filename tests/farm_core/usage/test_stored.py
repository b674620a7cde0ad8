from __future__ import annotations

import asyncio

import pytest

from farm_core.db.database import Database
from farm_core.errors import QuotaExceeded
from farm_core.usage.stored import charge, stored_bytes
from tests.farm_core import rows
from tests.farm_core.locks import somebody_waits_for_a_lock


@pytest.mark.service
async def test_of_two_objects_that_are_stored_at_once_the_second_is_refused_if_both_do_not_fit(
    database: Database,
) -> None:
    async with database.work() as session:
        await charge(session, (await rows.account(session, "bob")).id, "uploads/others", 95, 100)
        account = await rows.account(session)
        await charge(session, account.id, "uploads/first", 10, 100)

    async def store_third() -> None:
        async with database.work() as session:
            await charge(session, account.id, "uploads/third", 60, 100)

    async with database.work() as session:
        await charge(session, account.id, "uploads/second", 60, 100)
        storing = asyncio.create_task(store_third())
        await somebody_waits_for_a_lock(database)
    with pytest.raises(QuotaExceeded):
        await storing
    async with database.reading() as session:
        assert await stored_bytes(session, account.id) == 70
