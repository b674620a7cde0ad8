"""Sandbox of the render thread: everything that rendering needs works, and everything else is denied."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cluster.worker import render_sandbox
from cluster.worker.render_thread import RenderThread
from cluster.worker.segment_maker import SessionSegmentMaker
from cluster.worker.task_runner import TaskRunner
from farm_core import landlock
from farm_core.progress.writer import ProgressWriter
from farm_core.settings import ROOT, Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.ports import Finished
from tests.cluster.worker.test_paused_segments import assignments
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.skipif(landlock.version() == 0, reason="the kernel has no Landlock")


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    made = {name: tmp_path / name for name in ("data", "scratch", "elsewhere")}
    for folder in made.values():
        folder.mkdir()
    (made["data"] / "jwt-secret").write_text("secret")
    (made["elsewhere"] / "file").write_text("private")
    return made


def inside(places: dict[str, Path], act: Callable[[], Any], **settings: Any) -> Any:
    """Return what `act` returns or raises on a thread in the sandbox."""
    outcome: list[Any] = []

    def run() -> None:
        assert render_sandbox.enter(Settings(data_folder=places["data"], **settings), places["scratch"])
        try:
            outcome.append(act())
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return outcome[0]


@pytest.mark.parametrize("name", ["data/jwt-secret", "elsewhere/file"])
def test_files_outside_are_out_of_reach(places: dict[str, Path], tmp_path: Path, name: str) -> None:
    assert isinstance(inside(places, (tmp_path / name).read_text), PermissionError)
    assert (tmp_path / name).read_text(), "other threads are not restricted"


def test_a_data_folder_inside_a_folder_that_is_read_stays_out_of_reach(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = places["elsewhere"]
    held = program / ".farm"
    held.mkdir()
    (held / "jwt-secret").write_text("secret")
    (program / ".env").write_text("DATABASE_URL=x")
    monkeypatch.setattr(render_sandbox, "ROOT", program)
    within = {**places, "data": held}
    assert inside(within, (program / "file").read_text) == "private"
    for name in (".farm/jwt-secret", ".env"):
        assert isinstance(inside(within, (program / name).read_text), PermissionError)


def test_other_processes_are_out_of_reach(places: dict[str, Path]) -> None:
    assert isinstance(inside(places, Path("/proc/1/environ").read_bytes), PermissionError)


def test_nothing_is_written_but_scratch_and_storage(places: dict[str, Path]) -> None:
    assert inside(places, lambda: (places["scratch"] / "a").write_text("x")) == 1
    assert inside(places, lambda: (places["data"] / "storage" / "a").write_text("x")) == 1
    assert isinstance(inside(places, lambda: (places["elsewhere"] / "a").write_text("x")), PermissionError)
    assert isinstance(inside(places, lambda: (ROOT / "a").write_text("x")), PermissionError)


@pytest.mark.skipif(landlock.version() < 4, reason="the kernel's Landlock knows no ports")
def test_only_storage_can_be_connected_to(places: dict[str, Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()

        def connect() -> bool:
            with socket.create_connection(address, HANG_SECONDS):
                return True

        assert isinstance(inside(places, connect), PermissionError)
        store = {"s3_bucket": "videos", "s3_endpoint_url": f"http://127.0.0.1:{address[1]}"}
        assert inside(places, connect, **store) is True


@pytest.mark.gl
def test_drawing_encoding_and_storing_work_in_the_sandbox_with_the_same_bytes(places: dict[str, Path]) -> None:
    storage = LocalStorage(places["data"] / "storage", Links(b"secret"))
    settings = Settings(data_folder=places["data"], gl_software=True)

    def make() -> TaskRunner:
        runner = TaskRunner("w", SessionSegmentMaker(settings, raster_threads=0), storage, places["scratch"])
        assert render_sandbox.enter(settings, places["scratch"])
        return runner

    def free() -> TaskRunner:
        return TaskRunner("w", SessionSegmentMaker(settings, raster_threads=0), storage, places["scratch"])

    hashes = []
    for how in (make, free):
        thread = RenderThread(how, ProgressWriter(None))
        report = thread.submit(assignments(storage)[1]).result(120)
        thread.join()
        assert isinstance(report, Finished), report
        hashes.append(hashlib.sha256(storage.get_bytes(report.key)).hexdigest())
        storage.delete(report.key)
    assert hashes[0] == hashes[1]


def test_the_fonts_of_an_installation_can_be_read(
    places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fonts = tmp_path / "fonts"
    fonts.mkdir()
    (fonts / "face.otf").write_text("outlines")
    monkeypatch.setattr(render_sandbox, "fonts_folder", lambda: fonts)
    assert inside(places, (fonts / "face.otf").read_text) == "outlines"
