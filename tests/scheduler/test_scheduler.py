"""The scheduler from outside: results of jobs for all kinds of worker behaviour."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from pathlib import Path

import orjson
import psycopg
import pytest
from structlog.testing import capture_logs

from farm_core.audit.log import Actor, Role
from farm_core.controls import workers as worker_controls
from farm_core.controls.workers import WorkerTarget
from farm_core.db.columns import utc_now
from farm_core.jobs import repository
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.storage.s3 import S3Storage
from farm_core.usage import repository as usage
from scheduler import scheduler
from scheduler.ports import Ended, Finished, SegmentAssignment, TaskAssignment
from tests.patience import HANG_SECONDS
from tests.s3_server import ACCESS, BUCKET, S3Server
from tests.scheduler.farm import Gate, farm
from tests.scheduler.test_preparation import FAULTS

pytestmark = pytest.mark.service
ACTOR = Actor("olga", Role.operator)


async def test_a_job_is_cut_rendered_joined_and_completed_with_a_receipt(database_url: str, tmp_path: Path) -> None:
    async with farm(database_url, tmp_path) as under_test:
        job = await under_test.ended(await under_test.create(seconds=3))
        assert (job.status, job.progress, job.error) == ("completed", 100, None)
        assert job.render_duration_ms is not None
        assert [task.status for task in await under_test.tasks(job.id)] == ["done"] * 4
        assert under_test.storage.get_bytes(str(job.video_key)) == b"segment" * 3
        proof = orjson.loads(under_test.storage.get_bytes(str(job.receipt_key)))
        assert (proof["jobId"], [part["frames"] for part in proof["segments"]]) == (job.id, [30, 30, 30])
        assert await under_test.events(job.id) == ["create", "claim", "plan", "complete"]


async def test_an_equal_job_is_completed_with_the_same_video_and_no_work(database_url: str, tmp_path: Path) -> None:
    async with farm(database_url, tmp_path) as under_test:
        first = await under_test.ended(await under_test.create())
        assignments = sum(len(work.done) for work in under_test.works)
        second = await under_test.ended(await under_test.create())
        assert (second.status, second.video_key) == ("completed", first.video_key)
        assert sum(len(work.done) for work in under_test.works) == assignments
        await under_test.ended(await under_test.create(account_id="acc_b"))
        assert sum(len(work.done) for work in under_test.works) > assignments, "nothing of another account is reused"


async def test_a_video_that_storage_has_cut_off_is_rendered_again_for_an_equal_job(
    database_url: str, tmp_path: Path
) -> None:
    async with farm(database_url, tmp_path) as under_test:
        first = await under_test.ended(await under_test.create())
        whole = under_test.storage.get_bytes(str(first.video_key))
        under_test.storage.put_bytes(str(first.video_key), whole[:-1])
        second = await under_test.ended(await under_test.create())
        assert (second.status, second.video_key) == ("completed", first.video_key)
        assert under_test.storage.get_bytes(str(second.video_key)) == whole


async def test_a_document_that_cannot_be_rendered_fails_its_job_at_once(database_url: str, tmp_path: Path) -> None:
    def broken(assignment: TaskAssignment) -> Ended:
        return Ended(assignment.token, Failure(FailureKind.document, "Layer Logo cannot be decoded.", "w0"))

    async with farm(database_url, tmp_path, broken) as under_test:
        job = await under_test.ended(await under_test.create())
        assert (job.status, job.error, job.video_key) == ("failed", "Layer Logo cannot be decoded.", None)
        assert {task.status for task in await under_test.tasks(job.id)} == {"failed", "withdrawn"}


async def test_a_poison_document_fails_after_three_attempts_and_the_farm_goes_on(
    database_url: str, tmp_path: Path
) -> None:
    poisoned: list[str] = []

    def behave(assignment: TaskAssignment) -> Ended | None:
        if assignment.job_id in poisoned:
            return Ended(assignment.token, Failure(FailureKind.crash, "SIGSEGV in /usr/lib", None))
        return None

    poisoned.append("job_bad")

    async with farm(database_url, tmp_path, behave) as under_test:
        bad = await under_test.create(seconds=1, width=640, id="job_bad")
        good = await under_test.create(seconds=1)
        failed, completed = await under_test.ended(bad), await under_test.ended(good)
        assert (failed.status, failed.error) == ("failed", "The render failed repeatedly.")
        assert (await under_test.tasks(bad))[0].attempt == 3
        assert completed.status == "completed"


async def test_a_job_cancelled_while_it_renders_stays_cancelled_and_its_result_is_discarded(
    database_url: str, tmp_path: Path
) -> None:
    gate = Gate()

    async with farm(database_url, tmp_path, gate) as under_test:
        job_id = await under_test.create(seconds=1)
        await gate.reached()
        async with under_test.database.work() as session:
            assert await repository.cancel(session, job_id)
        gate.open()
        job = await under_test.ended(job_id)
        await under_test.ended(await under_test.create(seconds=1, width=640))
        assert (await under_test.job(job_id)).status == job.status == "cancelled"
        assert {task.status for task in await under_test.tasks(job_id)} == {"withdrawn"}


async def test_segments_that_were_lost_from_storage_are_rendered_again(database_url: str, tmp_path: Path) -> None:
    lost: list[str] = []

    def behave(assignment: TaskAssignment) -> Ended | None:
        if isinstance(assignment, SegmentAssignment) or lost:
            return None
        lost.append(assignment.segment_keys[1])
        return Ended(
            assignment.token, Failure(FailureKind.lost, "A segment was lost.", "w0"), (assignment.segment_keys[1],)
        )

    async with farm(database_url, tmp_path, behave) as under_test:
        job = await under_test.ended(await under_test.create(seconds=3))
        assert job.status == "completed"
        assert [task.attempt for task in await under_test.tasks(job.id)] == [1, 2, 1, 2]
        assert "lose segments" in await under_test.events(job.id)


async def test_tasks_of_a_stopping_scheduler_wait_again_at_once_and_the_history_records_it(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "DRAIN_SECONDS", 0.0)
    begun = threading.Event()

    def slow(_assignment: TaskAssignment) -> bool:
        begun.set()
        return True

    async with farm(database_url, tmp_path, workers=1, held_up=slow) as first:
        job_id = await first.create(seconds=1)
        assert await asyncio.to_thread(begun.wait, HANG_SECONDS)
    (segment, *_) = await first.tasks(job_id)
    assert (segment.status, segment.lease_token, segment.worker, segment.failures) == ("pending", None, None, 0)
    assert (await first.job(job_id)).status == "processing"
    assert (await first.events(job_id))[-1] == "hand back task"
    await first.database.close()


def test_a_job_waits_for_storage_that_is_away_and_loses_no_attempt(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        server = S3Server(tmp_path / "s3")
        server.start()
        storage = S3Storage(BUCKET, server.url, "us-east-1", ACCESS)
        async with farm(database_url, tmp_path, storage=storage) as under_test:
            server.kill()
            job_id = await under_test.create(seconds=1)
            holders = set[str | None]()
            async with asyncio.timeout(HANG_SECONDS):
                while len(holders) < 4:
                    holders.add((await under_test.job(job_id)).lease_token)
                    await asyncio.sleep(0.05)
            assert (await under_test.job(job_id)).attempt <= 1
            server.start()
            assert (await under_test.ended(job_id)).status == "completed"
            assert await under_test.events(job_id) == ["create", "claim", "adopt", "plan", "complete"]
        server.kill()

    with capture_logs() as lines:
        asyncio.run(story())
    assert [line["event"] for line in lines].count("storage does not answer") == 1, "three tries, a line a minute"


async def test_a_result_that_postgres_cannot_take_is_kept_and_no_segment_is_drawn_twice(
    database_url: str, tmp_path: Path
) -> None:
    async with farm(database_url, tmp_path) as under_test:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(FAULTS.format(times=2, states="53100").replace("ON tasks", "ON segments"))
        job = await under_test.ended(await under_test.create(seconds=1))
        assert [(task.status, task.attempt) for task in await under_test.tasks(job.id)] == [("done", 1)] * 2
        assert [type(one) for work in under_test.works for one in work.done].count(SegmentAssignment) == 1


def test_a_segment_that_finds_storage_away_again_and_again_is_one_event(database_url: str, tmp_path: Path) -> None:
    kinds = iter((FailureKind.store, FailureKind.store, FailureKind.crash, FailureKind.store))
    messages = {FailureKind.store: "Storage could not be reached.", FailureKind.crash: "The worker died."}

    def behave(assignment: TaskAssignment) -> Ended | None:
        kind = next(kinds, None)
        return None if kind is None else Ended(assignment.token, Failure(kind, messages[kind], "w0"))

    async def story() -> None:
        async with farm(database_url, tmp_path, behave=behave) as under_test:
            job = await under_test.ended(await under_test.create(seconds=1))
            assert job.status == "completed"
            assert await under_test.events(job.id) == ["create", "claim", "plan", *["retry task"] * 3, "complete"]

    with capture_logs() as lines:
        asyncio.run(story())
    failed = [line["kind"] for line in lines if line["event"] == "attempt failed"]
    assert failed == ["store", "crash"], "a minute has one line about storage"


async def test_many_jobs_at_once_are_each_settled_once_and_the_account_is_charged_for_all(
    database_url: str, tmp_path: Path
) -> None:
    async with farm(database_url, tmp_path, workers=4) as under_test:
        ids = [await under_test.create(seconds=1, width=64 + 2 * number) for number in range(40)]
        assert {(await under_test.ended(job_id)).status for job_id in ids} == {"completed"}
        assert {tuple(await under_test.events(job_id)) for job_id in ids} == {("create", "claim", "plan", "complete")}
        async with under_test.database.work() as session:
            minutes = await usage.minutes(session, "acc_a", utc_now())
            assert (minutes.rendered_ms, minutes.reserved_ms) == (40 * 1000, 0)


async def test_workers_that_a_poison_document_has_killed_are_not_held_responsible(
    database_url: str, tmp_path: Path
) -> None:
    async with farm(database_url, tmp_path) as under_test:
        for work in under_test.works:
            work.behave = partial(_dies, work.worker_id)
        for width in (640, 800, 960):
            assert (await under_test.ended(await under_test.create(seconds=1, width=width))).status == "failed"
        assert all(failures <= 1 and until is None for failures, until in await under_test.workers())


def _dies(worker_id: str, assignment: TaskAssignment) -> Ended:
    return Ended(assignment.token, Failure(FailureKind.crash, "The worker died.", worker_id))


async def test_a_result_that_cannot_be_written_does_not_hold_up_its_neighbours(
    database_url: str, tmp_path: Path
) -> None:
    def behave(assignment: TaskAssignment) -> Finished | None:
        if assignment.job_id != "job_bad":
            return None
        return Finished(assignment.token, "w0", "segments/bad.mp4", "\x00", 7, 0.01)

    async with farm(database_url, tmp_path, behave, workers=4) as under_test:
        await under_test.create(seconds=1, width=640, id="job_bad")
        ids = [await under_test.create(seconds=1, width=64 + 2 * number) for number in range(10)]
        assert {(await under_test.ended(job_id)).status for job_id in ids} == {"completed"}
        assert (await under_test.job("job_bad")).status == "processing"


async def test_a_drained_worker_finishes_what_it_holds_and_gets_nothing_new(database_url: str, tmp_path: Path) -> None:
    gate = Gate()

    async with farm(database_url, tmp_path, gate, workers=1) as under_test:
        first = await under_test.create(seconds=1, id="job_first")
        await gate.reached()
        async with under_test.database.work() as session:
            await worker_controls.drain(session, ACTOR, WorkerTarget(worker="w0"))
        gate.open()
        while [task.status for task in await under_test.tasks(first)][:1] != ["done"]:  # noqa: ASYNC110 - in the database
            await asyncio.sleep(0.02)
        waiting = await under_test.create(seconds=1, width=640, id="job_second")
        for _ in range(3):
            under_test.scheduler.dispatcher.ticked.clear()
            under_test.scheduler.dispatcher.wake()
            await under_test.scheduler.dispatcher.ticked.wait()
        assert {task.status for task in await under_test.tasks(waiting)} <= {"pending"}
        async with under_test.database.work() as session:
            await worker_controls.resume(session, ACTOR, WorkerTarget(worker="w0"))
        assert (await under_test.ended(first)).status == "completed"
        assert (await under_test.ended(waiting)).status == "completed"
