"""Test the farm from outside without kills: equal bytes everywhere, nothing rendered twice, and clear errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import av
import psutil
import psycopg
import pytest
from PIL import Image

from benchmarks.scaling import scene
from examples.documents import bundle
from farm_core import running
from farm_core.long_steps import repeating
from tests.acceptance.farm import (
    ROOT,
    ProcessFarm,
    drawn_segments,
    imported,
    process_farm,
    run_farm,
    tasks_of,
    uploaded,
)
from tests.acceptance.terminal import typed

pytestmark = [pytest.mark.acceptance]


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessFarm]:
    """Yield a farm that allows more formats than MP4. Its data folder is the default of commands in the folder above."""
    folder = tmp_path_factory.mktemp("farm")
    (folder / "farm").symlink_to(ROOT / "farm")
    with process_farm(folder / ".farm", "--workers", "2", settings={"OUTPUT_FORMATS": "mp4,webm,gif"}) as running_farm:
        yield running_farm


@pytest.fixture(scope="module")
def logo(farm: ProcessFarm) -> str:
    return uploaded(farm, ROOT / "examples" / "media" / "logo.png")


@pytest.fixture(scope="module")
def template(farm: ProcessFarm) -> str:
    """Template of four seconds. Its caption appears in the last two."""
    return imported(farm, bundle(scene(4)))


def test_one_process_gives_the_bytes_that_two_workers_gave(farm: ProcessFarm, template: str, logo: str) -> None:
    job_id = farm.render(template, "bytes-one", logo=logo, caption="One")
    assert farm.ended(job_id)["status"] == "completed"
    assert drawn_segments(farm, job_id) == [0, 1, 2, 3]
    done = run_farm("verify", job_id, "--segments", "99", "--data", str(farm.data))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the same bytes") == 4


def test_an_equal_job_has_the_same_bytes_and_draws_nothing(farm: ProcessFarm, template: str, logo: str) -> None:
    first = farm.render(template, "equal-one", logo=logo, caption="Equal")
    farm.ended(first)
    second = farm.render(template, "equal-two", logo=logo, caption="Equal")
    assert farm.ended(second)["progress"] == 100
    assert drawn_segments(farm, second) == []
    assert farm.digest(first) == farm.digest(second)


def test_another_caption_draws_only_the_segments_that_show_it(farm: ProcessFarm, template: str, logo: str) -> None:
    farm.ended(farm.render(template, "caption-one", logo=logo, caption="Before"))
    changed = farm.render(template, "caption-two", logo=logo, caption="After")
    assert farm.ended(changed)["status"] == "completed"
    assert drawn_segments(farm, changed) == [2, 3]


def test_a_job_cancelled_while_it_renders_is_cancelled_and_the_farm_goes_on(
    farm: ProcessFarm, template: str, logo: str
) -> None:
    # The render takes seconds, so that even a slow client sees it running.
    job_id = farm.render(template, "cancel-one", side=(2560, 1440), logo=logo, caption="Never")
    assert farm.call("POST", f"/renders/{job_id}/cancel")["status"] == "cancelled"
    assert farm.ended(farm.render(template, "cancel-two", logo=logo, caption="Still"))["status"] == "completed"
    assert farm.ended(job_id)["status"] == "cancelled"
    assert farm.call("GET", "/usage")["reservedRenderMinutes"] == 0


def test_operators_see_the_workers_and_the_jobs(farm: ProcessFarm, template: str, logo: str) -> None:
    job_id = farm.render(template, "seen-one", logo=logo, caption="Seen")
    farm.ended(job_id)
    workers = farm.command("workers")
    assert "live" in workers
    assert ("llvmpipe" in workers) == ("software: " in workers)
    assert "complete" in farm.command("jobs", job_id)
    assert "The queue is empty." in farm.command("queue")


MEMORY_BYTES = 150_000_000
"""Much more memory than a worker needs for the other jobs of these tests, and less than frames of 16 megapixels need."""


@contextmanager
def memory_limit(farm: ProcessFarm) -> Iterator[list[int]]:
    """Kill every worker whose memory exceeds the limit, as a container does. Yield the killed workers."""
    limit = max(map(_resident_bytes, farm.processes("actor"))) + MEMORY_BYTES
    killed: list[int] = []

    def watch() -> None:
        for one in farm.processes("actor"):
            if _resident_bytes(one) > limit and one.pid not in killed:
                killed.append(one.pid)
                one.kill()

    with repeating(watch, 0.02):
        yield killed


def _resident_bytes(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0


def test_a_document_that_kills_three_workers_fails_and_the_others_are_rendered(
    farm: ProcessFarm, template: str, logo: str
) -> None:
    farm.ended(farm.render(template, "before-poison", logo=logo, caption="Before"))
    with memory_limit(farm) as killed:
        poison = farm.render(template, "poison-one", side=(4096, 3840), logo=logo, caption="Poison")
        others = [farm.render(template, f"beside-poison-{n}", logo=logo, caption=f"Beside {n}") for n in range(3)]
        failed = farm.ended(poison, seconds=240)
        assert (failed["status"], failed["error"]) == ("failed", "The render failed repeatedly.")
        assert [farm.ended(job_id)["status"] for job_id in others] == ["completed"] * 3
    assert len(killed) >= 3
    assert [task.failures for task in tasks_of(farm, poison) if task.status == "failed"] == [2]
    assert farm.call("GET", "/usage")["reservedRenderMinutes"] == 0


def test_a_second_farm_on_the_same_data_is_refused(farm: ProcessFarm) -> None:
    done = run_farm("up", "--port", "1", "--data", str(farm.data))
    assert done.returncode == 1
    assert "another farm runs" in done.stderr


def test_the_doctor_asks_the_servers_of_the_running_farm(farm: ProcessFarm) -> None:
    assert farm.command("doctor").count(", of the running farm\n") == 2
    (valkey,) = farm.processes("valkey")
    valkey.suspend()
    try:
        done = run_farm("doctor", "--data", str(farm.data))
    finally:
        valkey.resume()
    assert done.returncode == 1
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("BAD")] == ["redis:"]


def test_nothing_private_is_written_where_the_parts_are_named(farm: ProcessFarm) -> None:
    logs = "".join(path.read_text(errors="replace") for path in Path(farm.data / "logs").glob("*.log"))
    secret = (farm.data / "jwt-secret").read_text()
    assert secret not in logs
    assert farm.token not in logs


def test_a_batch_gets_each_format_that_the_farm_allows(farm: ProcessFarm, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("headline,logo\nAda,logo.png\nBob,logo.png\n")
    card = imported(farm, (ROOT / "examples" / "title-card.motion").read_bytes())
    media = str(ROOT / "examples" / "media")

    def batch(ending: str, *options: str) -> tuple[int, str]:
        words = (card, str(rows), "--out", f"{tmp_path}/{{headline}}{ending}", "--media", media, "--size", "160x90")
        done = run_farm("batch", *words, "--server", farm.origin, "--key", farm.token, *options)
        return done.returncode, done.stderr

    assert batch(".webm", "--transparent")[0] == 0
    assert batch(".gif", "--format", "gif")[0] == 0
    status, message = batch(".mov")
    for name in ("Ada", "Bob"):
        with av.open(str(tmp_path / f"{name}.webm")) as video:
            assert video.streams.video[0].codec_context.name == "vp9"
            assert video.streams.video[0].metadata["ALPHA_MODE"] == "1"
        with Image.open(tmp_path / f"{name}.gif") as picture:
            assert picture.size == (160, 90)
            assert getattr(picture, "n_frames", 1) > 1
    assert status == 1
    assert "output.format: must be mp4 or webm or gif" in message
    held = json.loads((tmp_path / "manifest.json").read_text())["videos"]
    assert {one["status"] for one in held.values()} == {"done"}


def test_the_backup_and_the_restore_of_the_manual_bring_the_same_jobs_and_videos_back(
    farm: ProcessFarm, template: str, logo: str, tmp_path: Path
) -> None:
    text = (ROOT / "docs" / "operating" / "one-machine.md").read_text()
    backup, restore = (
        command.replace("/backups/", f"{tmp_path}/")
        for command in re.findall(r"^(\./farm (?:backup|restore) .*)$", text, re.MULTILINE)
    )
    finished = farm.render(template, "backup-one", logo=logo, caption="Backup")
    farm.ended(finished)
    digest = farm.digest(finished)
    under_way = farm.render(template, "backup-two", logo=logo, caption="Under way")
    done = typed(farm.data.parent, backup)
    assert done.returncode == 0, done.stderr
    farm.ended(under_way)
    (tmp_path / "farm").symlink_to(ROOT / "farm")
    done = typed(tmp_path, restore)
    assert done.returncode == 0, done.stderr
    with process_farm(tmp_path / ".farm", "--workers", "1") as again:
        assert again.digest(finished) == digest
        assert again.ended(under_way)["status"] == "completed"
        assert jobs(again) == jobs(farm)


def jobs(farm: ProcessFarm) -> list[tuple[object, ...]]:
    found = running.read(farm.data)
    assert found is not None
    with psycopg.connect(found.database_url) as connection:
        return connection.execute("SELECT id, status, document_key FROM jobs ORDER BY id").fetchall()
