"""Objects and rows that the scheduler deletes, and those that it keeps."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import func, select, text
from sqlmodel import col

from farm_core.accounts.models import ApiKey
from farm_core.assets.models import Asset
from farm_core.audit.models import AuditEntry
from farm_core.batches.models import Batch
from farm_core.db.database import Database
from farm_core.db.queue_models import AccountQueue
from farm_core.jobs.models import Job, JobEvent, Segment, Task
from farm_core.sign_in.models import ConsoleSession, SignInLink
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.storage.port import StoredObject
from farm_core.templates import repository
from farm_core.templates.models import Template
from farm_core.usage.models import ObjectCharge
from farm_core.webhooks.models import Delivery
from scheduler.maintenance.retention import (
    BATCH,
    HistoryReaper,
    ResultReaper,
    RowReaper,
    ScratchReaper,
    SegmentReaper,
    UploadReaper,
)
from tests.clock import ManualClock
from tests.scheduler.farm import furnish, parts_for


@pytest.mark.service
async def test_bytes_that_never_got_their_row_are_deleted_once_it_would_have_expired(
    database: Database, tmp_path: Path
) -> None:
    clock = ManualClock(datetime.now(UTC) + timedelta(minutes=30))
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    reaper = ScratchReaper(parts_for(database, storage, [], tmp_path, clock))
    storage.put_bytes("segments/cut-off.mp4", b"1")
    storage.put_bytes("assets/acc/cut-off.png", b"1")
    storage.put_bytes("imports/acc/imp_1", b"1")
    (tmp_path / "storage" / "partial" / ".partial-killed").write_bytes(b"1")
    left = []
    for _ in range(3):
        await reaper.tick()
        left.append([stored.key for stored in storage.listed("")])
        clock.advance(13 * 3600)
    names = ["assets/acc/cut-off.png", "imports/acc/imp_1", "segments/cut-off.mp4"]
    assert left == [names, names[:1], []]
    left_folders = [*tmp_path.glob("storage/partial/*"), *tmp_path.glob("storage/objects/*/*")]  # noqa: ASYNC240
    assert left_folders == []


NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=31)
"""A time at which everything written now has expired."""


def template(name: str, *, deleted: bool) -> Template:
    return Template(
        id=f"tpl_{name}", account_id="acc_a", name=name, width=64, height=64, fps=30, duration_seconds=1, inputs=[],
        targets={}, document_key=f"documents/{name}.json", deleted_at=LATER - timedelta(hours=2) if deleted else None,
    )  # fmt: skip


def job(name: str, template_id: str, finished_at: datetime | None) -> Job:
    """Create a completed job, or (None) a running one."""
    ended: dict[str, Any] = {
        "status": "completed",
        "video_key": f"results/{name}.mp4",
        "receipt_key": f"results/{name}.json",
    }
    return Job(
        id=f"job_{name}", account_id="acc_a", template_id=template_id, inputs={}, width=64, height=64, fps=30, frame_count=30,
        reserved_ms=1000, origin="http://farm", request_hash="", document_key=f"frozen/{name}.json",
        media={"/files/x": f"media/{name}.png"}, finished_at=finished_at, **(ended if finished_at else {"status": "processing"}),
    )  # fmt: skip


@pytest.mark.service
async def test_results_and_deleted_templates_go_once_no_job_needs_them(database: Database, tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    templates = [template(name, deleted=name != "live") for name in ("live", "used", "gone", "restorable")]
    templates[-1].deleted_at = LATER - repository.UNDELETE_TIME
    jobs = [
        job("old", "tpl_gone", NOW), job("young", "tpl_live", LATER - timedelta(days=29)), job("busy", "tpl_used", None),
    ]  # fmt: skip
    async with database.work() as session:
        session.add_all(templates)
        await session.flush()
        session.add_all(jobs)
    for name in ("old", "young", "busy"):
        for key in (f"results/{name}.mp4", f"results/{name}.json", f"frozen/{name}.json", f"media/{name}.png"):
            storage.put_bytes(key, b"1")
    for name in ("live", "used", "gone", "restorable", "never-stored"):
        storage.put_bytes(f"documents/{name}.json", b"1")
    async with database.work() as session:
        session.add_all(
            [ObjectCharge(account_id="acc_a", key=stored.key, bytes=stored.bytes) for stored in storage.listed("")]
        )
    before = {stored.key for stored in storage.listed("")}
    await ResultReaper(parts_for(database, storage, [], tmp_path, ManualClock(NOW))).tick()
    assert {stored.key for stored in storage.listed("")} == before
    await ResultReaper(parts_for(database, storage, [], tmp_path, ManualClock(LATER))).tick()
    assert {stored.key for stored in storage.listed("")} == {
        "documents/empty.json", "documents/live.json", "documents/used.json", "documents/restorable.json", "results/young.mp4", "results/young.json",
        "frozen/young.json", "frozen/busy.json", "media/young.png", "media/busy.png",
    }  # fmt: skip
    async with database.reading() as session:
        charged = {row.key: row.bytes for row in await session.scalars(select(ObjectCharge))}
        kept = await session.scalar(
            select(col(AccountQueue.stored_bytes)).where(col(AccountQueue.account_id) == "acc_a")
        )
    assert charged == {stored.key: stored.bytes for stored in storage.listed("")}, "what is deleted counts no longer"
    assert kept == sum(charged.values())


@pytest.mark.service
async def test_a_reaper_that_ends_while_it_deletes_leaves_nothing_that_counts(
    database_url: str, tmp_path: Path
) -> None:
    database, storage = Database(database_url), LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    storage.put_bytes("results/old.mp4", b"12345")
    async with database.work() as session:
        session.add(ObjectCharge(account_id="acc_a", key="results/old.mp4", bytes=5))
    parts = parts_for(database, storage, [], tmp_path, ManualClock(LATER))
    waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with psycopg.connect(database_url) as other, psycopg.connect(database_url, autocommit=True) as looking:
        other.execute("SELECT 1 FROM account_queues WHERE account_id = 'acc_a' FOR UPDATE")
        ended = asyncio.create_task(ResultReaper(parts).tick())
        while not looking.execute(waits).fetchone():
            assert not ended.done()
            await asyncio.sleep(0.02)
        ended.cancel()
        await asyncio.gather(ended, return_exceptions=True)
    await ResultReaper(parts).tick()
    assert not storage.exists("results/old.mp4")
    async with database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(ObjectCharge)) == 0
    await database.close()


class NeededAgain(LocalStorage):
    """Storage in which a job rewrites an object while the reaper checks the objects that it has listed."""

    def listed(self, prefix: str) -> Iterator[StoredObject]:
        held = list(super().listed(prefix))
        for one in held:
            self.put_bytes(one.key, b"1")
        yield from held


@pytest.mark.service
async def test_an_object_that_a_new_job_needs_is_not_deleted(database: Database, tmp_path: Path) -> None:
    storage = NeededAgain(tmp_path / "storage", Links(b"secret"))
    storage.put_bytes("media/again.png", b"1")
    written = (NOW - timedelta(days=31)).timestamp()
    os.utime(tmp_path / "storage" / "objects" / "media" / "again.png", (written, written))
    await ResultReaper(parts_for(database, storage, [], tmp_path, ManualClock(NOW))).tick()
    assert storage.exists("media/again.png")


@pytest.mark.service
async def test_the_least_recently_used_segments_go_but_those_that_a_running_job_needs(
    database: Database, tmp_path: Path
) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    dependencies = parts_for(database, storage, [], tmp_path, ManualClock(NOW), segment_cache_bytes=25)
    task = Task(
        id="task", job_id="job_busy", index=0, kind="render", first_frame=0, frame_count=30, status="done",
        segment_key="segments/needed.mp4",
    )  # fmt: skip
    async with database.work() as session:
        session.add(job("busy", "tpl", None))
        await session.flush()
        session.add(task)
        for age, name in enumerate(("newest", "newer", "older", "needed")):
            key = f"segments/{name}.mp4"
            storage.put_bytes(key, b"0123456789")
            session.add(Segment(key=key, bytes=10, used_at=NOW - timedelta(hours=age)))
    assert await SegmentReaper(dependencies).tick() == 1
    left = {stored.key for stored in storage.listed("segments/")}
    assert left == {f"segments/{name}.mp4" for name in ("newest", "newer", "needed")}
    assert await SegmentReaper(dependencies).tick() == 0


@pytest.mark.service
async def test_uploads_go_after_a_day(database: Database, tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    clock = ManualClock(NOW)
    reaper = UploadReaper(parts_for(database, storage, [], tmp_path, clock))
    async with database.work() as session:
        for name, hours in (("first", 24), ("second", 25)):
            key = f"assets/acc_a/{name}.png"
            storage.put_bytes(key, b"1")
            row = Asset(id=f"ast_{name}", account_id="acc_a", storage_key=key, bytes=1, mime="image/png")
            row.created_at, row.expires_at = NOW, NOW + timedelta(hours=hours)
            session.add(row)
    assert await reaper.tick() == 0
    clock.advance(24 * 3600)
    assert await reaper.tick() == 1
    assert [stored.key for stored in storage.listed("assets/")] == ["assets/acc_a/second.png"]


@pytest.mark.service
async def test_history_leaves_in_short_transactions_and_keeps_what_is_young_or_has_a_webhook_due(
    database: Database, tmp_path: Path
) -> None:
    await furnish(database, LocalStorage(tmp_path / "storage", Links(b"secret")))
    async with database.work() as session:
        await session.execute(text(OLD_JOBS))
        session.add_all([job("young", "tpl", LATER - timedelta(days=1)), job("told", "tpl", NOW - timedelta(days=2))])
        await session.flush()
        session.add(Delivery(id="d", job_id="job_told", url="http://x.example/", body={}, attempts=[]))
        inputs = [f"inputs/{name}" for name in ("old7", "old3000", "job_young")]
        session.add_all(ObjectCharge(account_id="acc_a", key=key, bytes=2000) for key in inputs)
    reaper = HistoryReaper(parts_for(database, LocalStorage(tmp_path, Links(b"x")), [], tmp_path, ManualClock(LATER)))
    batches = []
    while deleted := await reaper.tick():
        batches.append(deleted)
    assert sum(batches) == 3000
    assert max(batches) <= BATCH
    async with database.work() as session:
        assert sorted(await session.scalars(select(col(Job.id)))) == ["job_told", "job_young"]
        for table in (Task, JobEvent):
            assert await session.scalar(select(func.count()).select_from(table)) == 0
        queue = await session.get_one(AccountQueue, "acc_a")
        assert (queue.completed, queue.stored_bytes) == (2, 2000)


OLD_JOBS = """
    WITH old AS (
        INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms,
            origin, request_hash, attempt, created_at, finished_at, video_key)
        SELECT 'old' || n, 'acc_a', 'tpl', 'completed', 100, '{}', 64, 64, 30, 30, 1000, 'http://farm', '', 1,
            now() - interval '2 days', now() - interval '1 day', 'results/' || n || '.mp4' FROM generate_series(1, 3000) AS n
        RETURNING id
    ), events AS (
        INSERT INTO job_events (job_id, at, event, status) SELECT id, now(), 'complete', 'completed' FROM old
    )
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.0', id, 0, 'render', 0, 30, 'done', 1, now() FROM old
"""


def batch(name: str, template_id: str, created_at: datetime) -> Batch:
    return Batch(
        id=f"batch_{name}", account_id="acc_a", template_id=template_id, request_hash="", row_count=1, refused=[],
        created_at=created_at,
    )  # fmt: skip


@pytest.mark.service
async def test_rows_of_deleted_templates_and_old_batches_go_once_nothing_refers_to_them(
    database_url: str, tmp_path: Path
) -> None:
    database, clock = Database(database_url), ManualClock(LATER + timedelta(hours=2))
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    templates = [template(name, deleted=True) for name in ("gone", "rendered", "batched", "just-read", "young")]
    templates[-1].deleted_at = clock.now() - timedelta(minutes=30)
    async with database.work() as session:
        session.add_all([template("live", deleted=False), *templates])
        await session.flush()
        session.add_all(
            ObjectCharge(account_id="acc_a", key=key, bytes=2000)
            for key in ("batches/batch_old", "batches/batch_young")
        )
        session.add(batch("of-jobs", "tpl_live", NOW))
        session.add(batch("old", "tpl_gone", NOW))
        session.add(batch("young", "tpl_batched", LATER))
        await session.flush()
        session.add_all([job("open", "tpl_rendered", None), job("ended", "tpl_live", LATER)])
        await session.flush()
        (await session.get_one(Job, "job_ended")).batch_id = "batch_of-jobs"
        await session.execute(text(MANY_TEMPLATES))
        for statement in NOTE_DELETIONS:
            await session.execute(text(statement))
    reaper = RowReaper(parts_for(database, storage, [], tmp_path, clock))
    with psycopg.connect(database_url) as render:
        render.execute("SELECT 1 FROM templates WHERE id = 'tpl_just-read' FOR KEY SHARE")
        await reaper.tick()
    kept = {"tpl", "tpl_live", "tpl_rendered", "tpl_batched", "tpl_young"}
    async with database.reading() as session:
        assert set(await session.scalars(select(col(Template.id)))) == kept | {"tpl_just-read"}
        assert set(await session.scalars(select(col(Batch.id)))) == {"batch_of-jobs", "batch_young"}
        assert (await session.get_one(AccountQueue, "acc_a")).stored_bytes == 2000, (
            "faults count until their batch goes"
        )
    await reaper.tick()
    async with database.reading() as session:
        assert set(await session.scalars(select(col(Template.id)))) == kept
        sizes = await session.scalars(text("SELECT count(*) FROM deletions GROUP BY transaction"))
        assert max(sizes) <= BATCH, "transactions are small"
    await database.close()


@pytest.mark.service
async def test_keys_sessions_links_and_audit_entries_go_at_an_age_of_their_own(
    database: Database, tmp_path: Path
) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    reaper = RowReaper(parts_for(database, storage, [], tmp_path, ManualClock(NOW)))
    second, settings = timedelta(seconds=1), reaper.dependencies.settings
    old_key, old_entry = NOW - timedelta(days=settings.result_days), NOW - timedelta(days=settings.audit_days)
    assert old_entry < old_key
    kinds: tuple[type[ConsoleSession | SignInLink], ...] = (ConsoleSession, SignInLink)
    keys = {"revoked": (old_key - second, None), "just revoked": (old_key + second, None), "valid": (None, NOW)}
    keys |= {"expired": (None, old_key - second), "just expired": (None, old_key + second)}
    async with database.work() as session:
        for name, (revoked_at, expires_at) in keys.items():
            session.add(
                ApiKey(
                    id=name, account_id="acc_a", name=name, prefix="", secret_hash=name, scopes=[],
                    revoked_at=revoked_at, expires_at=expires_at,
                )
            )  # fmt: skip
        for number in range(BATCH + 1):
            session.add(ConsoleSession(token_hash=f"old{number}", account_id="acc_a", expires_at=NOW - second))
        for kind in kinds:
            session.add_all(
                kind(token_hash=name, account_id="acc_a", expires_at=expires_at)
                for name, expires_at in (("over", NOW - second), ("usable", NOW + second))
            )
        session.add_all(
            AuditEntry(at=at, who="ann", role="operator", action=name, target="")
            for name, at in (("old", old_entry - second), ("young", old_entry + second))
        )
    await reaper.tick()
    async with database.reading() as session:
        assert set(await session.scalars(select(col(ApiKey.id)))) == {"just revoked", "just expired", "valid"}
        for kind in kinds:
            assert set(await session.scalars(select(col(kind.token_hash)))) == {"usable"}
        assert set(await session.scalars(select(col(AuditEntry.action)))) == {"young"}


NOTE_DELETIONS = (
    "CREATE TABLE deletions (transaction xid8)",
    """CREATE FUNCTION note_deletion() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO deletions VALUES (pg_current_xact_id()); RETURN NULL; END $$""",
    "CREATE TRIGGER note AFTER DELETE ON templates FOR EACH ROW EXECUTE FUNCTION note_deletion()",
)
MANY_TEMPLATES = """
    INSERT INTO templates (id, account_id, name, width, height, fps, duration_seconds, inputs, targets, document_key, created_at,
        updated_at, deleted_at)
    SELECT 'many' || n, 'acc_a', 'n', 64, 64, 30, 1, '[]', '{}', 'documents/many', now(), now(), now()
    FROM generate_series(1, 3000) AS n
"""


class WatchfulStorage(LocalStorage):
    """Storage that records if a transaction is open whenever an object is deleted."""

    def __init__(self, folder: Path, url: str) -> None:
        super().__init__(folder, Links(b"secret"))
        self._url = url
        self.deleted = 0
        self.open_transactions = 0

    def delete(self, key: str) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            found = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND state = 'idle in transaction'"
            ).fetchone()
        assert found is not None
        self.open_transactions += found[0]
        self.deleted += 1
        super().delete(key)


@pytest.mark.service
async def test_no_transaction_is_open_while_objects_are_deleted(database_url: str, tmp_path: Path) -> None:
    database, storage = Database(database_url), WatchfulStorage(tmp_path / "storage", database_url)
    await furnish(database, storage)
    dependencies = parts_for(database, storage, [], tmp_path, ManualClock(LATER), segment_cache_bytes=0)
    async with database.work() as session:
        session.add(Segment(key="segments/a.mp4", bytes=1, used_at=NOW))
        session.add(
            Asset(id="up", account_id="acc_a", storage_key="assets/up", bytes=1, mime="image/png", expires_at=NOW)
        )
    for key in ("segments/a.mp4", "segments/unknown.mp4", "assets/up", "results/none.mp4"):
        storage.put_bytes(key, b"1")
    for reaper in (UploadReaper, SegmentReaper, ScratchReaper, ResultReaper):
        await reaper(dependencies).tick()
    assert storage.deleted == 4
    assert storage.open_transactions == 0
    await database.close()
