"""Segments of open jobs that take more storage than their account is allowed, or than the disk can spare."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlmodel import col

from farm_core.db.database import Database
from farm_core.jobs.models import Job, Segment
from farm_core.jobs.status import JobStatus
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.storage.port import Storage
from farm_core.webhooks.models import Delivery
from scheduler.maintenance import storage_limits
from scheduler.maintenance.retention import BATCH, SegmentReaper
from scheduler.maintenance.storage_limits import ACCOUNT_FULL, DISK_FULL, StorageLimits
from scheduler.ports import AssemblyAssignment, Finished, SegmentAssignment, TaskAssignment
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import FarmUnderTest, farm, furnish, parts_for

pytestmark = pytest.mark.service

SEGMENT_BYTES = 7
"""Bytes of a segment of the workers in `farm.py`."""


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_limits, "EVERY_SECONDS", 0.02)
    monkeypatch.setattr(StorageLimits, "every_seconds", 0.02)
    monkeypatch.setattr(storage_limits, "SHARE", 1)


class Hold:
    """Hold of assignments, until it is released or they are stopped."""

    def __init__(self, *kinds: type[TaskAssignment], first_frame: int = 0) -> None:
        self._kinds = kinds
        self._first_frame = first_frame
        self._released = threading.Event()
        self._seen = set[str]()

    def __call__(self, assignment: TaskAssignment) -> bool:
        if not isinstance(assignment, self._kinds) or self._released.is_set():
            return False
        if isinstance(assignment, SegmentAssignment) and assignment.first_frame < self._first_frame:
            return False
        self._seen.add(assignment.job_id)
        return True

    def release(self) -> None:
        self._released.set()

    async def reached(self, *job_ids: str) -> None:
        async with asyncio.timeout(HANG_SECONDS):
            while not self._seen >= set(job_ids):  # noqa: ASYNC110 - workers are threads
                await asyncio.sleep(0.01)


def own_segments(storage: Storage) -> Callable[[TaskAssignment], Finished | None]:
    """Return the work of workers whose segments no two jobs share."""

    def execute(assignment: TaskAssignment) -> Finished | None:
        if not isinstance(assignment, SegmentAssignment):
            return None
        key = f"segments/{assignment.job_id}-{assignment.first_frame}.mp4"
        storage.put_bytes(key, b"segment")
        return Finished(assignment.token, "w0", key, "00", SEGMENT_BYTES, 0.01)

    return execute


async def limit(under_test: FarmUnderTest, spare_bytes: int) -> None:
    """Let acc_a store this many bytes more than now."""
    stored = "SELECT stored_bytes FROM account_queues WHERE account_id = 'acc_a'"
    async with under_test.database.work() as session:
        await session.execute(
            text(f"UPDATE accounts SET max_storage_bytes = ({stored}) + :spare WHERE id = 'acc_a'"),
            {"spare": spare_bytes},
        )


async def rounds(under_test: FarmUnderTest, number: int = 3) -> None:
    """Wait until the limits were checked."""
    for _ in range(number):
        under_test.scheduler.storage_limits.ticked.clear()
        await asyncio.wait_for(under_test.scheduler.storage_limits.ticked.wait(), HANG_SECONDS)


async def test_a_render_that_exceeds_the_storage_of_its_account_fails_and_others_go_on(
    database_url: str, tmp_path: Path
) -> None:
    hold = Hold(SegmentAssignment, first_frame=60)

    async with farm(database_url, tmp_path, workers=1, held_up=hold) as under_test:
        address = "http://127.0.0.1:9/hook"
        large = await under_test.create(seconds=10, callback_url=address)
        await hold.reached(large)
        await rounds(under_test)
        assert (await under_test.job(large)).status == JobStatus.processing, "the account has no limit"
        await limit(under_test, 2 * SEGMENT_BYTES)
        await rounds(under_test)
        assert (await under_test.job(large)).status == JobStatus.processing, "its segments are at the limit"
        await limit(under_test, 2 * SEGMENT_BYTES - 1)
        failed = await under_test.ended(large)
        assert (failed.status, failed.error) == ("failed", ACCOUNT_FULL)
        honest = await under_test.create(seconds=2, account_id="acc_b", width=640)
        assert (await under_test.ended(honest)).status == "completed"
        assert {task.status for task in await under_test.tasks(large)} == {"done", "withdrawn"}
        assert (await under_test.events(large)).count("fail") == 1
        async with under_test.database.reading() as session:
            bodies = list(await session.scalars(select(col(Delivery.body)).where(col(Delivery.job_id) == large)))
            reserved = await session.scalar(text("SELECT reserved_ms FROM account_queues WHERE account_id = 'acc_a'"))
        assert [(body["status"], body["error"]) for body in bodies] == [("failed", ACCOUNT_FULL)]
        assert reserved == 0
        assert await under_test.scheduler.segment_reaper.shrink(0) >= 2, "nothing protects its segments any more"


async def test_segments_that_renders_of_an_account_share_count_once(database_url: str, tmp_path: Path) -> None:
    hold = Hold(AssemblyAssignment)

    async with farm(database_url, tmp_path, workers=2, held_up=hold) as under_test:
        jobs = [await under_test.create(seconds=3) for _ in range(2)]
        await hold.reached(*jobs)
        await limit(under_test, 3 * SEGMENT_BYTES)
        await rounds(under_test)
        assert [(await under_test.job(job_id)).status for job_id in jobs] == [JobStatus.processing] * 2
        await limit(under_test, 9 * SEGMENT_BYTES)  # three segments, and both videos
        hold.release()
        assert [(await under_test.ended(job_id)).status for job_id in jobs] == ["completed"] * 2


async def test_of_several_renders_of_an_account_the_largest_fails(database_url: str, tmp_path: Path) -> None:
    hold, storage = Hold(AssemblyAssignment), LocalStorage(tmp_path / "storage", Links(b"secret"))
    work = own_segments(storage)

    async with farm(database_url, tmp_path, work, storage=storage, held_up=hold) as under_test:
        small = await under_test.create(seconds=2)
        large = await under_test.create(seconds=5, width=640)
        await hold.reached(small, large)
        await limit(under_test, 6 * SEGMENT_BYTES)
        assert (await under_test.ended(large)).error == ACCOUNT_FULL
        await rounds(under_test)
        hold.release()
        assert (await under_test.ended(small)).status == "completed"


class SmallDisk(LocalStorage):
    """Storage on a disk with room for `size` bytes of segments, of which `reserve` bytes are its reserve."""

    def __init__(self, folder: Path, size: int, reserve: int) -> None:
        super().__init__(folder, Links(b"secret"))
        self.size = size
        self.reserve = reserve

    def reserve_in_use(self) -> int:
        used = sum(stored.bytes for stored in self.listed("segments/"))
        return self.reserve if used > self.size - self.reserve else 0


async def cached(under_test: FarmUnderTest, key: str) -> None:
    """Store a segment that no job needs."""
    under_test.storage.put_bytes(key, b"segment")
    async with under_test.database.work() as session:
        session.add(Segment(key=key, bytes=SEGMENT_BYTES, used_at=datetime.now(UTC)))


async def test_a_render_that_takes_the_reserve_of_the_disk_fails_and_others_go_on(
    database_url: str, tmp_path: Path
) -> None:
    hold, storage = Hold(AssemblyAssignment), SmallDisk(tmp_path / "storage", 10 * SEGMENT_BYTES, 3 * SEGMENT_BYTES)
    work = own_segments(storage)

    async with farm(database_url, tmp_path, work, workers=3, storage=storage, held_up=hold) as under_test:
        await cached(under_test, "segments/unneeded.mp4")
        small = await under_test.create(seconds=2, account_id="acc_b")
        large = await under_test.create(seconds=5, width=640)
        await hold.reached(small, large)
        await rounds(under_test)
        assert not storage.exists("segments/unneeded.mp4")
        assert (await under_test.job(large)).status == JobStatus.processing, "without cached segments, all fits"
        further = await under_test.create(seconds=1, width=320)
        failed = await under_test.ended(large)
        assert (failed.status, failed.error) == ("failed", DISK_FULL)
        await rounds(under_test)
        assert not storage.reserve_in_use(), "its segments are deleted"
        hold.release()
        assert [(await under_test.ended(one)).status for one in (small, further)] == ["completed"] * 2


async def test_a_full_disk_fails_no_render_if_no_account_takes_much_of_it(database_url: str, tmp_path: Path) -> None:
    hold, storage = Hold(AssemblyAssignment), SmallDisk(tmp_path / "storage", 0, 3 * SEGMENT_BYTES)
    work = own_segments(storage)

    async with farm(database_url, tmp_path, work, storage=storage, held_up=hold) as under_test:
        jobs = [await under_test.create(seconds=3, account_id=f"acc_{name}") for name in "ab"]
        await hold.reached(*jobs)
        await rounds(under_test)
        hold.release()
        assert [(await under_test.ended(job_id)).status for job_id in jobs] == ["completed"] * 2


class Reserve(LocalStorage):
    """Storage on a disk whose reserve is in use, unless it is 0."""

    reserve = 1000

    def reserve_in_use(self) -> int:
        return self.reserve


async def test_renders_of_an_account_that_fills_the_disk_wait_for_its_reserve_and_others_go_on(
    database_url: str, tmp_path: Path
) -> None:
    storage = Reserve(tmp_path / "storage", Links(b"secret"))

    async with farm(database_url, tmp_path, storage=storage) as under_test:
        async with under_test.database.work() as session:
            charged = "INSERT INTO object_charges (account_id, key, bytes) VALUES ('acc_a', 'results/old.mp4', 1001)"
            await session.execute(text(charged))
        waiting = await under_test.create(seconds=1)
        further = await under_test.create(seconds=1, account_id="acc_b", width=640)
        assert (await under_test.ended(further)).status == "completed"
        assert (await under_test.job(waiting)).status == "queued"
        storage.reserve = 0
        assert (await under_test.ended(waiting)).status == "completed"


async def test_segments_go_although_running_jobs_need_all_of_the_oldest(database: Database, tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    dependencies = parts_for(database, storage, [], tmp_path, segment_cache_bytes=0)
    async with database.work() as session:
        values: dict[str, Any] = {
            "id": "job_busy",
            "template_id": "tpl",
            "status": "processing",
            "frame_count": 30,
            "reserved_ms": 1000,
        }
        session.add(
            Job(**values, account_id="acc_a", width=64, height=64, fps=30, origin="", request_hash="", inputs={})
        )
        await session.flush()
        await session.execute(text(NEEDED_SEGMENTS), {"number": 2 * BATCH})
        session.add(Segment(key="segments/unneeded.mp4", bytes=10, used_at=datetime.now(UTC)))
    assert await SegmentReaper(dependencies).tick() == 1
    async with database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(Segment)) == 2 * BATCH


NEEDED_SEGMENTS = """
    WITH needed AS (
        INSERT INTO segments (key, bytes, used_at) SELECT 'segments/' || n, 10, now() - interval '1 day' FROM generate_series(1, :number) AS n
        RETURNING key
    )
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at, segment_key)
    SELECT key, 'job_busy', row_number() OVER (), 'render', 0, 1, 'done', 1, now(), key FROM needed
"""
