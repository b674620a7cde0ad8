"""A whole scheduler on real Postgres, with threads as workers that draw nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sqlalchemy import select, text
from sqlmodel import col

from cluster.worker.segment_maker_port import StillPicture
from farm_core import redis
from farm_core.accounts.models import Account
from farm_core.clock import Clock, SystemClock
from farm_core.db.database import Database
from farm_core.ids import new_id
from farm_core.jobs import repository
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.jobs.models import Job, JobEvent, Task
from farm_core.jobs.receipt import receipt, receipt_key
from farm_core.jobs.status import JOB_TERMINAL
from farm_core.net.fetch import Guard
from farm_core.progress.changes import ChangePublisher
from farm_core.progress.reader import ProgressReader
from farm_core.progress.writer import ProgressWriter
from farm_core.settings import Settings
from farm_core.stills.exchange import StillExchange
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.storage.port import Storage
from farm_core.templates.models import Template
from gpu_renderer.progress import Callbacks
from motion.errors import PropertyRefused
from scheduler.dependencies import Dependencies
from scheduler.ports import AssemblyAssignment, Ended, Finished, SegmentAssignment, StillAssignment, TaskAssignment
from scheduler.scheduler import Scheduler
from tests import sandboxes
from tests.patience import HANG_SECONDS
from tests.scheduler.inline_executor import InlineExecutor

DOCUMENT = {"version": "1.8.0", "scene": {"nodes": []}, "animation": {}}


@dataclass(slots=True)
class DummyWork:
    """Work of a worker: writes a few bytes for a segment. `behave` can raise, wait or return something else."""

    storage: Storage
    worker_id: str = "w0"
    behave: Callable[[TaskAssignment], Ended | Finished | None] = lambda assignment: None
    held_up: Callable[[TaskAssignment], bool] = lambda assignment: False
    """Returns True while the assignment has frames left to draw."""
    before_still: Callable[[StillAssignment], None] = lambda assignment: None
    """Called before a still's frame is drawn."""
    done: list[TaskAssignment] = field(default_factory=list)
    stills: list[tuple[StillAssignment, int]] = field(default_factory=list)
    undrawable: set[str] = field(default_factory=set)
    warnings: tuple[str, ...] = ("a font is missing",)
    maker: Any = field(default_factory=lambda: SimpleNamespace(renderer="dummy 1", device="none", encoder="none"))

    def execute(self, assignment: TaskAssignment, callbacks: Callbacks) -> Any:
        if callbacks.should_stop():
            return Ended(assignment.token, Failure(FailureKind.lost, "The render was stopped.", self.worker_id))
        if (answer := self.behave(assignment)) is not None:
            return answer
        while self.held_up(assignment):
            if callbacks.should_stop():
                return Ended(assignment.token, Failure(FailureKind.lost, "The render was stopped.", self.worker_id))
            time.sleep(0.005)  # a frame
        self.done.append(assignment)
        match assignment:
            case SegmentAssignment():
                callbacks.on_progress(assignment.frame_count)
                key = f"segments/{assignment.document_key.split('/')[-1]}-{assignment.first_frame}.mp4"
                self.storage.put_bytes(key, b"segment")
                return Finished(assignment.token, self.worker_id, key, "00", 7, 0.01)
            case AssemblyAssignment():
                video = b"".join(map(self.storage.get_bytes, assignment.segment_keys))
                self.storage.put_bytes(assignment.video_key, video)
                proof = receipt(assignment.rendered_job, ["00"] * len(assignment.segment_keys), "11", len(video))
                self.storage.put_bytes(receipt_key(assignment.video_key), proof)
                return Finished(assignment.token, self.worker_id, assignment.video_key, "11", len(video), 0.01)

    def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
        """Draw a plain picture. Raises for documents that a test has named."""
        self.before_still(assignment)
        if assignment.document_key in self.undrawable:
            raise PropertyRefused("The document has no such property.")
        self.stills.append((assignment, frame_index))
        size = (assignment.video_format.height, assignment.video_format.width, 4)
        return StillPicture(np.full(size, 10 * frame_index % 256, np.uint8), self.warnings)


@dataclass(slots=True)
class FarmUnderTest:
    """Outside view of the farm: create jobs, wait for them, read their rows."""

    database: Database
    storage: Storage
    dependencies: Dependencies
    scheduler: Scheduler
    works: list[DummyWork]

    async def create(self, seconds: float = 3, **changes: Any) -> str:
        values: dict[str, Any] = {
            "id": new_id("job"), "account_id": "acc_a", "template_id": "tpl", "inputs": {}, "width": 1280, "height": 720,
            "fps": 30.0, "frame_count": round(seconds * 30), "reserved_ms": round(seconds * 1000), "origin": "http://farm",
            "request_hash": "",
        } | changes  # fmt: skip
        async with self.database.work() as session:
            job = await repository.create(session, Job(**values))
        return job.id

    async def job(self, job_id: str) -> Job:
        async with self.database.work() as session:
            return (await session.execute(select(Job).where(col(Job.id) == job_id))).scalar_one()

    async def ended(self, job_id: str) -> Job:
        async with asyncio.timeout(HANG_SECONDS):
            while (job := await self.job(job_id)).status not in JOB_TERMINAL:  # noqa: ASYNC110 - it is in the database
                await asyncio.sleep(0.02)
        return job

    async def events(self, job_id: str) -> list[str]:
        async with self.database.work() as session:
            rows = await session.execute(
                select(col(JobEvent.event)).where(col(JobEvent.job_id) == job_id).order_by(col(JobEvent.id))
            )
            return list(rows.scalars())

    async def tasks(self, job_id: str) -> list[Task]:
        async with self.database.work() as session:
            rows = await session.execute(select(Task).where(col(Task.job_id) == job_id).order_by(col(Task.index)))
            return list(rows.scalars())

    async def workers(self) -> list[tuple[int, datetime | None]]:
        """Return the consecutive failures of each worker, and the end of its quarantine."""
        async with self.database.work() as session:
            rows = await session.execute(text("SELECT failures, quarantined_until FROM workers ORDER BY id"))
            return [(row.failures, row.quarantined_until) for row in rows]


@asynccontextmanager
async def farm(
    database_url: str, folder: Path, behave: Callable[[TaskAssignment], Ended | Finished | None] | None = None, workers: int = 2,
    storage: Storage | None = None, held_up: Callable[[TaskAssignment], bool] | None = None, stills: StillExchange | None = None,
    **changes: Any,
) -> AsyncIterator[FarmUnderTest]:  # fmt: skip
    """Run a scheduler with an account, a template, and a number of workers."""
    database = Database(database_url)
    storage = storage or LocalStorage(folder / "storage", Links(b"secret"))
    works = [DummyWork(storage, f"w{index}") for index in range(workers)]
    for work in works:
        work.behave = behave or work.behave
        work.held_up = held_up or work.held_up
    dependencies = replace(parts_for(database, storage, works, folder, **changes), stills=stills)
    scheduler = Scheduler(dependencies, database_url)
    await furnish(database, storage)
    await scheduler.start()
    try:
        yield FarmUnderTest(database, storage, dependencies, scheduler, works)
    finally:
        await scheduler.stop()


def parts_for(
    database: Database,
    storage: Storage,
    works: list[DummyWork],
    folder: Path,
    clock: Clock | None = None,
    **settings: Any,
) -> Dependencies:
    (folder / "scratch").mkdir(exist_ok=True)
    private = Guard(allow_private=True)
    chosen = Settings(data_folder=folder, public_origin="http://farm", **settings)
    executor = InlineExecutor(works, ProgressWriter(chosen.redis_url, every_seconds=0.01))  # type: ignore[arg-type]
    client = None if chosen.redis_url is None else redis.connect(chosen.redis_url)
    return Dependencies(
        database,
        storage,
        executor,
        private,
        private,
        clock or SystemClock(),
        chosen,
        folder / "scratch",
        ProgressReader(client, database),
        ChangePublisher(client),
        sandbox=sandboxes.SHARED,
    )


async def furnish(database: Database, storage: Storage) -> None:
    """Create two accounts, and a template with one text input."""
    import orjson

    storage.put_bytes("documents/empty.json", orjson.dumps(DOCUMENT))
    async with database.work() as session:
        session.add_all([Account(id=f"acc_{name}", name=name) for name in "ab"])
        await session.flush()
        session.add(
            Template(
                id="tpl",
                account_id="acc_a",
                name="t",
                width=1280,
                height=720,
                fps=30,
                duration_seconds=3,
                inputs=[],
                targets={},
                document_key="documents/empty.json",
            )
        )


class Gate:
    """Gate that stops workers until it is opened, and reports when one arrives."""

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self._open = threading.Event()

    def __call__(self, assignment: TaskAssignment) -> None:
        self.arrived.set()
        assert self._open.wait(HANG_SECONDS), "the gate was never opened"

    def open(self) -> None:
        self._open.set()

    async def reached(self) -> None:
        assert await asyncio.to_thread(self.arrived.wait, HANG_SECONDS), "no worker arrived"
