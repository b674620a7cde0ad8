"""A farm of a benchmark's own, a caller that renders on it over HTTP, and what each job cost."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from sqlalchemy import select
from sqlmodel import col

from benchmarks.processor_time import children_seconds
from cluster.local.accounts import session_token
from cluster.local.farm import LocalFarm, Options
from cluster.local.ray_head import free_port
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.jobs.models import Job, Task
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.workers import live_workers
from farm_core.settings import ROOT, Settings

LOOKS_SECONDS = (0.01, 0.25)
"""How long a caller waits between two looks at a job: at first, and at most. Each look costs the farm some milliseconds."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """Jobs posted together: seconds from the first POST to the last end, and what was done meanwhile.

    `cores` is how many cores the whole farm kept busy on average; stage times are milliseconds a drawn frame.
    """

    seconds: float
    frames: int
    segments: int
    drawn: int
    workers: int
    cores: float
    draw_ms: float
    encode_ms: float


@dataclass(slots=True)
class ServedFarm:
    """A running farm and a caller of it."""

    farm: LocalFarm
    client: httpx.Client
    logo: str

    def imported(self, document: bytes) -> str:
        """Return the template of a bundle, its texts exposed as inputs."""
        files, form = {"file": ("scene.motion", document)}, {"includeText": "true"}
        found = self.client.post("/templates/import", files=files, data=form).raise_for_status()
        return str(found.json()["id"])

    def render(self, template: str, *inputs: Mapping[str, str], width: int = 1280, height: int = 720) -> Rendered:
        """Render the template once for each mapping of inputs, all at once, and wait for the last."""
        return self._rendered([(template, one) for one in inputs], width, height)

    def render_each(self, templates: Sequence[str], width: int = 1280, height: int = 720) -> Rendered:
        """Render each template once, all at once, and wait for the last."""
        return self._rendered([(template, {}) for template in templates], width, height)

    def _rendered(self, wanted: Sequence[tuple[str, Mapping[str, str]]], width: int, height: int) -> Rendered:
        output = {"width": width, "height": height}
        began, cpu = time.perf_counter(), children_seconds()
        bodies = ({"templateId": template, "inputs": {"logo": self.logo, **inputs}, "output": output} for template, inputs in wanted)  # fmt: skip
        jobs = [self._posted(body) for body in bodies]
        for job_id in jobs:
            self._wait(job_id)
        seconds, cpu = time.perf_counter() - began, children_seconds() - cpu
        frames, segments = asyncio.run(_made(self.farm.database_url, jobs))
        return _rendered(frames, segments, seconds, cpu / seconds)

    def workers_ready(self) -> int:
        """Return the number of workers that schedulers can lease tasks for."""
        return asyncio.run(_live(self.farm.database_url))

    def _posted(self, body: Mapping[str, object]) -> str:
        return str(self.client.post("/renders", json=body).raise_for_status().json()["jobId"])

    def _wait(self, job_id: str) -> None:
        pause, longest = LOOKS_SECONDS
        while (job := self.client.get(f"/renders/{job_id}").json())["status"] in ("queued", "processing"):
            self.farm.look()
            time.sleep(pause)
            pause = min(1.1 * pause, longest)
        assert job["status"] == "completed", job


@contextmanager
def served_farm(workers: int, raster_threads: int) -> Iterator[ServedFarm]:
    """A farm with so many workers of so many threads; everything is gone after the block."""
    with tempfile.TemporaryDirectory(prefix="farm-bench-") as folder:
        settings = Settings(
            data_folder=Path(folder), raster_threads=raster_threads, automation_requests_per_minute_per_ip=1_000_000,
            automation_renders_per_minute=1_000_000,
        )  # fmt: skip
        farm = LocalFarm(settings, Options(port=free_port(), workers=workers))
        try:
            farm.start()
            farm.wait_ready()
            headers = {"Authorization": f"Bearer {session_token(settings, farm.database_url, 'bench')}"}
            with httpx.Client(base_url=f"{farm.origin}/api/v1", headers=headers, timeout=60, trust_env=False) as client:
                picture = (ROOT / "examples" / "media" / "logo.png").read_bytes()
                logo = client.post("/assets", files={"file": ("logo.png", picture)}).raise_for_status().json()["url"]
                yield ServedFarm(farm, client, logo)
        finally:
            farm.stop()


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


def _rendered(frames: int, tasks: list[Task], seconds: float, cores: float) -> Rendered:
    drawn = [task for task in tasks if not (task.report or {}).get("cached")]
    frames_drawn = sum(task.frame_count for task in drawn) or 1
    stages = [(task.report or {}).get("stages_ms", {}) for task in drawn]
    draw, encode = (sum(times.get(stage, 0.0) for times in stages) / frames_drawn for stage in ("draw", "encode"))
    workers = len({task.worker for task in tasks})
    return Rendered(seconds, frames, len(tasks), len(drawn), workers, cores, draw, encode)
