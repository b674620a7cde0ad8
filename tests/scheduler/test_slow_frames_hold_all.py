"""If an account's slow frames hold every worker, a waiting account gets one of them, and keeps one from then on."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest
from sqlalchemy import text

from cluster.worker.render_thread import RenderThread
from farm_core.accounts.models import Account
from farm_core.jobs.judge import Failure, FailureKind
from scheduler import breaker, task_watcher
from scheduler.isolation import rules
from scheduler.ports import SegmentAssignment, TaskAssignment, WorkerState
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import FarmUnderTest, farm
from tests.scheduler.inline_executor import InlineExecutor

pytestmark = pytest.mark.service


class SlowAccount:
    """Frames of these accounts last until their worker is restarted or `release` is called. As a context, it releases them at its end,
    so that a farm whose test failed can stop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *accounts: str) -> None:
        self._accounts = accounts or ("acc_a",)
        self.restarted: list[tuple[str, bool]] = []
        self.begun = threading.Semaphore(0)
        self._frames: defaultdict[str, list[threading.Event]] = defaultdict(list)
        self._ending: dict[str, list[str]] = {}
        """Tokens of the assignments that each worker held when it was restarted last."""
        self._released = False
        monkeypatch.setattr(rules, "SLOW_SECONDS", 0.1)
        monkeypatch.setattr(rules, "BLOCKING_SECONDS", 0.05)
        monkeypatch.setattr(breaker.CircuitBreaker, "every_seconds", 0.02)
        monkeypatch.setattr(rules, "STRAGGLER_LEAST_SECONDS", HANG_SECONDS)
        monkeypatch.setattr(task_watcher, "POLL_SECONDS", 0.02)
        monkeypatch.setattr(task_watcher.RunningTaskWatcher, "every_seconds", 0.02)

        def restart(executor: InlineExecutor, worker_id: str, *, is_blameless: bool = False) -> None:
            self._restart(executor._threads[worker_id], worker_id, is_blameless)

        answering = InlineExecutor.workers

        def workers(executor: InlineExecutor) -> Sequence[WorkerState]:
            """Leave out workers that restart, as Ray's executor does. Let only frames of this account count as slow, however busy the
            machine is."""
            states = [
                state for state in answering(executor) if not self._restarts(executor._threads.get(state.id), state.id)
            ]
            return [
                state if state.active in self._frames else replace(state, progressed_at=math.inf) for state in states
            ]

        monkeypatch.setattr(InlineExecutor, "restart", restart)
        monkeypatch.setattr(InlineExecutor, "workers", workers)

    def __call__(self, assignment: TaskAssignment) -> None:
        if isinstance(assignment, SegmentAssignment) and assignment.account_id in self._accounts and not self._released:
            frame = threading.Event()
            self._frames[assignment.token].append(frame)
            self.begun.release()
            assert frame.wait(HANG_SECONDS), "nobody ended the frame"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()

    async def holds(self, workers: int) -> None:
        for _ in range(workers):
            assert await asyncio.to_thread(self.begun.acquire, True, HANG_SECONDS), "no frame began"

    def release(self) -> None:
        self._released = True
        for frames in list(self._frames.values()):
            for frame in frames:
                frame.set()

    def _restart(self, thread: RenderThread[Any], worker_id: str, is_blameless: bool) -> None:
        """Do what a restart does: the worker's tasks end as lost, and it can draw again."""
        self.restarted.append((worker_id, is_blameless))
        token = str(thread.active)
        entries = list(thread._entries.values())
        self._ending[worker_id] = [entry.assignment.token for entry in entries]
        for entry in entries:
            entry.is_cancelled = True
        thread.fail_active(Failure(FailureKind.lost, "The worker is gone.", worker_id))
        for frame in self._frames.get(token, [])[-1:]:  # none if the worker has gone on to a frame of another account
            frame.set()

    def _restarts(self, thread: RenderThread[Any] | None, worker_id: str) -> bool:
        """Return True while the worker holds assignments from before its restart."""
        return thread is not None and any(token in thread._entries for token in self._ending.get(worker_id, ()))


async def honest(under_test: FarmUnderTest, width: int) -> str:
    """Render a job of the other account; return its status. Each width gives another video."""
    job = await under_test.ended(await under_test.create(seconds=1, account_id="acc_b", width=width))
    return str(job.status)


async def rounds(under_test: FarmUnderTest) -> None:
    """Wait for twenty rounds of the watcher."""
    watcher = under_test.scheduler.task_watcher
    for _ in range(20):
        watcher.ticked.clear()
        await watcher.ticked.wait()


async def test_frames_that_hold_every_worker_cost_one_of_them_its_process_and_others_keep_it(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowAccount(monkeypatch)

    async with farm(database_url, tmp_path, slow, workers=3) as under_test, slow:
        hostile = await under_test.create(seconds=9)
        await slow.holds(3)
        assert await honest(under_test, 640) == "completed"
        assert [is_blameless for _, is_blameless in slow.restarted] == [True]
        for width in (320, 160, 80):
            assert await honest(under_test, width) == "completed"
        assert len(slow.restarted) == 1, "one worker is left for the others"
        slow.release()
        assert (await under_test.ended(hostile)).status == "completed"
        assert "restart worker" in await under_test.events(hostile)
        assert {task.failures for task in await under_test.tasks(hostile)} == {0}, "nobody is to blame"


async def test_accounts_with_slow_frames_together_leave_one_worker_to_others(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them kept a worker, so that title cards of others waited behind two of them for ever."""
    accounts = ["acc_a", "acc_c", "acc_d", "acc_e", "acc_f"]
    slow = SlowAccount(monkeypatch, *accounts)

    async with farm(database_url, tmp_path, slow, workers=2) as under_test, slow:
        async with under_test.database.work() as session:
            session.add_all([Account(id=one, name=one) for one in accounts[1:]])
        hostile = [await under_test.create(seconds=9, account_id=one, width=648) for one in accounts]
        await slow.holds(2)
        for width in (640, 320, 160, 80):
            assert await honest(under_test, width) == "completed"
        assert len(slow.restarted) <= 2 * len(accounts), (
            "a limited account costs one more if its task was on its way to the freed worker"
        )
        slow.release()
        assert {(await under_test.ended(job)).status for job in hostile} == {"completed"}


async def test_jobs_that_arrive_together_are_not_placed_behind_slow_frames_while_a_worker_can_take_them(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowAccount(monkeypatch)

    async with farm(database_url, tmp_path, slow, workers=3) as under_test, slow:
        hostile = await under_test.create(seconds=3)
        await slow.holds(3)
        assert await honest(under_test, 640) == "completed"
        jobs = [await under_test.create(seconds=9, account_id="acc_b", width=width) for width in (100, 102, 104)]
        for job in jobs:
            assert (await under_test.ended(job)).status == "completed"
            assert "hand back task" not in await under_test.events(job), "nothing waited behind a slow frame"
        slow.release()
        assert (await under_test.ended(hostile)).status == "completed"


async def test_segments_behind_slow_frames_move_to_a_worker_that_is_busy_but_draws(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, may_end = SlowAccount(monkeypatch), threading.Event()

    def held_up(assignment: TaskAssignment) -> bool:
        return assignment.account_id == "acc_b" and not may_end.is_set()

    async with farm(database_url, tmp_path, slow, workers=3, held_up=held_up) as under_test, slow:
        with monkeypatch.context() as before:  # no frame has been slow yet
            before.setattr(rules, "BLOCKING_SECONDS", HANG_SECONDS)
            before.setattr(rules, "SLOW_SECONDS", HANG_SECONDS)
            hostile = await under_test.create(seconds=3)
            await slow.holds(3)
            waiting = await under_test.create(seconds=9, account_id="acc_b", width=640)
            running = under_test.scheduler.task_watcher.running_tasks
            async with asyncio.timeout(HANG_SECONDS):
                while len({task.worker_id for task in running if task.assignment.account_id == "acc_b"}) < 3:  # noqa: ASYNC110 - tasks announce nothing
                    await asyncio.sleep(0.02)
        async with asyncio.timeout(HANG_SECONDS):
            while (await under_test.events(waiting)).count("hand back task") < 2:  # noqa: ASYNC110 - it is in the database
                await asyncio.sleep(0.02)
        may_end.set()
        assert (await under_test.ended(waiting)).status == "completed"
        slow.release()
        assert (await under_test.ended(hostile)).status == "completed"


async def test_a_limited_account_leaves_the_only_worker_to_others_while_the_rest_restart(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowAccount(monkeypatch)

    async with farm(database_url, tmp_path, slow, workers=2) as under_test, slow:
        hostile = await under_test.create(seconds=2)
        await slow.holds(2)
        assert await honest(under_test, 640) == "completed"
        executor = under_test.dependencies.executor
        assert isinstance(executor, InlineExecutor)
        every_worker = executor.workers
        monkeypatch.setattr(executor, "workers", lambda: every_worker()[:1])
        under_test.scheduler.dispatcher.ticked.clear()
        await under_test.scheduler.dispatcher.ticked.wait()  # a round that knows both workers has ended
        slow._restart(executor._threads["w1"], "w1", True)
        for width in (320, 160):
            assert await honest(under_test, width) == "completed"
        assert not slow.begun.acquire(blocking=False), "the account had no worker"
        monkeypatch.setattr(executor, "workers", every_worker)
        await slow.holds(1)
        slow.release()
        assert (await under_test.ended(hostile)).status == "completed"


async def test_a_limited_account_gets_the_only_worker_if_the_rest_are_drained(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waited for ten minutes beside an idle worker."""
    slow = SlowAccount(monkeypatch)

    async with farm(database_url, tmp_path, slow, workers=2) as under_test, slow:
        hostile = await under_test.create(seconds=9)
        await slow.holds(2)
        assert await honest(under_test, 640) == "completed"
        ((freed, _),) = slow.restarted
        async with under_test.database.work() as session:
            drained = text("UPDATE workers SET drained_at = now() WHERE id <> :freed")
            await session.execute(drained, {"freed": freed})
        await slow.holds(1)
        slow.release()
        assert (await under_test.ended(hostile)).status == "completed"


@pytest.mark.parametrize(("workers", "waiting"), [(1, "acc_b"), (3, "acc_a"), (3, None)])
async def test_a_slow_frame_keeps_its_worker_if_it_is_the_only_one_or_no_other_account_waits(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, waiting: str | None
) -> None:
    slow = SlowAccount(monkeypatch)

    async with farm(database_url, tmp_path, slow, workers=workers) as under_test, slow:
        jobs = [await under_test.create(seconds=9)]
        await slow.holds(workers)
        if waiting is not None:
            jobs.append(await under_test.create(seconds=1, account_id=waiting, width=640))
        await rounds(under_test)
        assert slow.restarted == []
        slow.release()
        assert {(await under_test.ended(job)).status for job in jobs} == {"completed"}


async def test_frames_that_end_soon_cost_one_worker_its_process_once_too(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames of 8 s on two workers made every title card of others wait for 16 s, without end."""
    restarted, released, slow_tokens = list[str](), threading.Event(), set[str]()
    answering = InlineExecutor.workers
    monkeypatch.setattr(rules, "SLOW_SECONDS", 0.8)
    monkeypatch.setattr(rules, "BLOCKING_SECONDS", 0.3)
    monkeypatch.setattr(breaker.CircuitBreaker, "every_seconds", 0.05)
    monkeypatch.setattr(task_watcher, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(task_watcher.RunningTaskWatcher, "every_seconds", 0.05)
    monkeypatch.setattr(rules, "STRAGGLER_LEAST_SECONDS", HANG_SECONDS)

    def restart(executor: InlineExecutor, worker_id: str, *, is_blameless: bool = False) -> None:
        restarted.append(worker_id)
        thread = executor._threads[worker_id]
        for entry in list(thread._entries.values()):
            entry.is_cancelled = True
        thread.fail_active(Failure(FailureKind.lost, "The worker is gone.", worker_id))

    def workers(executor: InlineExecutor) -> Sequence[WorkerState]:
        """Let only frames of this account count as slow, however busy the machine is."""
        return [
            state if state.active in slow_tokens else replace(state, progressed_at=math.inf)
            for state in answering(executor)
        ]

    monkeypatch.setattr(InlineExecutor, "restart", restart)
    monkeypatch.setattr(InlineExecutor, "workers", workers)

    def slow(assignment: TaskAssignment) -> bool:
        is_hostile = isinstance(assignment, SegmentAssignment) and assignment.account_id == "acc_a"
        if is_hostile:
            slow_tokens.add(assignment.token)
        return is_hostile and not released.wait(1.3)

    async with farm(database_url, tmp_path, held_up=slow, workers=2) as under_test:
        hostile = await under_test.create(seconds=9)
        for width in range(640, 320, -16):
            assert await honest(under_test, width) == "completed"
            if restarted:
                break
        assert len(restarted) == 1
        released.set()
        assert (await under_test.ended(hostile)).status == "completed"
