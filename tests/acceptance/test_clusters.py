"""A farm of two Ray clusters on this machine: both render, and one continues after the other is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from cluster.local.parts import ProcessPart
from cluster.local.ray_head import ray_head
from farm_core import running
from tests.acceptance.farm import ROOT, imported, process_farm, uploaded
from tests.acceptance.fleet import wait_for

TOKEN = "t" * 64
START_SECONDS = 300
JOBS = 6
LIVE = "SELECT count(*) FROM workers WHERE seen_at > now() - interval '10 seconds'"
DREW = "SELECT count(DISTINCT worker) FROM tasks WHERE kind = 'render' AND status = 'done' AND worker IS NOT NULL"


@contextmanager
def ray_cluster(folder: Path) -> Iterator[tuple[str, ProcessPart]]:
    """Yield the address of a Ray cluster with one core, and its head process."""
    folder.mkdir()
    (folder / "ray-token").write_text(TOKEN)
    head = ray_head(folder, {"PYTHONPATH": str(ROOT)}, 1, folder / "ray.log")
    head.part.start()
    try:
        yield head.address, head.part
    finally:
        head.part.stop()


@pytest.mark.slow
@pytest.mark.acceptance
@pytest.mark.timeout(1200)
def test_two_ray_clusters_draw_for_one_farm_and_one_goes_on_without_the_other(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with ray_cluster(tmp_path / "one") as (one, _), ray_cluster(tmp_path / "two") as (two, second):
        settings = {
            "RAY_ADDRESS": f"{one},{two}", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "WORKERS": "1",
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "GL_SOFTWARE": "true",
        }  # fmt: skip
        with process_farm(data, settings=settings) as farm:
            template = imported(farm, (ROOT / "examples" / "title-card.motion").read_bytes())
            logo = uploaded(farm, ROOT / "examples" / "media" / "logo.png")

            def render(names: str) -> list[str]:
                keys = [f"clusters-{names}-{number}" for number in range(JOBS)]
                return [farm.render(template, key, logo=logo, headline=key) for key in keys]

            wait_for(lambda: _count(data, LIVE) == 2, START_SECONDS, lambda: f"{_count(data, LIVE)} workers")
            assert [farm.ended(job, seconds=300)["status"] for job in render("both")] == ["completed"] * JOBS
            assert _count(data, DREW) == 2
            jobs = render("one")
            second.stop()
            assert [farm.ended(job, seconds=300)["status"] for job in jobs] == ["completed"] * JOBS
            wait_for(lambda: _count(data, LIVE) == 1, START_SECONDS, lambda: f"{_count(data, LIVE)} workers")


def _count(data: Path, query: str) -> int:
    found = running.read(data)
    assert found is not None, "the farm runs"
    with psycopg.connect(found.database_url) as connection:
        (count,) = connection.execute(query).fetchone() or (0,)
    return int(count)
