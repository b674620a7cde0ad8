"""Kill a scheduler at every step of its reapers: nothing that is needed goes, and the next scheduler deletes the rest."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select, text
from sqlmodel import col

from farm_core.assets.models import Asset
from farm_core.batches.models import Batch
from farm_core.db.database import Database
from farm_core.db.queue_models import AccountQueue
from farm_core.jobs.models import Job, Segment, Task
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.templates.models import Template, TemplateVersion
from farm_core.usage.models import ObjectCharge
from farm_core.webhooks.models import Delivery
from scheduler.maintenance.retention import (
    HistoryReaper,
    ResultReaper,
    RowReaper,
    ScratchReaper,
    SegmentReaper,
    UploadReaper,
)
from tests.clock import ManualClock
from tests.scheduler.farm import furnish, parts_for

REAPERS = (UploadReaper, SegmentReaper, HistoryReaper, RowReaper, ResultReaper, ScratchReaper)
THEN = datetime.now(UTC) - timedelta(days=31)
YESTERDAY = THEN + timedelta(days=30)
EXPIRED = (
    "assets/acc_a/old.png", "documents/gone.json", "documents/former.json", "frozen/old.json", "imports/acc_a/imp_1", "media/old.png",
    "results/old.json", "results/old.mp4", "results/told.json", "results/told.mp4", "segments/old.mp4", "segments/unknown.mp4",
)  # fmt: skip
NEEDED = (
    "assets/acc_a/new.png", "documents/empty.json", "documents/live.json", "frozen/busy.json", "frozen/shared.json", "media/busy.png",
    "media/shared.png", "results/young.json", "results/young.mp4", "segments/busy.mp4",
)  # fmt: skip
"""All but the upload were written 31 days ago. The document and the media named `shared` are those of an old and of a young job."""
ROWS = {
    "assets": 1, "batches": 0, "deliveries": 1, "jobs": 3, "segments": 1, "tasks": 1, "template_versions": 0, "templates": 2,
}  # fmt: skip


class Killed(BaseException):
    """The process has ended: nothing that it does after this has an effect."""


@dataclass
class Steps:
    """Statements and calls of storage of a process that is killed before the step of this number."""

    killed_at: int
    number: int = 0

    def next(self, *_: object) -> None:
        """Count a step. Raises Killed."""
        self.number += 1
        if self.number >= self.killed_at:
            raise Killed

    @contextmanager
    def of_statements(self) -> Iterator[None]:
        """Count the statements of this process."""
        event.listen(Engine, "before_cursor_execute", self.next)
        try:
            yield
        finally:
            event.remove(Engine, "before_cursor_execute", self.next)


class MortalStorage(LocalStorage):
    """Storage that counts deletions as steps, before each and after each."""

    def __init__(self, folder: Path, step: Callable[[], None]) -> None:
        super().__init__(folder, Links(b"secret"))
        self._step = step

    def delete(self, key: str) -> None:
        self._step()
        super().delete(key)
        self._step()


def job(name: str, finished_at: datetime | None, source: str | None = None) -> Job:
    ended: dict[str, Any] = {
        "status": "completed", "video_key": f"results/{name}.mp4", "receipt_key": f"results/{name}.json",
    }  # fmt: skip
    return Job(
        id=f"job_{name}", account_id="acc_a", template_id="tpl_gone" if name == "old" else "tpl_live", inputs={}, width=64, height=64, fps=30,
        frame_count=30, reserved_ms=1000, origin="http://farm", request_hash="", document_key=f"frozen/{source or name}.json", created_at=THEN if finished_at else YESTERDAY,
        media={"/files/x": f"media/{source or name}.png"}, finished_at=finished_at, **(ended if finished_at else {"status": "processing"}),
    )  # fmt: skip


def template(name: str, deleted_at: datetime | None) -> Template:
    return Template(
        id=f"tpl_{name}", account_id="acc_a", name=name, width=64, height=64, fps=30, duration_seconds=1, inputs=[], targets={},
        document_key=f"documents/{name}.json", deleted_at=deleted_at,
    )  # fmt: skip


def rows() -> Iterator[Sequence[Any]]:
    """Yield rows, those of referred tables first."""
    yield [template("live", None), template("gone", THEN)]
    former = TemplateVersion(
        template_id="tpl_gone", version=1, account_id="acc_a", inputs=[], targets={}, duration_seconds=1,
        document_key="documents/former.json", replaced_at=THEN, restorable=True,
    )  # fmt: skip
    batch = Batch(
        id="batch_old",
        account_id="acc_a",
        template_id="tpl_gone",
        request_hash="",
        row_count=1,
        refused=[],
        created_at=THEN,
    )
    yield [former, batch]
    of_batch = job("old", THEN)
    of_batch.batch_id, of_batch.batch_index = "batch_old", 0
    yield [of_batch, job("shared", THEN), job("young", YESTERDAY, "shared"), job("told", THEN), job("busy", None)]
    yield [
        Task(
            id=f"task_{name}", job_id=f"job_{name}", index=0, kind="render", first_frame=0, frame_count=30, status="done",
            segment_key=f"segments/{name}.mp4",
        )
        for name in ("old", "busy")
    ]  # fmt: skip
    yield [Segment(key=f"segments/{name}.mp4", bytes=4, used_at=THEN) for name in ("old", "busy")]
    yield [
        Delivery(id="d_old", job_id="job_old", url="http://x.example/", body={}, attempts=[], status="delivered"),
        Delivery(id="d_told", job_id="job_told", url="http://x.example/", body={}, attempts=[]),
    ]
    yield [
        Asset(
            id=f"ast_{name}", account_id="acc_a", storage_key=f"assets/acc_a/{name}.png", bytes=4, mime="image/png", expires_at=expires_at
        )
        for name, expires_at in (("old", THEN), ("new", YESTERDAY + timedelta(days=2)))
    ]  # fmt: skip
    charged = [key for key in (*EXPIRED, *NEEDED) if not key.startswith(("segments/", "imports/"))]
    yield [ObjectCharge(account_id="acc_a", key=key, bytes=4) for key in charged]
    yield [ObjectCharge(account_id="acc_a", key=key, bytes=2000) for key in ("inputs/job_old", "batches/batch_old")]


async def fill(database: Database, storage: LocalStorage) -> None:
    """Bring tables and storage to the state before the first reaper runs."""
    async with database.work() as session:
        await session.execute(text("TRUNCATE accounts, workers, segments CASCADE"))
    await furnish(database, storage)
    async with database.work() as session:
        for group in rows():
            session.add_all(group)
            await session.flush()
    for key in (*EXPIRED, *NEEDED):
        storage.put_bytes(key, b"1234")
        if key != "assets/acc_a/new.png":
            os.utime(storage._objects / key, (THEN.timestamp(), THEN.timestamp()))


async def reap(url: str, folder: Path, steps: Steps) -> bool:
    """Run every reaper once, as one process. Return True if the process was killed."""
    database = Database(url, ping=False)
    clock = ManualClock(YESTERDAY + timedelta(days=1))
    storage = MortalStorage(folder / "storage", steps.next)
    dependencies = parts_for(database, storage, [], folder, clock, segment_cache_bytes=0)
    try:
        with steps.of_statements():
            for reaper in REAPERS:
                while await reaper(dependencies).tick() and reaper in (SegmentReaper, HistoryReaper):
                    pass
    except Killed:
        return True
    finally:
        await database.close()
    return False


async def left(database: Database, storage: LocalStorage) -> tuple[set[str], dict[str, int], set[str], int]:
    """Return the stored keys, the rows by table, the charged keys and the bytes that count against the account."""
    async with database.reading() as session:
        count = {name: await session.scalar(text(f"SELECT count(*) FROM {name}")) for name in ROWS}
        charges = (await session.execute(select(col(ObjectCharge.key), col(ObjectCharge.bytes)))).all()
        counted = await session.scalar(
            select(col(AccountQueue.stored_bytes)).where(col(AccountQueue.account_id) == "acc_a")
        )
    assert counted == sum(charge.bytes for charge in charges)
    return {one.key for one in storage.listed("")}, count, {charge.key for charge in charges}, counted or 0


@pytest.mark.service
@pytest.mark.thorough
async def test_reapers_that_are_killed_at_any_step_delete_too_little_until_the_next_ones_run(
    database_url: str, tmp_path: Path
) -> None:
    database, storage = Database(database_url), LocalStorage(tmp_path / "storage", Links(b"secret"))
    for killed_at in itertools.count(1):
        await fill(database, storage)
        was_killed = await reap(database_url, tmp_path, Steps(killed_at))
        stored, _, charged, _ = await left(database, storage)
        assert stored >= set(NEEDED), f"killed before step {killed_at}"
        charged_objects = {key for key in charged if not key.startswith(("inputs/", "batches/"))}
        of_row = {"assets/acc_a/old.png"}  # its row leads the next scheduler to it
        assert charged_objects <= stored | of_row, f"killed before step {killed_at}: what is gone counts"
        assert not await reap(database_url, tmp_path, Steps(10_000))
        stored, rows_left, charged, _ = await left(database, storage)
        assert (stored, rows_left) == (set(NEEDED), ROWS), f"killed before step {killed_at}"
        assert charged == {key for key in NEEDED if not key.startswith("segments/")}
        if not was_killed:
            assert killed_at > 20, "the steps were counted"
            break
    await database.close()
