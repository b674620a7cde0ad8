"""`docs/quickstart.md`, run as written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.api import media
from tests.api.world import World

pytestmark = pytest.mark.service
ROOT = Path(__file__).resolve().parents[2]
BLOCKS = dict(re.findall(r"^```(bash|python|js)\n(.*?)^```", (ROOT / "docs/quickstart.md").read_text(), re.M | re.S))


@pytest.fixture
def rendering(own_world: World) -> Iterator[World]:
    """A farm whose renders end by themselves: what a scheduler would leave is put in its place."""
    video = media.video("mp4", "libx264")
    folder = own_world.settings.data_folder / "storage" / "objects" / "results"
    folder.mkdir(parents=True)
    ended = threading.Event()

    def render() -> None:
        with psycopg.connect(str(own_world.settings.database_url), autocommit=True) as connection:
            while not ended.wait(0.2):
                for (job_id,) in connection.execute("SELECT id FROM jobs WHERE status = 'queued'").fetchall():
                    (folder / f"{job_id}.mp4").write_bytes(video)
                    own_world.move(job_id, "completed", video_key=f"results/{job_id}.mp4", progress=100)

    thread = threading.Thread(target=render)
    thread.start()
    yield own_world
    ended.set()
    thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder of a reader: the project's root has the examples."""
    place = tmp_path / "place"
    place.mkdir()
    (place / "examples").symlink_to(ROOT / "examples")
    return place


def run(command: list[str], text: str, folder: Path, **environment: str) -> None:
    done = subprocess.run(
        command, input=text, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=60
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_blocks_for_curl_python_and_node_end_with_an_mp4(rendering: World, folder: Path) -> None:
    ada = rendering.account()
    farm = f"{rendering.origin}/api/v1"
    run(["bash", "-eu"], BLOCKS["bash"], folder, FARM=farm, TOKEN=ada.headers["Authorization"].removeprefix("Bearer "))
    key = ada.new_key().headers["Authorization"].removeprefix("Bearer ")
    run([sys.executable, "-"], BLOCKS["python"], folder, FARM=farm, KEY=key)
    made = ["hello-curl.mp4", "hello-python.mp4"]
    if node := shutil.which("node"):
        run([node, "--input-type=module", "-"], BLOCKS["js"], folder, FARM=farm, KEY=key)
        made.append("hello-node.mp4")
    for name in made:
        assert (folder / name).read_bytes() == media.video("mp4", "libx264"), name
