"""Segments that share one GL context in turns have the same bytes as when rendered alone."""

from __future__ import annotations

import hashlib
import itertools
import threading
from pathlib import Path

import orjson
import pytest

from cluster.worker import turns
from cluster.worker.render_thread import RenderThread
from cluster.worker.segment_maker import SessionSegmentMaker
from cluster.worker.task_runner import TaskRunner
from farm_core.progress.writer import ProgressWriter
from farm_core.settings import Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from gpu_renderer.progress import Callbacks
from motion.bundle import read_document
from scheduler.ports import Ended, Finished, SegmentAssignment, VideoFormat
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.gl
ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = ("effects.motion", "lower-third.motion", "title-card.motion")
FRAMES = 12


@pytest.fixture
def frame_by_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SLICE_SECONDS", 0.0)


def assignments(storage: LocalStorage) -> list[SegmentAssignment]:
    """Return a segment of each of three accounts, two of them with equal sizes."""
    made = []
    for number, name in enumerate(DOCUMENTS):
        key = f"documents/{number}.json"
        storage.put_bytes(key, orjson.dumps(read_document((ROOT / "examples" / name).read_bytes())))
        size = ((320, 180), (320, 180), (200, 120))[number]
        video_format = VideoFormat(*size, 30, 60, None, 2)
        first = 10 * number
        made.append(
            SegmentAssignment(f"t{number}", f"t{number}", "j", key, {}, video_format, first, FRAMES, f"acc{number}")
        )
    return made


def render_segments(folder: Path, *, together: bool) -> list[str]:
    """Return the hashes of the rendered segments."""
    folder.mkdir()
    storage = LocalStorage(folder / "storage", Links(b"secret"))
    drawn: list[str] = []
    submitted = threading.Event()

    def make() -> TaskRunner:
        assert not together or submitted.wait(HANG_SECONDS)
        maker = SessionSegmentMaker(Settings(data_folder=folder, gl_software=True), raster_threads=0)
        return TaskRunner("w", maker, storage, folder)

    def may_pause(runner: TaskRunner) -> bool:
        return runner.maker.may_pause

    thread = RenderThread(make, ProgressWriter(None), lambda token, _: drawn.append(token), may_pause)
    results = []
    for assignment in assignments(storage):
        result = thread.submit(assignment)
        results.append(result)
        if not together:
            result.result(HANG_SECONDS)
    submitted.set()
    thread.join()
    one_by_one = [token for token, _ in itertools.groupby(drawn)] == ["t0", "t1", "t2"]
    assert one_by_one is not together, "they take turns, or they do not"
    reports = [result.result() for result in results]
    assert all(isinstance(report, Finished) for report in reports), reports
    return [hashlib.sha256(storage.get_bytes(report.key)).hexdigest() for report in reports]  # type: ignore[union-attr]


@pytest.mark.usefixtures("frame_by_frame")
def test_segments_that_were_paused_after_every_frame_have_the_same_bytes(tmp_path: Path) -> None:
    assert render_segments(tmp_path / "together", together=True) == render_segments(tmp_path / "alone", together=False)


def test_others_get_their_turn_between_the_frames_of_a_segment_that_is_looked_for_in_storage(tmp_path: Path) -> None:
    """All frames were evaluated at once. Thirty of 0.2 s kept a worker for 6 s: their account was slow, and its worker was restarted."""
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    maker = SessionSegmentMaker(Settings(data_folder=tmp_path, gl_software=True), raster_threads=0)
    runner = TaskRunner("w", maker, storage, tmp_path)
    assignment = assignments(storage)[0]
    boundaries = itertools.count()

    def execute(last: float) -> Finished | Ended:
        return runner.execute(assignment, Callbacks(should_stop=lambda: next(boundaries) >= last))

    assert isinstance(execute(float("inf")), Finished)
    boundaries = itertools.count()
    found = execute(float("inf"))
    assert isinstance(found, Finished) and found.cached
    assert next(boundaries) > FRAMES
    boundaries = itertools.count()
    assert isinstance(execute(FRAMES // 2), Ended)
