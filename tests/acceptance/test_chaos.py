"""A farm on a real S3 server, whose parts are killed while jobs run: every accepted job ends, once, and the books balance."""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest

from tests.acceptance.farm import PARTS, ROOT, ProcessFarm, drawn_segments, imported, process_farm, uploaded
from tests.acceptance.hooks import Hook, hook
from tests.s3_server import BUCKET, S3Server

BUNDLE = ROOT / "examples" / "title-card.motion"
SECONDS = 3
PICTURE = ROOT / "examples" / "media" / "logo.png"


def torment(farm: ProcessFarm, jobs: int, kills: list[str], pause_seconds: float) -> None:
    """Creates jobs while the parts named are killed one after the other, then takes stock."""
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
        assert receiver.told == Counter(ended.items())
    after = farm.call("GET", "/usage")
    assert after["reservedRenderMinutes"] == 0
    assert after["renderedMinutes"] - before["renderedMinutes"] == pytest.approx(jobs * SECONDS / 60)
    assert after["renderJobs"] - before["renderJobs"] == jobs


def _kill_all(farm: ProcessFarm, kills: list[str], pause_seconds: float) -> None:
    chance = random.Random(7)
    for part in kills:
        time.sleep(pause_seconds)
        farm.kill(part, chance)


def _wait_for_hooks(receiver: Hook, jobs: int) -> None:
    deadline = time.monotonic() + 60
    while len(receiver.told) < jobs and time.monotonic() < deadline:
        time.sleep(0.1)


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessFarm]:
    """Two schedulers, two workers, and an S3 server of their own."""
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
    whole = httpx.get(link, trust_env=False).content
    part = httpx.get(link, headers={"Range": "bytes=4-11"}, trust_env=False)
    assert part.content == whole[4:12]
    assert part.content.startswith(b"ftyp")
    second = farm.render(template, "on-s3-second", logo=logo, headline="On S3", side=(160, 90))
    assert farm.ended(second)["status"] == "completed"
    assert drawn_segments(farm, second) == []
    assert farm.command("verify", first, "--segments", "99").count("the same bytes") == 3


@pytest.mark.acceptance
@pytest.mark.timeout(280)
def test_every_job_ends_once_though_each_part_is_killed(farm: ProcessFarm) -> None:
    kills = ["actor", "storage", "scheduler", "valkey", "api", "postgres", "ray"]
    torment(farm, 10, kills, pause_seconds=1.5)


@pytest.mark.chaos
@pytest.mark.timeout(1800)
def test_sixty_jobs_end_once_under_an_hour_of_misfortune_in_minutes(farm: ProcessFarm) -> None:
    kills = [part for _ in range(4) for part in (*PARTS, "storage")]
    random.Random(11).shuffle(kills)
    torment(farm, 60, kills, pause_seconds=4)
