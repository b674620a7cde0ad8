"""Kill parts of a farm with an S3 server while jobs run. Every accepted job ends once, and all counts are correct."""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from tests.acceptance.farm import PARTS, ROOT, ProcessFarm, drawn_segments, imported, process_farm, uploaded
from tests.acceptance.hooks import Hook, hook
from tests.s3_server import BUCKET, S3Server

BUNDLE = ROOT / "examples" / "title-card.motion"
SECONDS = 3
PICTURE = ROOT / "examples" / "media" / "logo.png"
UNDER_WAY = 8
HOOKS_SECONDS = 240
"""Time limit of webhooks: after its sender was killed, a begun post is taken over two minutes later."""
KILLS_PER_STORM = 50
"""Number of kills between two checks."""


def torment(farm: ProcessFarm, jobs: int, kills: list[str], pause_seconds: float) -> None:
    """Create jobs while the named parts are killed one after another, then count what was lost."""
    template, logo = imported(farm, BUNDLE.read_bytes()), uploaded(farm, PICTURE)
    before, key = farm.call("GET", "/usage"), secrets.token_hex(8)
    with hook() as receiver:
        killer = threading.Thread(target=_kill_all, args=(farm, kills, pause_seconds))
        killer.start()
        created = [
            farm.render(template, f"{key}-{number:04}", receiver.url, logo=logo, headline=f"Number {number}")
            for number in range(jobs)
        ]
        ended = {job_id: farm.ended(job_id, seconds=240)["status"] for job_id in created}
        killer.join()
        _wait_for_hooks(receiver, jobs)
        assert len(set(created)) == jobs
        assert Counter(ended.values()) == {"completed": jobs}
        assert receiver.webhooks == Counter(ended.items())
    after = farm.call("GET", "/usage")
    assert after["reservedRenderMinutes"] == 0
    assert after["renderedMinutes"] - before["renderedMinutes"] == pytest.approx(jobs * SECONDS / 60)
    assert after["renderJobs"] - before["renderJobs"] == jobs


WEIGHTS = {
    "actor": 29, "scheduler": 24, "api": 20, "valkey": 12, "postgres": 8, "storage": 2, "raylet": 2, "ray": 1,
    "supervisor": 2,
}  # fmt: skip
"""Relative frequency of kills of each part. Parts that the cluster needs long to recover from are killed less often."""


@dataclass
class Table:
    """Results of a long run of kills."""

    kills: Counter[str] = field(default_factory=Counter)
    """Number of killed processes by part. Killing the supervisor ends every process of the farm."""
    jobs: Counter[str] = field(default_factory=Counter)
    webhooks: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0

    def add(self, other: Table) -> None:
        """Add the results of another run."""
        self.kills += other.kills
        self.jobs += other.jobs
        self.webhooks += other.webhooks
        self.seconds += other.seconds

    def __str__(self) -> str:
        killed = ", ".join(f"{part} {count}" for part, count in self.kills.most_common())
        ended = ", ".join(f"{status} {count}" for status, count in self.jobs.most_common())
        posted = ", ".join(f"{count} jobs with {times}" for times, count in sorted(self.webhooks.items()))
        return (
            f"{self.kills.total()} kills in {self.seconds:.0f} s: {killed}\n"
            f"{self.jobs.total()} jobs: {ended}\nwebhooks: {posted}"
        )


def storm(farm: ProcessFarm, chance: random.Random, kills: int, pause_seconds: float) -> Table:
    """Keep eight jobs open until the given number of processes was killed, then check the results."""
    template, logo = imported(farm, BUNDLE.read_bytes()), uploaded(farm, PICTURE)
    before, key, began, table = farm.call("GET", "/usage"), secrets.token_hex(8), time.monotonic(), Table()
    ended, farm.patience_seconds = threading.Event(), 300.0

    def kill() -> None:
        try:
            while table.kills.total() < kills:
                time.sleep(chance.uniform(0.5, 1.5) * pause_seconds)
                part = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
                table.kills[part] += farm.kill(part, chance)
        finally:
            ended.set()

    with hook() as receiver:
        killer = threading.Thread(target=kill)
        killer.start()
        statuses: dict[str, str] = {}
        waiting: deque[str] = deque()
        while not ended.is_set() or waiting:
            if not ended.is_set():
                number = len(statuses) + len(waiting)
                waiting.append(
                    farm.render(template, f"{key}-{number:05}", receiver.url, logo=logo, headline=f"Number {number}")
                )
            if len(waiting) > UNDER_WAY or ended.is_set():
                job_id = waiting.popleft()
                statuses[job_id] = farm.ended(job_id, seconds=600)["status"]
        killer.join()
        assert table.kills.total() == kills, "the farm did not start again"
        _wait_for_hooks(receiver, len(statuses))
        table.jobs.update(statuses.values())
        table.webhooks.update(receiver.webhooks[job_id, status] for job_id, status in statuses.items())
        assert set(receiver.webhooks) == set(statuses.items())
    after, table.seconds = farm.call("GET", "/usage"), time.monotonic() - began
    assert after["reservedRenderMinutes"] == 0
    assert after["renderJobs"] - before["renderJobs"] == len(statuses)
    assert after["renderedMinutes"] - before["renderedMinutes"] == pytest.approx(table.jobs["completed"] * SECONDS / 60)
    return table


def _kill_all(farm: ProcessFarm, kills: list[str], pause_seconds: float) -> None:
    chance = random.Random(7)
    for part in kills:
        time.sleep(pause_seconds)
        farm.kill(part, chance)


def _wait_for_hooks(receiver: Hook, jobs: int) -> None:
    deadline = time.monotonic() + HOOKS_SECONDS
    while len(receiver.webhooks) < jobs and time.monotonic() < deadline:
        time.sleep(0.1)


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessFarm]:
    """Yield a farm with two schedulers, two workers and an S3 server."""
    folder = tmp_path_factory.mktemp("chaos")
    server = S3Server(folder / "s3")
    server.start()
    try:
        with process_farm(folder / "farm", "--workers", "2", "--schedulers", "2", storage=server) as running_farm:
            yield running_farm
    finally:
        server.kill()


@pytest.mark.acceptance
def test_a_job_on_s3_is_downloaded_by_ranges_from_there_cached_and_verified(farm: ProcessFarm) -> None:
    template, logo = imported(farm, BUNDLE.read_bytes()), uploaded(farm, PICTURE)
    first = farm.render(template, "on-s3-first", logo=logo, headline="On S3")
    assert farm.ended(first)["status"] == "completed"
    assert drawn_segments(farm, first) == [0, 1, 2]
    assert farm.storage is not None
    link = farm.link(first)
    assert link.startswith(f"{farm.storage.url}/{BUCKET}/results/")
    whole = farm.client.get(link).content
    part = farm.client.get(link, headers={"Range": "bytes=4-11"})
    assert part.content == whole[4:12]
    assert part.content.startswith(b"ftyp")
    second = farm.render(template, "on-s3-second", logo=logo, headline="On S3", side=(160, 90))
    assert farm.ended(second)["status"] == "completed"
    assert drawn_segments(farm, second) == []
    assert farm.command("verify", first, "--segments", "99").count("the same bytes") == 3


@pytest.mark.acceptance
def test_every_job_ends_once_though_each_part_is_killed(farm: ProcessFarm) -> None:
    kills = ["actor", "storage", "scheduler", "valkey", "api", "postgres", "ray"]
    torment(farm, 10, kills, pause_seconds=1.5)


@pytest.mark.chaos
@pytest.mark.timeout(1800)
def test_sixty_jobs_end_once_under_an_hour_of_misfortune_in_minutes(farm: ProcessFarm) -> None:
    kills = [part for _ in range(4) for part in (*PARTS, "storage")]
    random.Random(11).shuffle(kills)
    torment(farm, 60, kills, pause_seconds=4)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_thousand_kills_lose_no_job_and_no_webhook(
    farm: ProcessFarm, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    total, chance = Table(), random.Random(17)
    left: int = pytestconfig.getoption("--kills")
    (ROOT / "out").mkdir(exist_ok=True)
    while left:
        run = storm(farm, chance, min(left, KILLS_PER_STORM), pause_seconds=1.2)
        left -= run.kills.total()
        total.add(run)
        (ROOT / "out" / "kills.txt").write_text(f"{total}\n")
        assert set(run.jobs) == {"completed"}
        assert set(run.webhooks) == {1}
    record_property("table", str(total))
    assert total.kills.total() < 1000 or set(total.kills) == set(WEIGHTS), "a part was never found"
