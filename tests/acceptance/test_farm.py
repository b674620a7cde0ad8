"""The farm from outside, nothing killed: the same bytes everywhere, nothing drawn twice, clear ends for what cannot be."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col

from benchmarks.scaling import scene
from examples.documents import bundle
from farm_core import running
from farm_core.db.database import Database
from farm_core.jobs.models import Task
from tests.acceptance.farm import ROOT, ProcessFarm, process_farm, run_farm, uploaded

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(280)]


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessFarm]:
    with process_farm(tmp_path_factory.mktemp("farm"), "--workers", "2") as running_farm:
        yield running_farm


@pytest.fixture(scope="module")
def logo(farm: ProcessFarm) -> str:
    return uploaded(farm, ROOT / "examples" / "media" / "logo.png")


@pytest.fixture(scope="module")
def template(farm: ProcessFarm) -> str:
    """Four seconds; its caption shows in the last two."""
    files, form = {"file": ("scene.motion", bundle(scene(4)))}, {"includeText": "true"}
    found = farm.call("POST", "/templates/import", files=files, data=form)
    return str(found["id"])


def drawn_segments(farm: ProcessFarm, job_id: str) -> list[int]:
    """The segments of a job that were not taken from the cache."""

    async def tasks() -> list[Task]:
        found = running.read(farm.data)
        assert found is not None
        database = Database(found.database_url)
        async with database.work() as session:
            wanted = (
                select(Task).where(col(Task.job_id) == job_id, col(Task.kind) == "render").order_by(col(Task.index))
            )
            rows = list((await session.execute(wanted)).scalars())
        await database.close()
        return rows

    return [task.index for task in asyncio.run(tasks()) if not (task.report or {}).get("cached")]


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
    job_id = farm.render(template, "cancel-one", logo=logo, caption="Never")
    assert farm.call("POST", f"/renders/{job_id}/cancel")["status"] == "cancelled"
    assert farm.ended(farm.render(template, "cancel-two", logo=logo, caption="Still"))["status"] == "completed"
    assert farm.ended(job_id)["status"] == "cancelled"
    assert farm.call("GET", "/usage")["reservedRenderMinutes"] == 0


def test_operators_see_the_workers_and_the_jobs(farm: ProcessFarm, template: str, logo: str) -> None:
    job_id = farm.render(template, "seen-one", logo=logo, caption="Seen")
    farm.ended(job_id)
    assert "live" in farm.command("workers")
    assert "complete" in farm.command("jobs", job_id)
    assert "The queue is empty." in farm.command("queue")


def test_a_second_farm_on_the_same_data_is_refused(farm: ProcessFarm) -> None:
    done = run_farm("up", "--port", "1", "--data", str(farm.data))
    assert done.returncode == 1
    assert "another farm runs" in done.stderr


def test_nothing_private_is_written_where_the_parts_are_named(farm: ProcessFarm) -> None:
    logs = "".join(path.read_text(errors="replace") for path in Path(farm.data / "logs").glob("*.log"))
    secret = (farm.data / "jwt-secret").read_text()
    assert secret not in logs
    assert farm.token not in logs
