"""Counts of finished renders by minute that no chart shows any more."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.db.database import Database
from farm_core.statistics.models import JobMinute
from farm_core.statistics.repository import BACKLOG_MAX
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.maintenance.retention import BATCH, RowReaper
from tests.clock import ManualClock
from tests.scheduler.farm import parts_for


@pytest.mark.service
def test_counts_of_old_minutes_are_deleted_and_those_of_charts_stay(database_url: str, tmp_path: Path) -> None:
    """An account that rendered each minute left half a million rows a year, for ever."""

    async def story() -> None:
        now = datetime.now(UTC).replace(second=0, microsecond=0)
        database, storage = Database(database_url), LocalStorage(tmp_path / "storage", Links(b"secret"))
        young = [now - age for age in (BACKLOG_MAX, timedelta(days=31), timedelta(minutes=1))]
        old = [now - BACKLOG_MAX - timedelta(minutes=1 + index) for index in range(2 * BATCH + 1)]
        async with database.work() as session:
            session.add(Account(id="acc_a", name="a"))
            await session.flush()
            session.add_all(JobMinute(minute=minute, account_id="acc_a", completed=1) for minute in (*old, *young))
        await RowReaper(parts_for(database, storage, [], tmp_path, ManualClock(now))).tick()
        async with database.reading() as session:
            left = list(await session.scalars(select(col(JobMinute.minute)).order_by(col(JobMinute.minute))))
        await database.close()
        assert left == young

    asyncio.run(story())
