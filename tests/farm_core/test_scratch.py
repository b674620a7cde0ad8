"""Scratch folders are removed after their process ends, however it ends."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from farm_core.scratch import PREFIX, Scratch

HOLDER = """
import sys, tempfile
from pathlib import Path
from farm_core.scratch import Scratch
scratch = Scratch(sys.argv[1])
(scratch.path / "media").mkdir()
(scratch.path / "media" / "clip.mp4").write_bytes(b"video")
print(scratch.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Yield a system folder for temporary files that only this test uses."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def holder(kind: str) -> tuple[subprocess.Popen[str], Path]:
    """Start a process with a scratch folder; yield it with the folder's path."""
    command = [sys.executable, "-c", HOLDER, kind]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_scratch_folder_holds_the_temporary_files_of_its_process_and_is_removed_with_it(temporary: Path) -> None:
    with Scratch("worker") as folder:
        with tempfile.NamedTemporaryFile(delete=False) as file:
            pass
        assert Path(file.name).parent == folder
        assert folder.parent == temporary
    assert list(temporary.iterdir()) == []
    assert tempfile.gettempdir() == str(temporary)


def test_the_next_process_removes_folders_of_killed_ones_and_keeps_those_in_use(temporary: Path) -> None:
    killed, left = holder("worker")
    living, held = holder("worker")
    other, of_another_kind = holder("scheduler")
    with killed, living, other:
        killed.kill()
        other.kill()
        killed.wait()
        other.wait()
        with Scratch("worker"):
            assert not left.exists()
            assert (held / "media" / "clip.mp4").read_bytes() == b"video"
            assert of_another_kind.exists()
        living.kill()
        living.wait()
    with Scratch("worker"):
        assert not held.exists()


def test_nothing_of_others_is_touched(temporary: Path) -> None:
    beside = temporary / f"{PREFIX}worker-notes.txt"
    beside.write_text("mine")
    with Scratch("worker"):
        pass
    assert beside.read_text() == "mine"
