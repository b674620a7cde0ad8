"""Check and correct the tables that triggers update: counts, queued jobs and open jobs of accounts.

They are wrong after rows were loaded without triggers, or from a part of a backup.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.db.database import Database
from farm_core.db.sql import column, execute
from farm_core.jobs.repository import wake_schedulers

PAGE: Final = 500
"""Number of accounts that one statement checks."""

ACCOUNTS_AT_ONCE: Final = 200
"""Number of accounts that one transaction recounts."""

_ALONE: Final = text("SELECT pg_advisory_xact_lock(7263951482)")
"""Lock against a second recount, which would add the same differences again."""

_CHANGED: Final = ("queued", "processing", "completed", "failed", "cancelled", "reserved_ms", "stored_bytes")


async def doubtful_accounts(database: Database) -> list[str]:
    """Return the accounts whose queue row or open jobs do not match their jobs.

    Reads the first queued jobs of each account and all jobs in processing, but no finished jobs.
    """
    found, after = set[str](), ""
    while True:
        values = {"after": after, "accounts_max": PAGE}
        page = await database.single(partial(execute, name="queue_page", values=values))
        found.update(row.id for row in page if not row.is_right)
        if len(page) < PAGE:
            break
        after = page[-1].id
    found.update(await database.single(partial(column, name="miscounted_accounts")))
    return sorted(found)


async def recount(database: Database, account_ids: Sequence[str]) -> int:
    """Recount the accounts' jobs, and rebuild their queues and open jobs; return the number of accounts with wrong
    counts.

    The farm can run meanwhile: accounts are locked only while the differences are written.
    """
    wrong = 0
    for start in range(0, len(account_ids), ACCOUNTS_AT_ONCE):
        some = sorted(account_ids[start : start + ACCOUNTS_AT_ONCE])
        await database.single(partial(execute, name="add_queue_rows", values={"account_ids": some}))
        wrong += await database.transaction(partial(_recount, account_ids=some))
    return wrong


async def _recount(session: AsyncSession, account_ids: Sequence[str]) -> int:
    """Correct the accounts' rows and wake the schedulers. Differences stay correct if other transactions change the
    counts."""
    await session.execute(_ALONE)
    accounts = {"account_ids": list(account_ids)}
    rows = await execute(session, "queue_differences", accounts)
    await execute(session, "lock_queues", accounts)
    changes = {name: [getattr(row, name) for row in rows] for name in _CHANGED}
    await execute(session, "change_queues", {"account_ids": [row.account_id for row in rows], **changes})
    await execute(session, "rebuild_waiting_jobs", accounts)
    await execute(session, "rebuild_open_jobs", accounts)
    await execute(session, "point_queues", accounts)
    await wake_schedulers(session)
    return sum(any(row[1:]) for row in rows)
