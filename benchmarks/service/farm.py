"""A farm of a benchmark's own, a caller that renders on it over HTTP, and what each job cost."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import httpx
from sqlalchemy import select
from sqlmodel import col

from benchmarks.service.processor_time import children_seconds
from cluster.local.accounts import session_token
from cluster.local.farm import LocalFarm, Options, running_farm
from cluster.local.ray_head import free_port
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.jobs.models import Job, Task
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.workers import live_workers
from farm_core.settings import ROOT, Settings

TITLE_CARD: Final = ROOT / "examples" / "title-card.motion"
UNLIMITED: Final[dict[str, Any]] = {"automation_renders_per_minute": 1_000_000}
LOOKS_SECONDS = (0.01, 0.25)
"""Pause between two polls of a job: the first and the longest. Each poll costs the farm some milliseconds."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """Jobs posted together: seconds from the first POST to the last end, and what was done meanwhile.

    `cores` is how many cores the whole farm kept busy on average; stage times are milliseconds a drawn frame. `busy` is the
    part of the seconds until a worker's last segment ended, on average over the workers that had one.
    """

    seconds: float
    frames: int
    segments: int
    drawn: int
    workers: int
    cores: float
    draw_ms: float
    encode_ms: float
    busy: float


@dataclass(slots=True)
class ServedFarm:
    """A running farm and a caller of it."""

    farm: LocalFarm
    client: httpx.Client
    logo: str

    def imported(self, document: bytes) -> str:
        """Return the template of a bundle, its texts exposed as inputs."""
        return imported(self.client, document)

    def render(self, template: str, *inputs: Mapping[str, str], width: int = 1280, height: int = 720) -> Rendered:
        """Render the template once for each mapping of inputs, all at once, and wait for the last."""
        return self._rendered([(template, one) for one in inputs], width, height)

    def render_each(self, templates: Sequence[str], width: int, height: int) -> Rendered:
        """Render each template once, all at once, and wait for the last."""
        return self._rendered([(template, {}) for template in templates], width, height)

    def _rendered(self, wanted: Sequence[tuple[str, Mapping[str, str]]], width: int, height: int) -> Rendered:
        output = {"width": width, "height": height}
        first_post, began, cpu = SystemClock().now(), time.perf_counter(), children_seconds()
        bodies = ({"templateId": template, "inputs": {"logo": self.logo, **inputs}, "output": output} for template, inputs in wanted)  # fmt: skip
        jobs = [posted(self.client, body) for body in bodies]
        for job_id in jobs:
            wait_until_completed(self.farm, self.client, job_id)
        seconds, cpu = time.perf_counter() - began, children_seconds() - cpu
        frames, segments = asyncio.run(_made(self.farm.database_url, jobs))
        return _rendered(frames, segments, first_post, seconds, cpu / seconds)

    def workers_ready(self) -> int:
        """Return the number of workers that schedulers can lease tasks for."""
        return asyncio.run(_live(self.farm.database_url))


@contextmanager
def local_farm(settings: Mapping[str, Any], workers: int | None = None) -> Iterator[tuple[LocalFarm, Settings]]:
    """Run a farm with these settings in a folder of its own, which is deleted after the block."""
    with tempfile.TemporaryDirectory(prefix="farm-bench-") as folder:
        chosen = Settings(data_folder=Path(folder), automation_requests_per_minute_per_ip=1_000_000, **settings)
        with running_farm(chosen, Options(port=free_port(), workers=workers)) as farm:
            yield farm, chosen


def client_of(farm: LocalFarm, settings: Settings, account: str) -> httpx.Client:
    """Return a client of the public API with the account's credentials. The account is made if it is missing."""
    headers = {"Authorization": f"Bearer {session_token(settings, farm.database_url, account)}"}
    return httpx.Client(base_url=f"{farm.origin}/api/v1", headers=headers, timeout=120, trust_env=False)


def imported(client: httpx.Client, document: bytes) -> str:
    """Return the id of a bundle's template, its texts exposed as inputs."""
    files, form = {"file": ("scene.motion", document)}, {"includeText": "true"}
    return str(client.post("/templates/import", files=files, data=form).raise_for_status().json()["id"])


def uploaded(client: httpx.Client, name: str = "logo.png") -> str:
    """Upload a file of the examples' media; return its address."""
    data = (ROOT / "examples" / "media" / name).read_bytes()
    return str(client.post("/assets", files={"file": (name, data)}).raise_for_status().json()["url"])


def posted(client: httpx.Client, body: Mapping[str, object]) -> str:
    """Create a render. Return its id."""
    return str(client.post("/renders", json=body).raise_for_status().json()["jobId"])


def wait_until_completed(farm: LocalFarm, client: httpx.Client, job_id: str) -> None:
    """Poll a render until it is completed."""
    pause, longest = LOOKS_SECONDS
    while (job := client.get(f"/renders/{job_id}").raise_for_status().json())["status"] in ("queued", "processing"):
        farm.poll()
        time.sleep(pause)
        pause = min(1.1 * pause, longest)
    assert job["status"] == "completed", job


def seconds_of_render(farm: LocalFarm, client: httpx.Client, body: Mapping[str, object]) -> float:
    """Return the seconds from the creation of a render to its end."""
    began = time.perf_counter()
    wait_until_completed(farm, client, posted(client, body))
    return time.perf_counter() - began


@contextmanager
def served_farm(workers: int, raster_threads: int) -> Iterator[ServedFarm]:
    """Run a farm with so many workers of so many threads, and a caller of it."""
    settings = UNLIMITED | {"raster_threads": raster_threads}
    with local_farm(settings, workers) as (farm, chosen), client_of(farm, chosen, "bench") as client:
        yield ServedFarm(farm, client, uploaded(client))


async def _live(database_url: str) -> int:
    database = Database(database_url)
    try:
        return len(await database.single(lambda connection: live_workers(connection, SystemClock().now())))
    finally:
        await database.close()


async def _made(database_url: str, jobs: list[str]) -> tuple[int, list[Task]]:
    """Return the frames of the jobs, and their segments."""
    database = Database(database_url)
    try:
        async with database.work() as session:
            frames = await session.scalars(select(col(Job.frame_count)).where(col(Job.id).in_(jobs)))
            wanted = select(Task).where(col(Task.job_id).in_(jobs), col(Task.kind) == TaskKind.render)
            return sum(frames), list(await session.scalars(wanted))
    finally:
        await database.close()


def busy_part(tasks: Iterable[Task], began: datetime, seconds: float) -> float:
    """Return the part of the seconds until the last task of a worker ended, on average over the workers of the tasks."""
    ends = dict[str, datetime]()
    for task in tasks:
        if task.worker is not None and task.finished_at is not None:
            ends[task.worker] = max(task.finished_at, ends.get(task.worker, began))
    return sum((end - began).total_seconds() for end in ends.values()) / (seconds * len(ends))


def _rendered(frames: int, tasks: list[Task], began: datetime, seconds: float, cores: float) -> Rendered:
    drawn = [task for task in tasks if not (task.report or {}).get("cached")]
    frames_drawn = sum(task.frame_count for task in drawn) or 1
    stages = [(task.report or {}).get("stages_ms", {}) for task in drawn]
    draw, encode = (sum(times.get(stage, 0.0) for times in stages) / frames_drawn for stage in ("draw", "encode"))
    workers = len({task.worker for task in tasks})
    busy = busy_part(tasks, began, seconds)
    return Rendered(seconds, frames, len(tasks), len(drawn), workers, cores, draw, encode, busy)
