"""The first start of `./farm`, where the package index cannot be reached."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.thorough
def test_a_first_start_without_an_index_says_so_and_goes_on_from_what_was_left_half_made(tmp_path: Path) -> None:
    project = _clone(tmp_path / "the farm's folder")
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "python").symlink_to("/none/python3")
    environment = os.environ | {"PIP_NO_INDEX": "1"}
    done = subprocess.run(
        [project / "farm", "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "farm: the dependencies could not be installed" in done.stderr.splitlines()[-1]
    assert (project / ".venv" / "bin" / "pip").exists()


def test_archives_are_unpacked_without_an_argument_that_the_python_of_debian_12_lacks() -> None:
    sources = [
        path
        for room in ("cluster", "farm_core", "gpu_renderer", "api", "scheduler")
        for path in (ROOT / room).rglob("*.py")
    ]
    assert [path for path in sources if re.search(r"\.extract(all)?\([^)]*filter=", path.read_text())] == []


def test_a_python_that_is_too_old_is_named_with_what_to_install(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("python3", "python3.14", "python3.13", "python3.12", "python3.11"):
        (tools / name).write_text("#!/bin/sh\nexit 1\n")  # answers the question for 3.11 as an older one does
        (tools / name).chmod(0o755)
    project = _clone(tmp_path / "farm")
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run([project / "farm", "up"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "farm: Python 3.11 or newer is needed, and was not found."
    assert not (project / ".venv").exists()


def _clone(project: Path) -> Path:
    """What a first start reads of the project."""
    for name in ("farm", "requirements.lock", "cluster/setup/setup.sh", "gpu_renderer/content/text/packages.json"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    shutil.copytree(ROOT / "native", project / "native")
    return project
