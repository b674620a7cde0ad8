"""Run the quickstart, a recipe and the Python client's example as written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psycopg
import pytest

from farm_core.long_steps import repeating
from tests.api import media
from tests.api.world import ALL_SCOPES, Someone, World, text_template
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service
ROOT = Path(__file__).resolve().parents[2]
BLOCKS = dict(re.findall(r"^```(bash|python|js)\n(.*?)^```", (ROOT / "docs/quickstart.md").read_text(), re.M | re.S))

# These tests run shell blocks as readers do. They are skipped on machines without the needed programs, which the farm
# does not need and no Python package brings.
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="runs the blocks for curl, which is not installed")
needs_jq = pytest.mark.skipif(
    shutil.which("jq") is None, reason="runs a step for GitHub with jq, which is not installed"
)


@pytest.fixture
def rendering(own_world: World) -> Iterator[World]:
    """Yield a farm whose renders end by themselves, with the rows that a scheduler would write."""
    video = media.video("mp4", "libx264")
    folder = own_world.settings.data_folder / "storage" / "objects" / "results"
    folder.mkdir(parents=True)

    def complete(job_id: str) -> None:
        (folder / f"{job_id}.mp4").write_bytes(video)
        own_world.move(job_id, "completed", video_key=f"results/{job_id}.mp4", progress=100)

    with each_queued(own_world, complete):
        yield own_world


@pytest.fixture
def failing(own_world: World) -> Iterator[World]:
    """Yield a farm where every render fails."""
    with each_queued(own_world, lambda job_id: own_world.move(job_id, "failed", error="The logo is no picture.")):
        yield own_world


@contextmanager
def each_queued(world: World, end: Callable[[str], None]) -> Iterator[None]:
    """End every queued job until the block ends."""
    with psycopg.connect(str(world.settings.database_url), autocommit=True) as connection:

        def work() -> None:
            for (job_id,) in connection.execute("SELECT id FROM jobs WHERE status = 'queued'").fetchall():
                end(job_id)

        with repeating(work, 0.2):
            yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder of a reader: the project's root, which has the examples."""
    place = tmp_path / "place"
    place.mkdir()
    (place / "examples").symlink_to(ROOT / "examples")
    return place


def run(command: list[str], text: str, folder: Path, status: int = 0, /, **environment: str) -> str:
    """Run a program from standard input; return its output."""
    done = subprocess.run(
        command, input=text, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def token_of(someone: Someone) -> str:
    return someone.headers["Authorization"].removeprefix("Bearer ")


@needs_curl
def test_the_blocks_for_curl_python_and_node_end_with_an_mp4(rendering: World, folder: Path) -> None:
    ada = rendering.account()
    farm = f"{rendering.origin}/api/v1"
    run(["bash", "-eu"], BLOCKS["bash"], folder, FARM=farm, TOKEN=token_of(ada))
    key = token_of(ada.new_key())
    run([sys.executable, "-"], BLOCKS["python"], folder, FARM=farm, KEY=key)
    run([sys.executable, "-"], BLOCKS["python"], folder, FARM=farm, KEY=key)  # a second run creates another render
    made = ["hello-curl.mp4", "hello-python.mp4"]
    if node := shutil.which("node"):
        run([node, "--input-type=module", "-"], BLOCKS["js"], folder, FARM=farm, KEY=key)
        made.append("hello-node.mp4")
    for name in made:
        assert (folder / name).read_bytes() == media.video("mp4", "libx264"), name


@needs_curl
def test_the_blocks_end_with_the_reason_if_a_render_fails_or_the_token_is_wrong(failing: World, folder: Path) -> None:
    farm = f"{failing.origin}/api/v1"
    shell = ["bash", "-eu", "-o", "pipefail"]
    assert "409" in run(shell, BLOCKS["bash"], folder, 22, FARM=farm, TOKEN=token_of(failing.account()))
    assert "401" in run(shell, BLOCKS["bash"], folder, 22, FARM=farm, TOKEN="wrong")
    key = token_of(failing.account().new_key(ALL_SCOPES))
    printed = run([sys.executable, "-"], BLOCKS["python"], folder, 1, FARM=farm, KEY=key)
    assert "failed: The logo is no picture." in printed and "Traceback" not in printed


def step_for_github() -> str:
    page = (ROOT / "docs/recipes/github-actions.md").read_text()
    return textwrap.dedent(re.findall(r"run: \|\n(.*?)\n      - name: Attach", page, re.S)[0])


@needs_curl
@needs_jq
def test_the_step_for_github_outlasts_a_farm_that_is_away(folder: Path) -> None:
    asked: set[str] = set()

    class Away(BaseHTTPRequestHandler):
        """Answer the first request for each path with 503."""

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, body = 503, b'{"message": "The farm is away."}'
            if self.path in asked:
                status, body = 200, b'{"jobId": "job_1", "status": "completed"}'
            asked.add(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"video" if status == 200 and self.path.endswith("/download") else body)

        def do_POST(self) -> None:
            self.do_GET()

    with ThreadingHTTPServer(("127.0.0.1", 0), Away) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        names = {"KEY": "k", "TEMPLATE": "tpl_1", "TAG": "v1", "GITHUB_RUN_ID": "778", "GITHUB_RUN_ATTEMPT": "1"}
        run(["bash", "-e"], step_for_github(), folder, FARM=f"http://127.0.0.1:{server.server_port}", **names)
    assert (folder / "release.mp4").read_bytes() == b"video"


@needs_curl
@needs_jq
def test_the_step_for_github_renders_or_ends_with_the_answer(rendering: World, folder: Path) -> None:
    step = step_for_github()
    assert "${{" not in step, "what a caller can name, such as a tag, must not become code of the shell"
    ada = rendering.account()
    template = text_template(ada)
    names = {
        "FARM": f"{rendering.origin}/api/v1", "KEY": token_of(ada.new_key()), "TAG": "v1$(touch pwned)", "GITHUB_RUN_ID": "778",
    }  # fmt: skip
    run(["bash", "-e"], step, folder, TEMPLATE=template, GITHUB_RUN_ATTEMPT="1", **names)
    assert (folder / "release.mp4").read_bytes() == media.video("mp4", "libx264")
    refused = run(["bash", "-e"], step, folder, 1, TEMPLATE=ada.template(), GITHUB_RUN_ATTEMPT="2", **names)
    assert '"field":"photo","message":"is required"' in refused
    run(["bash", "-e"], step, folder, TEMPLATE=template, GITHUB_RUN_ATTEMPT="3", **names)
    assert ada.get("/renders").json()["total"] == 2, "each attempt renders anew"


def test_the_example_of_the_python_client_ends_with_an_mp4(rendering: World, folder: Path) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "clients/python/README.md").read_text(), re.S)
    for name in ("title-card.motion", "media/logo.png"):
        shutil.copy(ROOT / "examples" / name, folder)
    key = token_of(rendering.account().new_key(ALL_SCOPES))
    told = block.replace("http://127.0.0.1:8000", rendering.origin).replace("pm_live_...", key)
    run([sys.executable, "-"], told, folder, PYTHONPATH=str(ROOT / "clients" / "python"))
    assert (folder / "hello.mp4").read_bytes() == media.video("mp4", "libx264")
