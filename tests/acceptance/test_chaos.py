"""Parts are killed while jobs run: every accepted job ends, once, and the books balance."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.acceptance.farm import PARTS, ROOT, ProcessFarm, imported, process_farm, summary, uploaded

BUNDLE = ROOT / "examples" / "title-card.motion"
PICTURE = ROOT / "examples" / "media" / "logo.png"


class Hook(ThreadingHTTPServer):
    """Receives webhooks and counts them by job and status."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receive)
        self.told: Counter[tuple[str, str]] = Counter()
        self.url = f"http://127.0.0.1:{self.server_port}/hook"


class _Receive(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.told[summary(body)] += 1
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Quiet."""


@contextmanager
def hook() -> Iterator[Hook]:
    server = Hook()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def torment(farm: ProcessFarm, jobs: int, kills: list[str], pause_seconds: float) -> None:
    """Creates jobs while the parts named are killed one after the other, then takes stock."""
    template, logo = imported(farm, BUNDLE), uploaded(farm, PICTURE)
    with hook() as receiver:
        killer = threading.Thread(target=_kill_all, args=(farm, kills, pause_seconds))
        killer.start()
        created = [
            farm.render(template, f"chaos-job-{number:04}", receiver.url, logo=logo, headline=f"Number {number}")
            for number in range(jobs)
        ]
        ended = {job_id: farm.ended(job_id, seconds=240)["status"] for job_id in created}
        killer.join()
        _wait_for_hooks(receiver, jobs)
        assert len(set(created)) == jobs
        assert Counter(ended.values()) == {"completed": jobs}
        assert receiver.told == Counter(ended.items())
    _assert_books_balance(farm, jobs)


def _kill_all(farm: ProcessFarm, kills: list[str], pause_seconds: float) -> None:
    chance = random.Random(7)
    for part in kills:
        time.sleep(pause_seconds)
        farm.kill(part, chance)


def _wait_for_hooks(receiver: Hook, jobs: int) -> None:
    deadline = time.monotonic() + 60
    while len(receiver.told) < jobs and time.monotonic() < deadline:
        time.sleep(0.1)


def _assert_books_balance(farm: ProcessFarm, jobs: int) -> None:
    usage = farm.call("GET", "/usage")
    assert usage["reservedRenderMinutes"] == 0
    assert usage["renderedMinutes"] == pytest.approx(jobs * 3 / 60)
    assert usage["renderJobs"] == jobs


@pytest.mark.acceptance
@pytest.mark.timeout(280)
def test_every_job_ends_once_though_each_part_is_killed(tmp_path: Path) -> None:
    with process_farm(tmp_path / "farm", "--workers", "2", "--schedulers", "2") as farm:
        torment(farm, 10, ["actor", "scheduler", "valkey", "api", "postgres", "ray"], pause_seconds=1.5)


@pytest.mark.chaos
@pytest.mark.timeout(1800)
def test_sixty_jobs_end_once_under_an_hour_of_misfortune_in_minutes(tmp_path: Path) -> None:
    kills = [part for _ in range(4) for part in PARTS]
    random.Random(11).shuffle(kills)
    with process_farm(tmp_path / "farm", "--workers", "2", "--schedulers", "2") as farm:
        torment(farm, 60, kills, pause_seconds=4)
