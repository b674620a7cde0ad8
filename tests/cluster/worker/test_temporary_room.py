"""Large temporary files of a worker leave the reserve of their disk to others."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.worker import temporary_room
from cluster.worker.failures import TOO_LARGE
from cluster.worker.segment_maker import SessionSegmentMaker
from cluster.worker.task_runner import TaskRunner
from farm_core.jobs.judge import DISK_RESERVED, FailureKind
from farm_core.jobs.receipt import RenderedJob
from farm_core.settings import Settings
from farm_core.storage import local
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from gpu_renderer.progress import Callbacks
from scheduler.isolation.rules import BLAMED
from scheduler.ports import AssemblyAssignment, Ended, Finished, SegmentAssignment, VideoFormat
from tests.cluster.worker.test_media_cache import segment
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.gl
PICTURES = VideoFormat(160, 90, 30, 30, None, 1.0, "png-sequence")
ROOM_BYTES = 20_000
SMALL_DISK = 100_000, (FailureKind.document, TOO_LARGE)
"""Size of a disk whose reserve is smaller than the files, and the failure of a task that takes it."""
LARGE_DISK = 10_000_000_000, (FailureKind.reserve, DISK_RESERVED)


class Disk:
    """Disk of temporary files that has no space left once the assignment's files are large."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch, self._usage = monkeypatch, shutil.disk_usage("/")
        monkeypatch.setattr(temporary_room, "ROOM_BYTES", ROOM_BYTES)

    def resize(self, total: int, free: int) -> None:
        self._patch.setattr(shutil, "disk_usage", lambda _: self._usage._replace(total=total, free=free))


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "storage", Links(b"secret"))


@pytest.fixture
def runner(tmp_path: Path, storage: LocalStorage) -> TaskRunner:
    maker = SessionSegmentMaker(Settings(data_folder=tmp_path, gl_software=True), raster_threads=0)
    return TaskRunner("w", maker, storage, tmp_path / "scratch")


def pictures(storage: LocalStorage, number: int, first_frame: int = 0, frame_count: int = 15) -> SegmentAssignment:
    """Render frames of noise as pictures."""
    assignment = segment(storage, number, first_frame)
    return replace(assignment, video_format=PICTURES, frame_count=frame_count)


def failure(report: Finished | Ended) -> tuple[FailureKind, str]:
    assert isinstance(report, Ended), report
    assert report.failure is not None
    return report.failure.kind, report.failure.public_message


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(("total", "expected"), [SMALL_DISK, LARGE_DISK])
def test_a_segment_that_takes_the_reserve_ends_and_names_the_reason_or_waits(
    tmp_path: Path, storage: LocalStorage, runner: TaskRunner, monkeypatch: pytest.MonkeyPatch,
    total: int, expected: tuple[FailureKind, str],
) -> None:  # fmt: skip
    disk, assignment = Disk(monkeypatch), pictures(storage, 0, frame_count=30)
    written = tmp_path / "scratch" / f"{assignment.token}.zip"

    def frame_done(count: int) -> None:
        if count == 20:
            deadline = time.monotonic() + HANG_SECONDS
            while temporary_room.used_bytes(written) <= ROOM_BYTES:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            disk.resize(total, 1000)

    assert failure(runner.execute(assignment, Callbacks(frame_done))) == expected
    assert files_of(tmp_path / "scratch") == [], "its files are gone, and so are cached ones"


def test_a_segment_that_takes_the_reserve_alone_is_tried_again_names_the_reason_and_blames_no_worker(
    tmp_path: Path, storage: LocalStorage, runner: TaskRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment, usage = pictures(storage, 0, frame_count=30), shutil.disk_usage("/")
    written = tmp_path / "scratch" / f"{assignment.token}.zip"
    monkeypatch.setattr(temporary_room, "ROOM_BYTES", ROOM_BYTES)
    monkeypatch.setattr(
        shutil, "disk_usage", lambda _: usage._replace(total=10**10, free=1000 if written.exists() else 2 * 10**9)
    )

    def frame_done(count: int) -> None:
        deadline = time.monotonic() + HANG_SECONDS
        while count == 20 and temporary_room.used_bytes(written) <= ROOM_BYTES:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    assert failure(runner.execute(assignment, Callbacks(frame_done))) == (FailureKind.space, TOO_LARGE)
    assert FailureKind.space not in BLAMED


@pytest.mark.parametrize(("total", "expected"), [SMALL_DISK, LARGE_DISK])
def test_an_assembly_that_would_take_the_reserve_ends_before_it_writes_the_video(
    tmp_path: Path, storage: LocalStorage, runner: TaskRunner, monkeypatch: pytest.MonkeyPatch,
    total: int, expected: tuple[FailureKind, str],
) -> None:  # fmt: skip
    keys = []
    for first_frame in (0, 15):
        done = runner.execute(pictures(storage, 0, first_frame))
        assert isinstance(done, Finished), done
        keys.append(done.key)
    job = RenderedJob("j", "r", 160, 90, 30, 30, "frozen/0.json", {}, {}, ())
    assembly = AssemblyAssignment(
        "a", "a", "j", tuple(keys), PICTURES, "results/a.zip", job, document_key="frozen/0.json"
    )
    Disk(monkeypatch).resize(total, 1000)
    assert failure(runner.execute(assembly)) == expected
    assert files_of(tmp_path / "scratch") == []
    assert not storage.exists("results/a.zip")


@pytest.mark.parametrize(("total", "expected"), [SMALL_DISK, LARGE_DISK])
def test_media_that_take_the_reserve_end_their_segment_but_those_of_others_make_room(
    tmp_path: Path, storage: LocalStorage, runner: TaskRunner, monkeypatch: pytest.MonkeyPatch,
    total: int, expected: tuple[FailureKind, str],
) -> None:  # fmt: skip
    assert isinstance(runner.execute(segment(storage, 0, 0)), Finished)
    assert "0.png" in files_of(tmp_path / "scratch")
    disk = Disk(monkeypatch)
    disk.resize(total, 1000)
    assert failure(runner.execute(segment(storage, 1, 0))) == expected
    assert files_of(tmp_path / "scratch") == []
    monkeypatch.setattr(temporary_room, "ROOM_BYTES", 1_000_000)
    assert isinstance(runner.execute(segment(storage, 2, 0)), Finished), "it is small"


def test_a_segment_that_the_storage_has_no_room_for_says_so(
    storage: LocalStorage, runner: TaskRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that storage could not be reached."""
    assignment, usage = pictures(storage, 0), shutil.disk_usage("/")
    monkeypatch.setattr(local, "ROOM_BYTES", ROOM_BYTES)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(total=10**10, free=4 * 10**8))
    done = runner.execute(assignment)
    assert failure(done) == (FailureKind.reserve, DISK_RESERVED)
