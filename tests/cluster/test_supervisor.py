from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from structlog.testing import capture_logs

from cluster.embedded.process import ServerFailed
from cluster.local.parts import ProcessPart
from cluster.local.supervisor import Supervisor


@dataclass
class FakePart:
    name: str
    log: list[str]
    alive: bool = False
    fails: int = 0
    reason: str = ""

    def start(self) -> None:
        self.log.append(f"start {self.name}")
        if self.fails:
            self.fails -= 1
            raise ServerFailed("no")
        self.alive = True

    def stop(self) -> None:
        self.log.append(f"stop {self.name}")
        self.alive = False


@dataclass
class Setting:
    log: list[str] = field(default_factory=list)
    now: float = 0.0

    def supervisor(self, *names: str) -> tuple[Supervisor, list[FakePart]]:
        parts = [FakePart(name, self.log) for name in names]
        supervisor = Supervisor(parts, clock=lambda: self.now)
        supervisor.start()
        return supervisor, parts


def test_parts_start_in_order_and_stop_in_reverse() -> None:
    setting = Setting()
    supervisor, _ = setting.supervisor("postgres", "api")
    supervisor.stop()
    supervisor.stop()
    assert setting.log == ["start postgres", "start api", "stop api", "stop postgres"]


def test_a_part_that_dies_is_started_again_and_the_others_are_left_alone() -> None:
    setting = Setting()
    supervisor, (_, api) = setting.supervisor("postgres", "api")
    api.alive = False
    supervisor.poll()
    supervisor.poll()
    assert setting.log == ["start postgres", "start api", "start api"]


def test_a_part_that_does_not_come_up_is_tried_later_and_later() -> None:
    setting = Setting()
    supervisor, (part,) = setting.supervisor("ray")
    part.alive, part.fails = False, 100
    starts = []
    for step in range(400):
        setting.now = step / 10
        before = len(setting.log)
        supervisor.poll()
        starts += [setting.now] * (len(setting.log) - before)
    pauses = [round(later - earlier, 1) for earlier, later in pairwise(starts)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_a_part_that_dies_again_and_again_is_named() -> None:
    setting = Setting()
    supervisor, (steady, dying) = setting.supervisor("steady", "dying")
    for _ in range(3):
        assert supervisor.failing("dying") is None
        dying.alive = False
        setting.now += 5
        supervisor.poll()
    assert supervisor.failing("dying") is dying
    assert supervisor.failing("steady") is None
    assert steady.alive


def test_a_part_that_keeps_dying_is_logged_with_its_reason() -> None:
    setting = Setting()
    supervisor, (dying,) = setting.supervisor("scheduler-1")
    dying.reason = "OSError: Address already in use"
    reasons = []
    for _ in range(3):
        dying.alive = False
        setting.now += 5
        with capture_logs() as lines:
            supervisor.poll()
        reasons += [line.get("reason") for line in lines]
    assert reasons == [None, None, "OSError: Address already in use"]


def test_a_dead_process_gives_the_line_of_its_log_that_names_the_error(tmp_path: Path) -> None:
    program = "print('starting'); print('OSError: no room'); print('see the manual')"
    part = ProcessPart("part", (sys.executable, "-c", program), {}, tmp_path / "log")
    part.start()
    assert part.process is not None
    part.process.wait()
    assert part.reason == "OSError: no room"
