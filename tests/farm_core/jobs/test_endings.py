"""Ends of one or many jobs, on Postgres: each happens once, together with everything that belongs to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import claims, repository
from farm_core.jobs.claims import ClaimedJob, FrozenJob, PlannedJob
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.jobs.models import Job, JobEvent, Task
from farm_core.jobs.plan import TaskKind, plan
from farm_core.jobs.status import JobStatus
from farm_core.jobs.tasks import RenderedSegment, finish_tasks, judge_task
from farm_core.usage import repository as usage
from farm_core.webhooks.models import Delivery
from tests.deadlocks import deadlocks
from tests.farm_core import rows
from tests.farm_core.locks import somebody_waits_for_a_lock
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service


class Jobs:
    """Jobs in processing of two accounts, and functions to read their rows."""

    def __init__(self, database: Database, accounts: Sequence[Account]) -> None:
        self.database = database
        self.accounts = accounts
        self.ids: list[str] = []

    async def end(self, event: str, endings: Sequence[Ending]) -> set[str]:
        async with self.database.connection() as connection:
            return await end_jobs(connection, utc_now(), event, endings)

    async def cancel(self, job_id: str) -> bool:
        async with self.database.work() as session:
            return await repository.cancel(session, job_id)

    async def adopted(self, after_seconds: float = 0) -> list[ClaimedJob]:
        now = utc_now() + timedelta(seconds=after_seconds)
        return await self.database.single(lambda connection: claims.adopt_jobs(connection, now, 9))

    async def plan(self, claimed: ClaimedJob) -> set[str]:
        return await self.database.single(
            lambda connection: claims.plan_jobs(connection, utc_now(), [planned(claimed)])
        )

    async def statuses(self) -> dict[str, str]:
        async with self.database.work() as session:
            return {job.id: job.status for job in await session.scalars(select(Job))}

    async def webhooks(self) -> dict[str, str]:
        async with self.database.work() as session:
            return {delivery.job_id: delivery.body["status"] for delivery in await session.scalars(select(Delivery))}

    async def ends_told(self) -> dict[str, int]:
        async with self.database.work() as session:
            counts = await session.execute(select(col(JobEvent.job_id), func.count()).group_by(col(JobEvent.job_id)))
            return {row[0]: row[1] for row in counts}

    async def minutes(self, account: Account) -> tuple[int, int]:
        async with self.database.work() as session:
            held = await usage.minutes(session, account.id, utc_now())
            return held.rendered_ms, held.reserved_ms


@asynccontextmanager
async def processing(url: str, count: int, **columns: Any) -> AsyncIterator[Jobs]:
    """Create jobs in processing, of both accounts in turn."""
    database = Database(url)
    try:
        async with database.work() as session:
            accounts = [await rows.account(session, name) for name in ("ada", "bob")]
            templates = [await rows.template(session, account) for account in accounts]
            jobs = Jobs(database, accounts)
            for number in range(count):
                values = {"callback_url": "https://example.com/done", "started_at": utc_now(), **columns}
                job = rows.job(templates[number % 2], id=f"job_{number:03}", status=JobStatus.processing, **values)
                session.add(job)
                jobs.ids.append(job.id)
        yield jobs
    finally:
        await database.close()


def planned(claimed: ClaimedJob) -> PlannedJob:
    return PlannedJob(FrozenJob(claimed, "frozen/a.json", {}, 0), None, None, plan(90, 30, 640, 360))


def video(job_id: str, **tokens: Any) -> Ending:
    return Ending(job_id, video_key=f"results/{job_id}.mp4", video_url=f"http://farm.example/{job_id}", **tokens)


async def test_of_concurrent_ends_of_a_job_one_happens(database_url: str) -> None:
    async with processing(database_url, 1) as jobs:
        (job_id,) = jobs.ids
        ends = [jobs.end(*end) for end in (("complete", [video(job_id)]), ("cancel", [Ending(job_id)])) * 4]
        (moved,) = [one for one in await asyncio.gather(*ends) if one]
        assert moved == {job_id}
        status = (await jobs.statuses())[job_id]
        assert await jobs.webhooks() == {job_id: status}
        assert await jobs.ends_told() == {job_id: 1}
        assert await jobs.minutes(jobs.accounts[0]) == ((3000 if status == "completed" else 0), 0)


async def test_minutes_of_renders_add_up_over_the_month(database_url: str) -> None:
    async with processing(database_url, 3) as jobs:
        for job_id in jobs.ids:
            assert await jobs.end("complete", [video(job_id)]) == {job_id}
        assert [await jobs.minutes(account) for account in jobs.accounts] == [(2 * 3000, 0), (3000, 0)]


async def test_jobs_that_complete_together_are_each_published_posted_and_charged_to_their_account(
    database_url: str,
) -> None:
    async with processing(database_url, 7) as jobs:
        assert await jobs.end("complete", [video(job_id) for job_id in jobs.ids]) == set(jobs.ids)
        assert await jobs.webhooks() == dict.fromkeys(jobs.ids, "completed")
        assert await jobs.ends_told() == dict.fromkeys(jobs.ids, 1)
        assert [await jobs.minutes(account) for account in jobs.accounts] == [(4 * 3000, 0), (3 * 3000, 0)]


async def test_a_job_that_was_cancelled_or_lost_its_lease_is_passed_over_and_its_neighbours_complete(
    database_url: str,
) -> None:
    async with processing(database_url, 4, lease_token="mine") as jobs:
        cancelled, stolen, *fine = jobs.ids
        assert await jobs.cancel(cancelled)
        tokens = dict.fromkeys(jobs.ids, "mine") | {stolen: "no longer"}
        endings = [video(job_id, lease_token=tokens[job_id]) for job_id in jobs.ids]
        assert await jobs.end("complete", endings) == set(fine)
        assert await jobs.statuses() == dict.fromkeys(fine, "completed") | {
            cancelled: "cancelled", stolen: "processing",
        }  # fmt: skip
        assert stolen not in await jobs.webhooks()
        assert [await jobs.minutes(account) for account in jobs.accounts] == [(3000, 0), (3000, 3000)]


async def test_an_assembly_whose_lease_is_gone_completes_nothing(database_url: str) -> None:
    async with processing(database_url, 2) as jobs:
        async with jobs.database.work() as session:
            session.add_all(
                Task(
                    id=f"{job_id}.1", job_id=job_id, index=1, kind=TaskKind.assemble, first_frame=0, frame_count=90,
                    status="leased", lease_token=f"lease.{job_id}.1",
                )
                for job_id in jobs.ids
            )  # fmt: skip
        late, fine = jobs.ids
        endings = [video(late, task_token=f"another.{late}.1"), video(fine, task_token=f"lease.{fine}.1")]
        assert await jobs.end("complete", endings) == {fine}
        assert await jobs.end("complete", endings) == set()
        assert await jobs.statuses() == {late: "processing", fine: "completed"}
        async with jobs.database.work() as session:
            tasks = {task.job_id: task.status for task in await session.scalars(select(Task))}
        assert tasks == {late: "leased", fine: "done"}


async def test_batches_that_share_jobs_in_other_orders_end_each_job_once_and_never_wait_in_a_circle(
    database_url: str,
) -> None:
    async with processing(database_url, 40) as jobs:
        forth = [video(job_id) for job_id in jobs.ids]
        back = [Ending(job_id, error="It broke.") for job_id in reversed(jobs.ids)]
        ends = [jobs.end("complete", forth[half::2]) for half in (0, 1)]
        ends += [jobs.end("fail", back), jobs.end("cancel", [Ending(job_id) for job_id in jobs.ids])]
        ended = [job_id for moved in await asyncio.gather(*ends) for job_id in moved]
        assert sorted(ended) == jobs.ids
        assert await jobs.webhooks() == await jobs.statuses()
        completed = [job_id for job_id, status in (await jobs.statuses()).items() if status == "completed"]
        charged = [await jobs.minutes(account) for account in jobs.accounts]
        assert sum(rendered for rendered, _ in charged) == 3000 * len(completed)


async def test_a_job_that_is_cancelled_while_it_is_planned_leaves_no_open_task(database_url: str) -> None:
    async with processing(database_url, 1, lease_token="gone", lease_expires_at=utc_now()) as jobs:
        (job_id,) = jobs.ids
        async with jobs.database.connection() as planning:
            (claimed,) = await claims.adopt_jobs(planning, utc_now(), 1)
            await claims.plan_jobs(planning, utc_now(), [planned(claimed)])
            cancelling = asyncio.create_task(jobs.cancel(job_id))
            await somebody_waits_for_a_lock(jobs.database)
        assert await cancelling
        async with jobs.database.work() as session:
            assert {task.status for task in await session.scalars(select(Task))} == {"withdrawn"}


async def test_a_job_that_is_planned_while_it_is_cancelled_gets_no_task(database_url: str) -> None:
    async with processing(database_url, 1, lease_token="gone", lease_expires_at=utc_now()) as jobs:
        (claimed,) = await jobs.adopted()
        async with jobs.database.work() as cancelling:
            assert await repository.cancel(cancelling, claimed.id)
            planning = asyncio.create_task(jobs.plan(claimed))
            await somebody_waits_for_a_lock(jobs.database)
        assert await planning == set()
        assert await jobs.statuses() == {claimed.id: "cancelled"}
        async with jobs.database.work() as session:
            assert list(await session.scalars(select(Task))) == []


async def test_a_job_is_planned_by_the_scheduler_that_adopted_it_last(database_url: str) -> None:
    async with processing(database_url, 1, lease_token="gone", lease_expires_at=utc_now()) as jobs:
        (former,) = await jobs.adopted()
        (latter,) = await jobs.adopted(after_seconds=60)
        assert await jobs.plan(former) == set()
        assert await jobs.plan(latter) == {latter.id}
        assert await jobs.plan(latter) == set(), "the plan gave the lease back"


@pytest.mark.parametrize("ending", ["cancel", "fail"])
async def test_a_job_that_ends_while_its_segment_is_recorded_meets_no_deadlock(database_url: str, ending: str) -> None:
    """Both transactions change counts of the account at their ends. Here they wait for a third one that does the
    same."""
    async with processing(database_url, 1) as jobs:
        job_id, database = jobs.ids[0], jobs.database
        await lease_two_segments(database, job_id)
        done = RenderedSegment(f"lease.{job_id}.0", "segments/0.mp4", 1, "w", {"cached": False})
        broken = Failure(FailureKind.document, "The document cannot be drawn.", "w")

        async def end() -> None:
            async with database.work() as session:
                if ending == "cancel":
                    await repository.cancel(session, job_id)
                elif await judge_task(session, utc_now(), f"lease.{job_id}.1", broken) is not None:
                    await end_jobs(session, utc_now(), "fail", [Ending(job_id, error="It failed.")])

        async with database.work() as somebody:
            await somebody.execute(text("SELECT 1 FROM account_queues FOR UPDATE"))
            ended = asyncio.create_task(end())
            await somebody_waits_for_a_lock(database)
            recorded = asyncio.create_task(database.single(lambda c: finish_tasks(c, utc_now(), [done])))
            await somebody_waits_for_a_lock(database, 2)
        await asyncio.wait_for(asyncio.gather(ended, recorded), HANG_SECONDS)
        assert deadlocks(database_url) == 0
        assert (await jobs.statuses())[job_id] == ("cancelled" if ending == "cancel" else "failed")


async def test_a_segment_is_done_once_and_reports_of_a_former_lease_do_not_count(database_url: str) -> None:
    async with processing(database_url, 1) as jobs:
        (job_id,), database = jobs.ids, jobs.database
        await lease_two_segments(database, job_id)

        async def finish(lease: str) -> set[str]:
            done = RenderedSegment(f"{lease}.{job_id}.0", "segments/0.mp4", 1, "w", {"cached": False})
            return await database.single(lambda connection: finish_tasks(connection, utc_now(), [done]))

        async with database.work() as session:
            broken = Failure(FailureKind.document, "The document cannot be drawn.", "w")
            assert await judge_task(session, utc_now(), f"former.{job_id}.0", broken) is None
        assert await finish("former") == set()
        assert await finish("lease") == {f"lease.{job_id}.0"}
        assert await finish("lease") == set()
        async with database.work() as session:
            assert {task.index: task.status for task in await session.scalars(select(Task))} == {0: "done", 1: "leased"}


@pytest.mark.parametrize(
    ("done", "percent", "progress"), [(0, None, 30), (1, None, 50), (1, 42.0, 50), (1, 60.0, 60), (2, None, 99)]
)
async def test_a_cancelled_job_keeps_the_most_progress_that_anybody_knows(
    database_url: str, done: int, percent: float | None, progress: float
) -> None:
    """The stored one, the live one, or the share of its finished segments."""
    async with processing(database_url, 1, progress=30.0) as jobs:
        (job_id,), database = jobs.ids, jobs.database
        await lease_two_segments(database, job_id)
        for number in range(done):
            one = RenderedSegment(f"lease.{job_id}.{number}", f"segments/{number}.mp4", 1, "w", {"cached": False})
            await database.single(partial(finish_tasks, now=utc_now(), segments=[one]))
        async with database.work() as session:
            assert await repository.cancel(session, job_id, percent)
            assert (await session.get_one(Job, job_id, populate_existing=True)).progress == progress


async def lease_two_segments(database: Database, job_id: str) -> None:
    """Give the job two leased segments, with the tokens `lease.JOB.0` and `lease.JOB.1`."""
    statement = """
        INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at, lease_token, lease_expires_at)
        SELECT :job_id || '.' || n, :job_id, n, 'render', 45 * n, 45, 'leased', 1, now(), 'lease.' || :job_id || '.' || n, now() + interval '1 minute'
        FROM generate_series(0, 1) AS n
    """
    async with database.work() as session:
        await session.execute(text(statement), {"job_id": job_id})
