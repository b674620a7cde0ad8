"""The whole farm on this machine: one worker against two, a long job over all of them, repeats, a changed text."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
from sqlalchemy import select
from sqlmodel import col

from cluster.local.accounts import session_token
from cluster.local.farm import LocalFarm, Wishes
from cluster.local.ray_head import free_port
from examples.build import field
from examples.documents import bundle, composition, media, shape, text
from farm_core.db.database import Database
from farm_core.jobs.models import Task
from farm_core.settings import ROOT, Settings

QUESTION = (
    "How much do two workers bring over one, what does a repeat cost, and how much does a changed text render again?"
)

SECONDS: Final = 10
CAPTION_FRAMES: Final = (75, 60)
"""First frame and length of the caption: it shows in the segments that begin at frames 60, 90 and 120."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A job's time from POST to its end, how many of its segments were drawn, and by how many workers."""

    seconds: float
    segments: int
    drawn: int
    workers: int


@dataclass(slots=True)
class Bench:
    """A running farm and a template on it."""

    farm: LocalFarm
    client: httpx2.Client
    logo: str
    template: str = ""

    def render(self, caption: str, width: int = 1280, height: int = 720) -> Rendered:
        """Renders the template with that caption, and waits."""
        body = {
            "templateId": self.template, "inputs": {"logo": self.logo, "caption": caption},
            "output": {"width": width, "height": height},
        }  # fmt: skip
        began = time.perf_counter()
        job_id = self.client.post("/renders", json=body).raise_for_status().json()["jobId"]
        while (job := self.client.get(f"/renders/{job_id}").json())["status"] in ("queued", "processing"):
            self.farm.look()
            time.sleep(0.01)
        seconds = time.perf_counter() - began
        assert job["status"] == "completed", job
        tasks = asyncio.run(_segments(self.farm.database_url, job_id))
        drawn = [task for task in tasks if not (task.report or {}).get("cached")]
        return Rendered(seconds, len(tasks), len(drawn), len({task.worker for task in tasks}))


def run(*, quick: bool = False) -> dict[str, Any]:
    """A row for each story: seconds, frames a second, segments drawn of all."""
    seconds = 4 if quick else SECONDS
    with bench(1, seconds) as one:
        one.render("warm", 64, 64)
        alone = one.render("first")
    with bench(2, seconds) as two:
        two.render("warm", 64, 64)
        first = two.render("first")
        repeat = two.render("first")
        changed = two.render("second")
    frames = seconds * 30
    rows = [
        _row("one worker", alone, frames), _row("two workers", first, frames), _row("the same again", repeat, frames),
        _row("another caption", changed, frames),
    ]  # fmt: skip
    said = (
        f"Two workers are {alone.seconds / first.seconds:.2f} times as fast as one; a repeat takes {repeat.seconds * 1000:.0f} ms; "
        f"another caption draws {changed.drawn} of {changed.segments} segments."
    )
    return {"rows": rows, "label": "story", "bar": "fps", "recommendation": said}


def _row(story: str, rendered: Rendered, frames: int) -> dict[str, Any]:
    return {
        "story": story,
        "seconds": round(rendered.seconds, 2),
        "fps": round(frames / rendered.seconds, 1),
        "segments drawn": f"{rendered.drawn} of {rendered.segments}",
        "workers": rendered.workers,
    }


@contextmanager
def bench(workers: int, seconds: int) -> Iterator[Bench]:
    """A farm with so many workers and the scene as a template; everything is gone after the block."""
    with tempfile.TemporaryDirectory(prefix="farm-scaling-") as folder:
        settings = Settings(data_folder=Path(folder), automation_requests_per_minute_per_ip=1_000_000)
        farm = LocalFarm(settings, Wishes(port=free_port(), workers=workers))
        try:
            farm.start()
            farm.wait_ready()
            headers = {"Authorization": f"Bearer {session_token(settings, farm.database_url, 'bench')}"}
            with httpx2.Client(
                base_url=f"{farm.origin}/api/v1", headers=headers, timeout=60, trust_env=False
            ) as client:
                yield _prepared(farm, client, seconds)
        finally:
            farm.stop()


def _prepared(farm: LocalFarm, client: httpx2.Client, seconds: int) -> Bench:
    picture = (ROOT / "examples" / "media" / "logo.png").read_bytes()
    logo = client.post("/assets", files={"file": ("logo.png", picture)}).raise_for_status().json()["url"]
    files, form = {"file": ("scene.motion", bundle(scene(seconds)))}, {"includeText": "true"}
    found = client.post("/templates/import", files=files, data=form)
    return Bench(farm, client, logo, found.raise_for_status().json()["id"])


def scene(seconds: int) -> dict[str, Any]:
    """Sixty translucent discs that never rest, a picture, and a caption that shows for two seconds."""
    discs = [
        shape(
            f"disc{i}", f"Disc {i}", 640, 360, 260, 260, "#38bdf8", shape="ellipse", opacity=12
        ).express("x", f"640 + 460*Math.sin(time*{1 + i % 7} + {i})").express("y", f"360 + 240*Math.cos(time*{1 + i % 5} + {i})")
        for i in range(60)
    ]  # fmt: skip
    logo = media("logo", "Logo", "image", 1180, 100, 120, 120, "")
    caption = text("caption", "Caption", 640, 600, "Caption", 60, "#ffffff")
    caption.bar = CAPTION_FRAMES
    fields = [field("caption", "Caption", "text", "caption", "Text", "content", "Caption")]
    return composition("comp_root", "Discs", 1280, 720, 30, seconds, [*discs, logo, caption], "#0b1120", fields)


async def _segments(database_url: str, job_id: str) -> list[Task]:
    database = Database(database_url)
    try:
        async with database.work() as session:
            wanted = select(Task).where(col(Task.job_id) == job_id, col(Task.kind) == "render")
            return list((await session.execute(wanted)).scalars())
    finally:
        await database.close()
