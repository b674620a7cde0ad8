"""Media cache on a worker's disk: its size is bounded, and it keeps the media of open documents."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
from pathlib import Path

import av
import numpy as np
import orjson
import pytest
from PIL import Image
from structlog.testing import capture_logs

from cluster.worker.failures import failure_of
from cluster.worker.segment_maker import OPENED_MAX, SessionSegmentMaker
from cluster.worker.task_runner import TaskRunner
from farm_core.jobs.judge import FailureKind
from farm_core.settings import Settings
from farm_core.storage import disk_space
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from gpu_renderer.content.media import sound_file
from scheduler.ports import Ended, Finished, SegmentAssignment, VideoFormat
from tests.gpu_renderer.documents import document, layer, track
from tests.gpu_renderer.test_sound import RATE, sine, write_wave

VIDEO = VideoFormat(64, 36, 30, 30, None, 1.0)


def picture(seed: int) -> bytes:
    """A PNG of noise, about 190 kB."""
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (250, 250, 3), np.uint8)).save(file, "PNG")
    return file.getvalue()


def segment(storage: LocalStorage, number: int, first_frame: int) -> SegmentAssignment:
    """Render two frames of a document that shows its own picture."""
    name, token = f"media/{number}.png", f"t{number}.{first_frame}"
    source = f"https://example.com/{number}.png"
    shown = document(layer("a", __kind="image", width=60, height=30, src=source), a=track("x", (0, 20), (1, 40)))
    storage.put_bytes(name, picture(number))
    storage.put_bytes(f"frozen/{number}.json", orjson.dumps(shown))
    return SegmentAssignment(token, token, "j", f"frozen/{number}.json", {source: name}, VIDEO, first_frame, 2)


@pytest.mark.gl
def test_a_worker_deletes_old_media_above_its_budget_but_none_of_open_documents(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    maker = SessionSegmentMaker(Settings(data_folder=tmp_path, gl_software=True), raster_threads=0)
    runner = TaskRunner("w", maker, storage, tmp_path / "scratch", media_bytes_max=300_000)

    def rendered(number: int, first_frame: int) -> Finished:
        report = runner.execute(segment(storage, number, first_frame))
        assert isinstance(report, Finished), report
        assert (report.cached, report.warnings) == (False, ())
        return report

    for number in range(OPENED_MAX + 4):
        rendered(number, 0)
    kept = sorted(path.name for path in (tmp_path / "scratch" / "media").glob("*.png"))
    assert kept == [f"{number}.png" for number in range(4, OPENED_MAX + 4)]
    for number in (4, 0):
        rendered(number, 2)


@pytest.mark.gl
def test_a_worker_closes_idle_documents_whose_sound_takes_too_much_of_its_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    write_wave(tmp_path / "a.wav", np.random.default_rng(1).uniform(-1, 1, 2 * RATE))
    storage.put_bytes("media/a.wav", (tmp_path / "a.wav").read_bytes())
    tone, square = layer("tone", __kind="audio"), layer("square", __kind="shape", width=60, height=30)
    tone["components"].append(
        {"id": "a", "type": "Audio", "props": {"__assetId": "a", "__src": "a.wav", "__duration": 1}}
    )
    waveform = {"sourceLayerId": "tone", "mode": "playhead-window", "windowSec": 0.1}
    square["components"].append({"id": "fx", "type": "fx", "props": {"audioWaveform": waveform}})
    maker = SessionSegmentMaker(Settings(data_folder=tmp_path, gl_software=True), raster_threads=0)
    runner = TaskRunner("w", maker, storage, tmp_path / "scratch")
    monkeypatch.setattr("cluster.worker.segment_maker.SOUND_BYTES_MAX", 2 * RATE * 4)

    def held_after(number: int) -> int:
        """Render a document, and return the number of scratch files that take space."""
        key = f"frozen/{number}.json"
        storage.put_bytes(key, orjson.dumps(document(tone, {**square, "name": f"Square {number}"})))
        assignment = SegmentAssignment("t", "t", "j", key, {"a.wav": "media/a.wav"}, VIDEO, 0, 2)
        report = runner.execute(assignment)
        assert isinstance(report, Finished), report
        assert report.warnings == ()
        return sum("/analysed-" in line for line in Path("/proc/self/maps").read_text().splitlines())

    assert [held_after(number) for number in (1, 2, 3, 4, 3)] == [1, 2, 2, 2, 2]


@pytest.mark.gl
def test_a_worker_logs_once_a_minute_that_storage_is_away(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    runner = TaskRunner(
        "w", SessionSegmentMaker(Settings(data_folder=tmp_path, gl_software=True)), storage, tmp_path / "scratch"
    )
    waiting = [segment(storage, number, 0) for number in range(4)]
    shutil.rmtree(tmp_path / "storage" / "partial")
    (tmp_path / "storage" / "partial").touch()  # the disk has no room
    storage.delete("frozen/0.json")
    with capture_logs() as lines:
        reports = [runner.execute(one) for one in (*waiting, waiting[0])]
    kinds = [report.failure.kind for report in reports if isinstance(report, Ended)]
    assert kinds == ["missing", "store", "store", "store", "missing"]
    assert [line["task"] for line in lines if line["event"] == "assignment failed"] == ["t0.0", "t1.0", "t0.0"]


@pytest.mark.gl
@pytest.mark.parametrize("damaged", ["document", "picture"])
def test_an_object_whose_bytes_have_changed_is_missing_and_no_worker_is_to_blame(tmp_path: Path, damaged: str) -> None:
    """A changed byte of a document is another video, or an error of the worker; one of a picture is damage in the video."""
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    runner = TaskRunner(
        "w", SessionSegmentMaker(Settings(data_folder=tmp_path, gl_software=True)), storage, tmp_path / "scratch"
    )
    source, image = "https://example.com/a.png", picture(0)
    shown = orjson.dumps(document(layer("a", __kind="image", width=60, height=30, src=source)))
    keys = {
        "document": f"frozen/{hashlib.sha256(shown).hexdigest()}.json",
        "picture": f"media/{hashlib.sha256(image).hexdigest()}.png",
    }
    for key, data in zip(keys.values(), (shown, image), strict=True):
        storage.put_bytes(key, data)
    changed = bytearray(storage.get_bytes(keys[damaged]))
    changed[len(changed) // 2] ^= 1
    storage.put_bytes(keys[damaged], bytes(changed))
    report = runner.execute(SegmentAssignment("t", "t", "j", keys["document"], {source: keys["picture"]}, VIDEO, 0, 2))
    assert isinstance(report, Ended), report
    assert report.failure.kind is FailureKind.missing
    assert [storage.exists(key) for key in keys.values()] == [name != damaged for name in keys]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.EDQUOT, "Disk quota exceeded"), FailureKind.store),
        (OSError(errno.EROFS, "Read-only file system"), FailureKind.store),
        (OSError(errno.EIO, "Input/output error"), FailureKind.store),
        (av.error.OSError(errno.EIO, "Input/output error"), FailureKind.crash),
    ],
)
def test_a_disk_over_quota_or_broken_is_no_fault_of_a_segment_but_a_damaged_file_is(
    monkeypatch: pytest.MonkeyPatch, error: OSError, kind: FailureKind
) -> None:
    def over_quota(*_: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "posix_fallocate", over_quota)  # the disk has free space, but not for this process's user
    assert failure_of(error, "w").kind is kind


@pytest.mark.parametrize(
    ("free_bytes", "kind"), [(900_000_000, FailureKind.reserve), (2_000_000_000, FailureKind.space)]
)
def test_a_disk_without_its_reserve_is_no_fault_of_a_long_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_bytes: int, kind: FailureKind
) -> None:
    path, usage = write_wave(tmp_path / "a.wav", sine(1000, 3.0)), shutil.disk_usage(tmp_path)
    monkeypatch.setattr(sound_file, "CHECKED_BYTES", 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(total=20_000_000_000, free=800_000_000))
    with pytest.raises(OSError, match="No space left") as found:
        sound_file.decoded(path, tmp_path / "scratch", 0.0, float("inf"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(total=20_000_000_000, free=free_bytes))
    assert failure_of(found.value, "w").kind is kind


@pytest.mark.gl
@pytest.mark.parametrize(("needed_bytes", "kind"), [(1 << 60, FailureKind.store), (0, FailureKind.crash)])
def test_a_full_disk_is_no_fault_of_a_segment_that_did_not_fill_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needed_bytes: int, kind: FailureKind
) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    settings = Settings(data_folder=tmp_path, gl_software=True)
    runner = TaskRunner("w", SessionSegmentMaker(settings, raster_threads=0), storage, tmp_path / "scratch")
    assignment = segment(storage, 0, 0)
    (tmp_path / "scratch" / f"{assignment.token}.mp4").symlink_to("/dev/full")
    monkeypatch.setattr(disk_space, "ROOM_BYTES", needed_bytes)
    report = runner.execute(assignment)
    assert isinstance(report, Ended), report
    assert report.failure.kind is kind
