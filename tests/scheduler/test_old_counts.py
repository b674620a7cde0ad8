"""Rows that nothing deletes but time: counts of finished renders by minute, ended keys, links, sessions, audit entries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.db.database import Database
from farm_core.jobs.models import Job
from farm_core.statistics.models import JobMinute
from farm_core.statistics.repository import BACKLOG_MAX, bars
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.maintenance.retention import BATCH, HistoryReaper, RowReaper
from tests.clock import ManualClock
from tests.scheduler.farm import furnish, parts_for
from tests.scheduler.test_retention import job


@pytest.mark.service
async def test_counts_of_old_minutes_are_deleted_and_those_of_charts_stay(database: Database, tmp_path: Path) -> None:
    """An account that rendered each minute left half a million rows a year, for ever."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    young = [now - age for age in (BACKLOG_MAX, timedelta(days=31), timedelta(minutes=1))]
    old = [now - BACKLOG_MAX - timedelta(minutes=1 + index) for index in range(2 * BATCH + 1)]
    async with database.work() as session:
        session.add(Account(id="acc_a", name="a"))
        await session.flush()
        session.add_all(JobMinute(minute=minute, account_id="acc_a", completed=1) for minute in (*old, *young))
    await RowReaper(parts_for(database, storage, [], tmp_path, ManualClock(now))).tick()
    async with database.reading() as session:
        left = list(await session.scalars(select(col(JobMinute.minute)).order_by(col(JobMinute.minute))))
    assert left == young


ENDED = """
    INSERT INTO api_keys (id, account_id, name, prefix, secret_hash, scopes, created_at, request_count, revoked_at, expires_at)
    SELECT 'key_' || name || n, 'acc_a', 'k', 'p', name || n, '{}', now(), 0, revoked_at, expires_at FROM generate_series(1, 450) AS n, (VALUES
        ('revoked', now() - interval '31 days', NULL), ('expired', NULL, now() - interval '31 days'),
        ('lately', now() - interval '29 days', now() + interval '1 day'), ('live', NULL, NULL)
    ) AS ended (name, revoked_at, expires_at);
    INSERT INTO audit_log (at, who, role, action, target) SELECT now() - n * interval '1 day', 'a', 'account', 'sign in', 'account acc_a'
    FROM generate_series(0, 900) AS n ORDER BY n DESC;
    INSERT INTO console_sessions (token_hash, account_id, read_only, created_at, expires_at)
    SELECT n, 'acc_a', false, now(), now() + (n - 450.5) * interval '1 minute' FROM generate_series(1, 900) AS n;
    INSERT INTO sign_in_links (token_hash, account_id, read_only, created_at, expires_at)
    SELECT n, 'acc_a', false, now(), now() + (n - 450.5) * interval '1 minute' FROM generate_series(1, 900) AS n;
"""
LEFT = """
    SELECT (SELECT array_agg(DISTINCT rtrim(id, '0123456789') ORDER BY rtrim(id, '0123456789')) FROM api_keys), (SELECT count(*) FROM api_keys),
        (SELECT count(*) FROM console_sessions), (SELECT min(expires_at) > now() FROM console_sessions),
        (SELECT count(*) FROM sign_in_links), (SELECT min(expires_at) > now() FROM sign_in_links),
        (SELECT count(*) FROM audit_log), (SELECT min(at) > now() - interval '365 days' FROM audit_log)
"""


@pytest.mark.service
async def test_ended_keys_links_and_sessions_and_old_audit_entries_are_deleted(
    database: Database, tmp_path: Path
) -> None:
    """An account that created and revoked a key for every render kept all of them, and no entry of the audit log ever went."""
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    async with database.work() as session:
        session.add(Account(id="acc_a", name="a"))
        await session.flush()
        for statement in filter(str.strip, ENDED.split(";")):
            await session.execute(text(statement))
    await RowReaper(parts_for(database, storage, [], tmp_path, ManualClock(datetime.now(UTC)))).tick()
    async with database.reading() as session:
        left = (await session.execute(text(LEFT))).one()
    assert tuple(left) == (["key_lately", "key_live"], 900, 450, True, 450, True, 365, True)


@pytest.mark.service
async def test_a_job_is_counted_for_the_charts_before_it_is_deleted(database: Database, tmp_path: Path) -> None:
    """Without a viewer of charts, those of a month lacked all renders that `RESULT_DAYS` had deleted."""
    now = datetime.now(UTC)
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    async with database.work() as session:
        session.add(job("old", "tpl", now - timedelta(days=9)))
        session.add(job("young", "tpl", now - timedelta(days=2)))
        await session.execute(text("UPDATE job_roll_up SET until = now() - interval '10 days'"))
    reaper = HistoryReaper(parts_for(database, storage, [], tmp_path, ManualClock(now), result_days=7))
    while await reaper.tick():
        pass
    async with database.reading() as session:
        assert list(await session.scalars(select(col(Job.id)))) == ["job_young"]
    month = await bars(database, now - timedelta(days=31), timedelta(days=1), 31, "acc_a")
    assert [bar.completed for bar in month if bar.completed] == [1, 1]
