"""The worker that suspects leave to others, and workers that a slow frame keeps."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from farm_core.clock import SystemClock
from scheduler.ports import SegmentAssignment, VideoFormat, WorkerState
from scheduler.running_tasks import RunningTask, RunningTasks
from scheduler.slow_frames import LIMIT_SECONDS, START_SECONDS, SlowFrames


class Clock(SystemClock):
    """The machine's clock, which a test can advance."""

    ahead_seconds = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead_seconds


def worker(name: str, renderer: str = "r", active: str | None = None) -> WorkerState:
    return WorkerState(name, "node", renderer, "device", "encoder", active=active)


def running(account: str, worker_id: str, *, is_confined: bool = False) -> RunningTask:
    """A task without progress for longer than any patience."""
    video_format = VideoFormat(640, 360, 30, 30, None, 1)
    assignment = SegmentAssignment(account, account, account, "frozen/a.json", {}, video_format, 0, 30, account)
    began = time.monotonic() - 60
    return RunningTask(assignment, account, worker_id, began, began, is_confined=is_confined)


def slow_frames_of(*tasks: RunningTask) -> tuple[SlowFrames, Clock, list[str]]:
    """Return the rules, their clock, and a list of the workers that they restart."""
    restarted, clock, running_tasks = list[str](), Clock(), RunningTasks()
    for task in tasks:
        running_tasks.add(task)
    executor = SimpleNamespace(restart=lambda name, is_blameless: restarted.append(name))
    dependencies: Any = SimpleNamespace(clock=clock, executor=executor)
    return SlowFrames(dependencies, running_tasks), clock, restarted


def test_a_slow_frame_keeps_its_worker_if_no_other_has_its_renderer() -> None:
    """Its job began the frame anew every ten minutes, for ever."""
    holder, waiting = running("slow", "a"), running("other", "a")
    for renderer, expected in (("r2", []), ("r1", ["a"])):
        slow_frames, _, restarted = slow_frames_of(holder, waiting)
        states = {one.id: one for one in (worker("a", "r1", "slow"), worker("b", renderer))}
        slow_frames.make_room(waiting, states)
        assert restarted == expected


def test_suspects_do_not_leave_the_only_worker_of_a_renderer_while_there_is_another() -> None:
    slow_frames, _, _ = slow_frames_of()
    assert slow_frames.left_worker([worker("a", "r1"), worker("b", "r2"), worker("c", "r2")]) == "b"


def test_no_confined_task_is_copied_to_the_worker_that_is_left_to_others() -> None:
    """A second attempt of a poisonous job reached it although no frame had been slow."""
    slow_frames, _, _ = slow_frames_of()
    assert slow_frames.suspects(["p", "q"], 2) == ["p", "q"]
    assert slow_frames.left_worker([worker("a"), worker("b")]) == "a"
    confined = running("p", "b", is_confined=True)
    assert not slow_frames.may_copy_to(confined, "a")
    assert slow_frames.may_copy_to(running("honest", "b"), "a")
    assert slow_frames.suspects([], 2) == []
    assert slow_frames.may_copy_to(confined, "a"), "nobody is a suspect any more"


def test_a_worker_that_stays_the_only_one_is_left_to_nobody() -> None:
    holder, waiting = running("slow", "a"), running("other", "a")
    slow_frames, clock, _ = slow_frames_of(holder, waiting)
    slow_frames.make_room(waiting, {"a": worker("a", active="slow"), "b": worker("b")})
    assert slow_frames.suspects([], 1) == ["slow"]
    assert slow_frames.left_worker([worker("a")]) == "a", "the other one can be starting"
    clock.ahead_seconds += START_SECONDS + 1
    assert slow_frames.left_worker([worker("a")]) is None
    clock.ahead_seconds += LIMIT_SECONDS
    assert slow_frames.suspects([], 2) == []
