"""Delete an account with its jobs, results, templates, presets, uploads, keys, usage, and all their files.

Files that other accounts also use stay: equal documents and media are stored once
(`farm_core/jobs/shared_objects.py`). To finish an interrupted deletion, repeat it: the account's row is deleted last,
and its charges still name the files of deleted jobs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterable
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Table, delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.assets.models import Asset
from farm_core.audit.log import Actor, record
from farm_core.controls import jobs as job_controls
from farm_core.controls.accounts import locked, suspend
from farm_core.controls.jobs import BATCH, JobFilter
from farm_core.db.database import Database
from farm_core.jobs import workers
from farm_core.jobs.history import delete_jobs
from farm_core.jobs.models import Job
from farm_core.jobs.receipt import receipt_key
from farm_core.jobs.shared_objects import delete_objects, delete_unneeded
from farm_core.storage.port import Storage
from farm_core.tables import metadata
from farm_core.templates.models import Template, TemplateVersion
from farm_core.usage.models import ObjectCharge

OF_JOBS: Final = ("results/", "frozen/", "media/")
"""Key prefixes of objects that jobs refer to."""


@dataclass(slots=True)
class DeletionReport:
    """Result of a deletion: number of cancelled jobs, deleted rows by table, deleted files and their bytes."""

    account: str = ""
    cancelled: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    files: int = 0
    bytes: int = 0

    def add_rows(self, table: str, count: int) -> None:
        """Add a number of deleted rows. Tables without deleted rows are not listed."""
        if count:
            self.rows[table] = self.rows.get(table, 0) + count

    async def add_files(self, deleted: AsyncIterable[tuple[str, int]]) -> None:
        """Add each deleted file, with its bytes, as soon as it is deleted."""
        async for _, size in deleted:
            self.files, self.bytes = self.files + 1, self.bytes + size


async def contents(session: AsyncSession, account_id: str) -> Counter[str]:
    """Return the number of the account's rows in each table, which `delete_account` would delete. Raises
    NoSuchTarget."""
    await locked(session, account_id)
    counts: Counter[str] = Counter()
    for table in _owned_tables():
        wanted = select(func.count()).select_from(table).where(table.c.account_id == account_id)
        counts[str(table.name)] = int(await session.scalar(wanted) or 0)
    return +counts


async def delete_account(
    database: Database, storage: Storage, actor: Actor, account_id: str, report: DeletionReport | None = None
) -> DeletionReport:
    """Suspend the account, cancel its jobs, then delete its rows and files in small batches. Return the report, which is
    filled meanwhile. Raises NoSuchTarget.

    Raises StorageUnavailable; repeat the deletion after that.
    """
    report = DeletionReport() if report is None else report
    async with database.work() as session:
        report.account = (await suspend(session, actor, account_id)).name
    report.cancelled = await job_controls.cancel(database, actor, JobFilter(account_id=account_id))
    while await _delete_jobs(database, storage, account_id, report):
        pass
    await _delete_uploads(database, storage, account_id, report)
    await _delete_left(database, storage, account_id, report)
    documents = await _delete_rows(database, actor, account_id, report)
    await report.add_files(delete_unneeded(database, storage, documents))
    return report


def _owned_tables() -> list[Table]:
    """Return the tables with rows of accounts, in order of deletion. Queue counters are deleted with the account."""
    return [
        table
        for table in reversed(metadata.sorted_tables)
        if "account_id" in table.c and table.name not in ("account_queues", "open_jobs")
    ]


async def _delete_jobs(database: Database, storage: Storage, account_id: str, report: DeletionReport) -> bool:
    """Delete a batch of jobs and their files; return False if no job is left."""
    async with database.work() as session:
        wanted = select(col(Job.id)).where(col(Job.account_id) == account_id).limit(BATCH)
        ids = list(await session.scalars(wanted))
        deleted = await delete_jobs(session, ids)
        await workers.forget_segments(session, sorted(deleted.segment_keys))
    report.add_rows("jobs", deleted.jobs)
    await report.add_files(delete_unneeded(database, storage, deleted.keys))
    await report.add_files(delete_objects(storage, deleted.segment_keys))
    return deleted.jobs > 0


async def _delete_uploads(database: Database, storage: Storage, account_id: str, report: DeletionReport) -> None:
    async with database.reading() as session:
        keys = list(await session.scalars(select(col(Asset.storage_key)).where(col(Asset.account_id) == account_id)))
    await report.add_files(delete_objects(storage, keys))


async def _delete_left(database: Database, storage: Storage, account_id: str, report: DeletionReport) -> None:
    """Delete files that an interrupted deletion left after it deleted the rows of their jobs."""
    async with database.reading() as session:
        charged = select(col(ObjectCharge.key)).where(col(ObjectCharge.account_id) == account_id)
        left = {key for key in await session.scalars(charged) if key.startswith(OF_JOBS)}
    receipts = {receipt_key(key) for key in left if key.startswith("results/")}
    await report.add_files(delete_unneeded(database, storage, left | receipts))


async def _delete_rows(database: Database, actor: Actor, account_id: str, report: DeletionReport) -> set[str]:
    """Delete the account's remaining rows in one transaction; return the keys of the templates' documents."""
    async with database.work() as session:
        await session.execute(text("SET LOCAL statement_timeout = 0"))  # repeating it would take as long
        await session.execute(select(col(Account.id)).where(col(Account.id) == account_id).with_for_update())
        keys = set[str]()
        for model in (Template, TemplateVersion):
            keys.update(
                await session.scalars(select(col(model.document_key)).where(col(model.account_id) == account_id))
            )
        for table in _owned_tables():
            gone = await session.execute(delete(table).where(table.c.account_id == account_id).returning(1))
            report.add_rows(str(table.name), len(gone.all()))
        await session.execute(delete(Account).where(col(Account.id) == account_id))
        detail = {"name": report.account, "cancelled": report.cancelled, "rows": report.rows}
        await record(session, actor, "delete", f"account {account_id}", detail)
    return keys
