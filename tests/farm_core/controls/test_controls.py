"""Controls on real Postgres: their changes and their audit log entries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlmodel import col

from farm_core.accounts.models import Account, ApiKey
from farm_core.assets.models import Asset
from farm_core.audit import log
from farm_core.audit.log import Actor, Role
from farm_core.controls import accounts, jobs, queues, workers
from farm_core.controls.deletion import contents, delete_account
from farm_core.controls.errors import NoSuchTarget, NotAllowed
from farm_core.controls.jobs import CANCELLABLE, JobFilter
from farm_core.controls.workers import WorkerTarget
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import claims
from farm_core.jobs import tasks as job_tasks
from farm_core.jobs import workers as job_workers
from farm_core.jobs.models import Job, Task, Worker
from farm_core.jobs.repository import cancel as cancel_job
from farm_core.jobs.status import JobStatus
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.storage.port import StorageUnavailable
from farm_core.templates.models import Template, TemplateVersion
from farm_core.usage.models import ObjectCharge
from farm_core.webhooks.models import Delivery
from tests.farm_core import rows

pytestmark = pytest.mark.service
ACTOR = Actor("olga", Role.operator)


class Farm:
    """Farm with two accounts and one template each."""

    def __init__(self, database: Database, accounts: dict[str, Account], templates: dict[str, Template]) -> None:
        self.database = database
        self.accounts = accounts
        self.templates = templates

    async def add(self, name: str, job_id: str, **columns: Any) -> str:
        async with self.database.work() as session:
            session.add(rows.job(self.templates[name], **{"id": job_id, **columns}))
        return job_id

    async def add_task(self, job_id: str, index: int, **columns: Any) -> None:
        values = {"kind": "render", "first_frame": 0, "frame_count": 30, **columns}
        async with self.database.work() as session:
            session.add(Task(id=f"{job_id}.{index}", job_id=job_id, index=index, **values))

    async def statuses(self) -> dict[str, str]:
        async with self.database.work() as session:
            return {job.id: job.status for job in await session.scalars(select(Job))}

    async def audited(self) -> list[tuple[str, str, str, str]]:
        async with self.database.work() as session:
            return [(entry.who, entry.role, entry.action, entry.target) for entry in await log.page(session)]

    async def claimed(self, jobs_max: int = 10) -> list[str]:
        taken = await self.database.single(lambda connection: claims.claim_jobs(connection, utc_now(), jobs_max))
        return [job.id for job in taken]

    async def open_work(self) -> list[str]:
        work = await self.database.single(lambda connection: job_tasks.open_work(connection, utc_now(), 8))
        return [row.job_id for row in work]


@asynccontextmanager
async def farm_on(url: str) -> AsyncIterator[Farm]:
    """Yield a farm on a database."""
    database = Database(url)
    try:
        async with database.work() as session:
            accounts = {name: await rows.account(session, name) for name in ("ada", "bob")}
            templates = {name: await rows.template(session, account) for name, account in accounts.items()}
        yield Farm(database, accounts, templates)
    finally:
        await database.close()


def on_a_farm(url: str, body: Callable[[Farm], Awaitable[None]]) -> None:
    """Fill a farm before a test calls a command, which runs an event loop of its own."""

    async def run() -> None:
        async with farm_on(url) as farm:
            await body(farm)

    asyncio.run(run())


@pytest.fixture
async def farm(database_url: str) -> AsyncIterator[Farm]:
    async with farm_on(database_url) as found:
        yield found


async def test_nothing_is_claimed_or_dispatched_while_the_queue_is_paused(farm: Farm) -> None:
    await farm.add("ada", "waits")
    await farm.add("ada", "runs", status=JobStatus.processing)
    await farm.add_task("runs", 0)
    async with farm.database.work() as session:
        since = await queues.pause_queue(session, ACTOR)
    async with farm.database.work() as session:
        assert await queues.paused_since(session) == since
    assert (await farm.claimed(), await farm.open_work()) == ([], [])
    async with farm.database.work() as session:
        await queues.resume_queue(session, ACTOR)
    assert (await farm.claimed(), await farm.open_work()) == (["waits"], ["runs"])
    olga = ("olga", "operator")
    assert await farm.audited() == [(*olga, "resume", "queue"), (*olga, "pause", "queue")]


@pytest.mark.parametrize(
    "hold", [(queues.pause_account, queues.resume_account), (accounts.suspend, accounts.unsuspend)]
)
async def test_a_paused_or_suspended_account_waits_while_others_go_on(farm: Farm, hold: Any) -> None:
    for name in ("ada", "bob"):
        await farm.add(name, f"{name} waits")
        await farm.add(name, f"{name} runs", status=JobStatus.processing)
        await farm.add_task(f"{name} runs", 0)
    for control, waiting, open_jobs in (
        (hold[0], ["bob waits"], ["bob runs"]),
        (hold[1], ["ada waits"], ["ada runs", "bob runs"]),
    ):
        async with farm.database.work() as session:
            await control(session, ACTOR, farm.accounts["ada"].id)
        assert (await farm.claimed(), sorted(await farm.open_work())) == (waiting, open_jobs)


async def test_higher_priority_goes_first_and_a_day_of_waiting_makes_up_for_a_step(farm: Farm) -> None:
    now = utc_now()
    await farm.add("ada", "old", created_at=now - timedelta(hours=5))
    await farm.add("ada", "urgent", created_at=now, priority=1)
    await farm.add("ada", "starving", created_at=now - timedelta(days=2))
    assert [await farm.claimed(1) for _ in range(3)] == [["starving"], ["urgent"], ["old"]]


async def test_each_step_of_an_accounts_priority_doubles_its_turns_and_nobody_is_left_out(farm: Farm) -> None:
    for number in range(20):
        for name in ("ada", "bob"):
            await farm.add(name, f"{name}{number:02}", created_at=utc_now())
    async with farm.database.work() as session:
        await accounts.set_account_priority(session, ACTOR, farm.accounts["ada"].id, 2)
    taken = await farm.claimed(15)
    assert sum(job.startswith("ada") for job in taken) == 12
    assert sum(job.startswith("bob") for job in taken) == 3
    with pytest.raises(NotAllowed):
        async with farm.database.work() as session:
            await accounts.set_account_priority(session, ACTOR, farm.accounts["ada"].id, 11)


async def test_jobs_are_cancelled_by_filter_and_others_are_left_alone(farm: Farm) -> None:
    long_ago = utc_now() - timedelta(days=3)
    for number in range(230):
        await farm.add("ada", f"old{number}", created_at=long_ago)
    await farm.add("ada", "new")
    await farm.add("bob", "bobs", created_at=long_ago)
    await farm.add("ada", "done", status=JobStatus.failed, error="It broke.", finished_at=utc_now())
    chosen = JobFilter(farm.accounts["ada"].id, older_than=timedelta(days=1))
    async with farm.database.work() as session:
        assert await jobs.count(session, chosen, CANCELLABLE) == 230
    assert await jobs.cancel(farm.database, ACTOR, chosen) == 230
    assert await jobs.cancel(farm.database, ACTOR, chosen) == 0
    left = {name: status for name, status in (await farm.statuses()).items() if status != "cancelled"}
    assert left == {"new": "queued", "bobs": "queued", "done": "failed"}
    async with farm.database.work() as session:
        assert await jobs.count(session, JobFilter(text="BROKE")) == 1
        assert sum((entry.detail or {})["jobs"] for entry in await log.page(session, action="cancel")) == 230


async def test_an_action_on_many_jobs_has_one_audit_entry_that_counts_them_all(
    farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "BATCH", 2)
    monkeypatch.setattr(jobs, "READ", 4)

    for number in range(9):
        await farm.add("ada", f"j{number}", callback_url="https://example.com/hook")
    assert await jobs.set_priority(farm.database, ACTOR, JobFilter(), 3) == 9
    assert await jobs.cancel(farm.database, ACTOR, JobFilter(text="hook")) == 9
    assert await jobs.retry(farm.database, ACTOR, JobFilter(ids=("j1", "j2", "j3"))) == 3
    async with farm.database.work() as session:
        entries = [(entry.action, entry.detail) for entry in await log.page(session)]
    assert entries == [
        ("retry", {"filter": {"ids": ["j1", "j2", "j3"]}, "jobs": 3}),
        ("cancel", {"filter": {"text": "hook"}, "jobs": 9}),
        ("set priority", {"filter": {}, "jobs": 9, "priority": 3}),
    ]


LATE = """
    SELECT source FROM (
        SELECT 'event' AS source, at FROM job_events UNION ALL SELECT 'audit', at FROM audit_log
        UNION ALL SELECT 'created', created_at FROM jobs UNION ALL SELECT 'finished', finished_at FROM jobs
    ) AS written WHERE at > clock_timestamp()
"""


async def test_changes_have_the_time_of_postgres(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """As made by a command on a machine whose clock is ahead. A job created again there came after all jobs of the next day."""

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Ahead:
            return super().now(tz) + timedelta(days=1)

    for number in range(4):
        await farm.add("ada", f"j{number}")
    monkeypatch.setattr("farm_core.db.columns.datetime", Ahead)
    assert await jobs.set_priority(farm.database, ACTOR, JobFilter(), 3) == 4
    assert await jobs.cancel(farm.database, ACTOR, JobFilter(ids=("j0", "j1"))) == 2
    assert await jobs.retry(farm.database, ACTOR, JobFilter()) == 2
    async with farm.database.work() as session:
        await cancel_job(session, "j2")
        assert list(await session.scalars(text(LATE))) == []
        assert await jobs.count(session, JobFilter(newer_than=timedelta(hours=1))) == 6


async def test_each_failed_job_is_retried_once(farm: Farm) -> None:
    ended = {"finished_at": utc_now()}
    await farm.add("ada", "failed", status=JobStatus.failed, error="It broke.", priority=3, **ended)
    await farm.add("ada", "cancelled", status=JobStatus.cancelled, **ended)
    await farm.add("ada", "fine", status=JobStatus.completed, video_key="results/v.mp4", **ended)
    assert await jobs.retry(farm.database, ACTOR, JobFilter()) == 2
    assert await jobs.retry(farm.database, ACTOR, JobFilter()) == 0
    statuses = await farm.statuses()
    assert sorted(statuses.values()) == ["cancelled", "completed", "failed", "queued", "queued"]
    async with farm.database.work() as session:
        new = list(await session.scalars(select(Job).where(col(Job.status) == "queued")))
    assert sorted(job.priority for job in new) == [0, 3]
    assert {job.inputs == {} and job.frame_count == 90 for job in new} == {True}


async def test_priorities_of_jobs_are_set_by_filter(farm: Farm) -> None:
    now = utc_now()
    await farm.add("ada", "first", created_at=now - timedelta(minutes=2))
    await farm.add("ada", "second", created_at=now - timedelta(minutes=1))
    assert await jobs.set_priority(farm.database, ACTOR, JobFilter(ids=("second",)), 4) == 1
    assert await farm.claimed(1) == ["second"]


@pytest.mark.parametrize(("status", "index"), [(JobStatus.processing, 1), (JobStatus.cancelled, 0)])
async def test_no_assembly_and_no_segment_of_an_ended_job_is_requeued(
    farm: Farm, status: JobStatus, index: int
) -> None:
    finished_at = None if status is JobStatus.processing else utc_now()
    await farm.add("ada", "job", status=status, finished_at=finished_at)
    await farm.add_task("job", 0, status="done", segment_key="segments/a.mp4")
    await farm.add_task("job", 1, kind="assemble", status="leased", lease_token="mine")
    with pytest.raises(NotAllowed):
        async with farm.database.work() as session:
            await jobs.requeue_segment(session, ACTOR, "job", index)


async def test_a_segment_is_requeued_with_the_assembly_that_began_without_it(farm: Farm) -> None:
    await farm.add("ada", "job", status=JobStatus.processing)
    await farm.add_task("job", 0, status="done", segment_key="segments/a.mp4")
    await farm.add_task("job", 1, kind="assemble", status="leased", lease_token="mine")
    async with farm.database.work() as session:
        await jobs.requeue_segment(session, ACTOR, "job", 0)
    async with farm.database.work() as session:
        found = list(await session.scalars(select(Task).order_by(col(Task.index))))
    assert [(task.status, task.lease_token, task.segment_key) for task in found] == [("pending", None, None)] * 2
    with pytest.raises(NotAllowed):
        async with farm.database.work() as session:
            await jobs.requeue_segment(session, ACTOR, "job", 0)


async def _usable(farm: Farm) -> list[str]:
    ids = ["w0", "w1", "w2"]
    usable = await farm.database.single(lambda c: job_workers.usable_workers(c, utc_now(), ids))
    return sorted(usable)


async def _three_workers(farm: Farm) -> None:
    async with farm.database.work() as session:
        for number, node in enumerate(("n0", "n0", "n1")):
            session.add(Worker(id=f"w{number}", node=node, renderer="r", device="d", encoder="e", seen_at=utc_now()))


async def test_drained_and_quarantined_workers_get_no_work_until_they_are_resumed(farm: Farm) -> None:
    await _three_workers(farm)
    node, one = WorkerTarget(node="n0"), WorkerTarget(worker="w2")
    async with farm.database.work() as session:
        assert await workers.drain(session, ACTOR, node) == ["w0", "w1"]
    assert await _usable(farm) == ["w2"]
    async with farm.database.work() as session:
        session.add(Worker(id="late", node="n0", renderer="r", device="d", encoder="e", seen_at=utc_now()))
        await workers.quarantine(session, ACTOR, one, utc_now(), timedelta(minutes=5))
    assert await _usable(farm) == []
    late = await farm.database.single(lambda c: job_workers.usable_workers(c, utc_now(), ["late"]))
    assert late == {}
    async with farm.database.work() as session:
        await workers.resume(session, ACTOR, node)
        await workers.resume(session, ACTOR, one)
    assert await _usable(farm) == ["w0", "w1", "w2"]
    with pytest.raises(NoSuchTarget):
        async with farm.database.work() as session:
            await workers.drain(session, ACTOR, WorkerTarget(worker="none"))


async def test_a_worker_restarts_once_and_only_when_it_holds_nothing(farm: Farm) -> None:
    await _three_workers(farm)
    await farm.add("ada", "job", status=JobStatus.processing)
    await farm.add_task("job", 0, status="leased", lease_token="l", worker="w0")
    async with farm.database.work() as session:
        await workers.restart(session, ACTOR, WorkerTarget(node="n0"))
    ids = ["w0", "w1", "w2"]
    assert await _usable(farm) == ["w2"]
    assert await farm.database.single(lambda c: job_workers.restartable_workers(c, ids)) == ["w1"]
    assert await _usable(farm) == ["w1", "w2"]
    await farm.database.single(lambda c: c.execute(text("UPDATE tasks SET status = 'done', lease_token = NULL")))
    assert await farm.database.single(lambda c: job_workers.restartable_workers(c, ids)) == ["w0"]
    assert await farm.database.single(lambda c: job_workers.restartable_workers(c, ids)) == []


async def test_an_account_goes_with_everything_that_belongs_to_it_and_shared_files_stay(
    farm: Farm, tmp_path: Path
) -> None:
    storage = LocalStorage(tmp_path, Links(b"secret"))
    shared = ("documents/none", "media/shared", "assets/bob")
    own = ("results/a.mp4", "results/a.json", "segments/s.mp4", "media/own", "documents/former", "assets/ada")
    for key in (*shared, *own):
        storage.put_bytes(key, b"12345")

    done: dict[str, Any] = {"status": JobStatus.completed, "finished_at": utc_now()}
    media = {"http://x/1": "media/shared", "http://x/2": "media/own"}
    results = {"video_key": "results/a.mp4", "receipt_key": "results/a.json"}
    await farm.add("ada", "done", media=media, **results, **done)
    await farm.add_task("done", 0, status="done", segment_key="segments/s.mp4")
    await farm.add("ada", "waiting")
    await farm.add("bob", "bobs", video_key="results/b.mp4", media={"http://y": "media/shared"}, **done)
    ada = farm.accounts["ada"].id
    async with farm.database.work() as session:
        unused: dict[str, Any] = {"name": "k", "prefix": "p", "secret_hash": "h", "scopes": []}
        session.add(ApiKey(id="key", account_id=ada, **unused))
        session.add(Delivery(id="d", job_id="done", url="http://x.example/", body={}, attempts=[]))
        former: dict[str, Any] = {
            "inputs": [],
            "targets": {},
            "duration_seconds": 3,
            "document_key": "documents/former",
        }
        session.add(TemplateVersion(template_id=farm.templates["ada"].id, version=1, account_id=ada, **former))
        upload: dict[str, Any] = {"bytes": 5, "mime": "image/png", "expires_at": utc_now()}
        session.add_all(
            Asset(id=name, account_id=owner.id, storage_key=f"assets/{name}", **upload)
            for name, owner in farm.accounts.items()
        )
    async with farm.database.work() as session:
        assert (await contents(session, ada))["jobs"] == 2
    report = await delete_account(farm.database, storage, ACTOR, ada)
    assert (report.account, report.cancelled, report.files, report.bytes) == ("ada", 1, 6, 30)
    assert report.rows == {"jobs": 2, "templates": 1, "template_versions": 1, "api_keys": 1, "assets": 1}
    assert await farm.statuses() == {"bobs": "completed"}
    assert {key for key in (*shared, *own) if storage.exists(key)} == set(shared)
    async with farm.database.work() as session:
        assert await session.scalar(select(func.count()).select_from(Account)) == 1
        (entry,) = await log.page(session, action="delete")
        assert entry.target == f"account {ada}"
    with pytest.raises(NoSuchTarget):
        await delete_account(farm.database, storage, ACTOR, ada)


async def test_a_deletion_that_storage_cut_off_leaves_no_file_once_it_is_repeated(farm: Farm, tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path, Links(b"secret"))
    own = ["frozen/own.json", "media/own.png", "results/a.json", "results/a.mp4"]
    for key in (*own, "media/shared.png"):
        storage.put_bytes(key, b"12345")
    broken = tmp_path / "types" / "frozen" / "own.json"
    broken.unlink()
    broken.mkdir()  # a folder in place of the file: this object can be neither described nor deleted

    done: dict[str, Any] = {"status": JobStatus.completed, "finished_at": utc_now()}
    media = {"http://x/1": "media/shared.png", "http://x/2": "media/own.png"}
    results = {"video_key": "results/a.mp4", "receipt_key": "results/a.json", "document_key": "frozen/own.json"}
    await farm.add("ada", "done", media=media, **results, **done)
    await farm.add("bob", "bobs", video_key="results/b.mp4", media={"http://y": "media/shared.png"}, **done)
    ada = farm.accounts["ada"].id
    charged = ["frozen/own.json", "media/own.png", "media/shared.png", "results/a.mp4"]
    async with farm.database.work() as session:
        session.add_all([ObjectCharge(account_id=ada, key=key, bytes=5) for key in charged])
    with pytest.raises(StorageUnavailable):
        await delete_account(farm.database, storage, ACTOR, ada)
    broken.rmdir()
    report = await delete_account(farm.database, storage, ACTOR, ada)
    assert (report.files, report.bytes) == (4, 20)
    assert [key for key in (*own, "media/shared.png") if storage.exists(key)] == ["media/shared.png"]


async def test_the_audit_log_is_read_in_pages_newest_first(farm: Farm) -> None:
    async with farm.database.work() as session:
        for number in range(5):
            await log.record(session, ACTOR, "test", f"job {number}", {"number": number})
    async with farm.database.work() as session:
        first = await log.page(session, limit=3)
        second = await log.page(session, limit=3, before=first[-1].id)
    assert [entry.target for entry in (*first, *second)] == [f"job {number}" for number in (4, 3, 2, 1, 0)]
