"""A disk that is too small, or fills while the farm runs. Each farm has its own file system in a namespace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from cluster.local.ray_head import free_port
from tests.acceptance.farm import ROOT
from tests.patience import HANG_SECONDS

MOUNTED = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"'
FARM = (sys.executable, "-m", "farm_core")


def _words(folder: Path, size: str, *words: str) -> list[str]:
    """Return a farm command that sees a file system of the given size in place of the folder."""
    return [*_namespace(), "sh", "-c", MOUNTED, "sh", size, str(folder), *FARM, *words]


def _namespace() -> list[str]:
    return ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]


@pytest.fixture(autouse=True)
def _namespaces(tmp_path: Path) -> None:
    probe = subprocess.run(_words(tmp_path, "1m", "--version"), cwd=ROOT, capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("file systems cannot be mounted here")


@pytest.mark.parametrize(("change", "reason"), [("nr_inodes=50", "has room for"), ("ro", "is read-only")])
def test_a_disk_that_takes_no_more_files_is_a_store_without_room(tmp_path: Path, change: str, reason: str) -> None:
    checked = "import sys, pathlib; from farm_core.storage import local, links\n"
    checked += "local.LocalStorage(pathlib.Path(sys.argv[1]), links.Links(b'')).check()"
    script = 'mount -t tmpfs -o size=100m none "$1" && $2 && mount -o remount,"$3" "$1" && $2'
    script = script.replace("$2", f'{sys.executable} -c "$2" "$1"')
    words = [*_namespace(), "sh", "-c", script, "sh", str(tmp_path), checked, change]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert f"the disk of {tmp_path}/objects {reason}" in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("command", [("up",), ("account", "create", "ada"), ("demo",)])
def test_a_disk_that_is_too_small_is_named_with_what_is_needed(tmp_path: Path, command: tuple[str, ...]) -> None:
    words = _words(tmp_path, "20m", *command, "--data", str(tmp_path / "data"))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"farm: the disk of {tmp_path}")
    assert "has 21 MB free, and at least 100 MB are needed. Free some space" in line


@pytest.mark.parametrize("command", ["up", "demo"])
def test_a_read_only_folder_is_named_with_the_options_that_name_another(tmp_path: Path, command: str) -> None:
    place, option = ("data", "--data") if command == "up" else ("out/demo.mp4", "-o")
    words = _words(tmp_path, "20m,ro", command, option, str(tmp_path / place))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"farm: {tmp_path / place} cannot ")
    assert option in line


def test_a_demo_whose_video_would_be_a_folder_says_so_before_it_starts_the_farm(tmp_path: Path) -> None:
    words = [*FARM, "demo", "-o", str(tmp_path), "--data", str(tmp_path / "data")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"farm: {tmp_path} is a folder. Name a file with -o, such as {tmp_path}/demo.mp4.\n"
    assert not (tmp_path / "data").exists()


@contextmanager
def _running(folder: Path, port: int, ray: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Yield a farm without workers on a small disk, and its log."""
    environment = {**os.environ, "RAY_ADDRESS": ray, "TMPDIR": tempfile.gettempdir()}
    environment.pop("DATABASE_URL", None)
    log = folder.with_name("up.log")
    words = _words(folder, "500m", "up", "--port", str(port), "--data", str(folder / "data"))
    with log.open("w") as output, subprocess.Popen(words, cwd=ROOT, env=environment, stderr=output, text=True) as up:
        try:
            yield up, log
        finally:
            up.send_signal(signal.SIGTERM)
            up.wait(HANG_SECONDS)


def _filled(path: Path) -> None:
    """Write a file that takes all remaining space."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 20))


def _appears(text: str, log: Path, up: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + HANG_SECONDS
    while text not in log.read_text():
        assert up.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


def _has_room(port: int) -> bool:
    """Return the state of storage in `/api/ready`, once the API answers."""
    deadline = time.monotonic() + HANG_SECONDS
    while True:
        try:
            return bool(httpx.get(f"http://127.0.0.1:{port}/api/ready", timeout=10).json()["checks"]["storage"])
        except httpx.TransportError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.mark.slow
def test_the_farm_says_once_that_its_disk_fills_and_once_that_it_has_space_again(tmp_path: Path, deaf_ray: str) -> None:
    port = free_port()
    folder = tmp_path / "disk"
    folder.mkdir()
    with _running(folder, port, deaf_ray) as (up, log):
        inside = Path(f"/proc/{up.pid}/root{folder}")
        deadline = time.monotonic() + HANG_SECONDS
        while not (inside / "data" / "postgres" / "PG_VERSION").exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        ballast = inside / "ballast"
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, 350_000_000)
        _appears("the disk is nearly full", log, up)
        assert _has_room(port)
        _filled(inside / "rest")
        assert not _has_room(port)
        (inside / "rest").unlink()
        assert _has_room(port)
        ballast.unlink()
        _appears("the disk has space again", log, up)
    assert log.read_text().count("the disk is nearly full") == 1
