"""Jobs that block or kill workers: other accounts get their workers back, and the account gets one worker at a time."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from farm_core.db.columns import utc_now
from farm_core.jobs import repository
from farm_core.jobs import workers as worker_records
from farm_core.jobs.judge import Failure, FailureKind
from scheduler import breaker
from scheduler.isolation import rules
from scheduler.placement import AccountLoad
from scheduler.ports import Ended, SegmentAssignment, TaskAssignment
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import FarmUnderTest, Gate, farm
from tests.scheduler.inline_executor import InlineExecutor
from tests.scheduler.test_placement import job

pytestmark = pytest.mark.service


async def cancel(under_test: FarmUnderTest, job_id: str) -> None:
    async with under_test.database.work() as session:
        assert await repository.cancel(session, job_id)


@pytest.fixture
def restarted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the workers that the scheduler has killed."""
    monkeypatch.setattr(rules, "WITHDRAWN_SECONDS", 0.05)
    names: list[str] = []
    monkeypatch.setattr(InlineExecutor, "restart", lambda self, worker_id: names.append(worker_id))
    return names


async def test_a_worker_that_a_cancelled_job_holds_is_restarted_for_those_who_wait(
    database_url: str, tmp_path: Path, restarted: list[str]
) -> None:
    gate = Gate()

    def hang(assignment: TaskAssignment) -> None:
        if assignment.job_id == "job_poison":
            gate(assignment)

    async with farm(database_url, tmp_path, hang, workers=1) as under_test:
        await under_test.create(seconds=1, id="job_poison")
        await gate.reached()
        honest = await under_test.create(seconds=1, account_id="acc_b", width=640)
        await cancel(under_test, "job_poison")
        async with asyncio.timeout(HANG_SECONDS):
            while not restarted:  # noqa: ASYNC110 - the executor is told on this loop
                await asyncio.sleep(0.01)
        gate.open()
        assert (await under_test.ended(honest)).status == "completed"
        assert restarted == ["w0"]
        assert "restart worker" in await under_test.events("job_poison")


async def test_a_worker_that_a_cancelled_job_holds_is_left_alone_while_nobody_waits(
    database_url: str, tmp_path: Path, restarted: list[str]
) -> None:
    gate = Gate()

    async with farm(database_url, tmp_path, gate, workers=1) as under_test:
        job_id = await under_test.create(seconds=1)
        await gate.reached()
        await cancel(under_test, job_id)
        watcher = under_test.scheduler.task_watcher
        for _ in range(3):
            watcher.ticked.clear()
            watcher.wake()
            await watcher.ticked.wait()
        gate.open()
        assert restarted == []


async def test_an_account_whose_jobs_kill_workers_gets_one_at_a_time(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker.CircuitBreaker, "every_seconds", 0.02)
    monkeypatch.setattr(worker_records, "STRIKES_MAX", 3)
    held, most, lock = 0, 0, threading.Lock()

    def deadly(assignment: TaskAssignment) -> Ended | None:
        nonlocal held, most
        if assignment.job_id == "job_poison":
            return Ended(assignment.token, Failure(FailureKind.crash, "The worker died.", None))
        return None

    def counted(assignment: TaskAssignment) -> bool:
        nonlocal held, most
        if isinstance(assignment, SegmentAssignment) and assignment.account_id == "acc_a":
            with lock:
                seen.setdefault(assignment.token, 0)
                seen[assignment.token] += 1
                held = sum(1 for count in seen.values() if 0 < count < 5)
                most = max(most, held)
            return seen[assignment.token] < 5
        return False

    seen: dict[str, int] = {}

    async with farm(database_url, tmp_path, deadly, workers=4, held_up=counted) as under_test:
        await under_test.ended(await under_test.create(seconds=1, id="job_poison", width=640))
        isolation = under_test.scheduler.isolation
        async with asyncio.timeout(HANG_SECONDS):
            while "acc_a" not in isolation.evidence.restricted:  # noqa: ASYNC110 - the breaker reads it from the database
                await asyncio.sleep(0.01)
        slow = await under_test.ended(await under_test.create(seconds=6))
        assert (slow.status, most) == ("completed", 1)
        free = await under_test.ended(await under_test.create(seconds=3, account_id="acc_b", width=320))
        assert free.status == "completed"


@pytest.mark.parametrize(("kind", "widths"), [(FailureKind.document, (640, 320)), (FailureKind.space, (640,))])
async def test_an_account_whose_jobs_take_too_much_memory_gets_one_worker_at_a_time(
    kind: FailureKind, widths: tuple[int, ...], database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that shared its worker with others is tried three times, which restarts as many workers."""
    monkeypatch.setattr(breaker.CircuitBreaker, "every_seconds", 0.02)
    monkeypatch.setattr(worker_records, "STRIKES_MAX", 2)
    exceeded = Failure(kind, "The render needs more than 4,000 MB of memory.", "w0")

    def large(assignment: TaskAssignment) -> Ended | None:
        return Ended(assignment.token, exceeded, worker_ends=True) if assignment.account_id == "acc_a" else None

    async with farm(database_url, tmp_path, large, workers=2) as under_test:
        isolation = under_test.scheduler.isolation
        for width in widths:
            assert "acc_a" not in isolation.evidence.restricted
            failed = await under_test.ended(await under_test.create(seconds=1, width=width))
            assert (failed.status, failed.error) == ("failed", exceeded.public_message)
        async with asyncio.timeout(HANG_SECONDS):
            while "acc_a" not in isolation.evidence.restricted:  # noqa: ASYNC110 - the breaker reads it from the database
                await asyncio.sleep(0.01)
        assert "acc_b" not in isolation.evidence.restricted


def test_a_restricted_account_rests_then_has_one_task_and_the_others_all() -> None:
    now = utc_now()
    restricted = {"a": worker_records.Strikes(5, now)}
    found = rules.admitted(restricted, now, [job("one", "a"), job("other", "b")], {})
    assert [one.id for one in found] == ["other"]
    assert rules.resting(restricted, now) == ["a"]
    later = now + rules.REST
    found = rules.admitted(restricted, later, [job("one", "a"), job("two", "a"), job("other", "b")], {})
    assert [(one.id, len(one.heads)) for one in found] == [("one", 1), ("other", 3)]
    found = rules.admitted(restricted, later, [job("one", "a"), job("other", "b")], {"a": AccountLoad(30)})
    assert [one.id for one in found] == ["other"]
    assert rules.resting(restricted, later) == []
