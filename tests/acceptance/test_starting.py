"""Start the farm on machines that already have parts of a deployment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import alembic.command
import psutil
import psycopg
import pytest

from cluster.local.ray_head import free_port
from farm_core.db import migrate
from gpu_renderer.encode.finish import check
from gpu_renderer.encode.formats import FORMATS, FilePlan
from tests.acceptance.farm import ROOT
from tests.patience import HANG_SECONDS

pytestmark = [pytest.mark.acceptance]
AS_ANYBODY = ["setpriv", "--bounding-set=-sys_nice", "--"] if os.geteuid() == 0 else []
"""Drop the privilege to raise priority again, which a normal user does not have: Ray's workers start with a low one."""


def test_the_demo_makes_its_video_for_anybody_and_leaves_a_deployments_parts_alone(tmp_path: Path) -> None:
    deployment = {
        "DATABASE_URL": "postgresql://127.0.0.1:1/farm", "REDIS_URL": "redis://127.0.0.1:1", "S3_BUCKET": "videos",
        "RAY_ADDRESS": "127.0.0.1:1", "PUBLIC_ORIGIN": "https://farm.example.com",
    }  # fmt: skip
    temporary = Path(tempfile.mkdtemp())  # Ray would replace a longer path
    video = tmp_path / "new" / "demo.mp4"
    command = [*AS_ANYBODY, sys.executable, "-m", "farm_core", "demo", "-o", str(video)]
    done = subprocess.run(
        [*command, "--data", str(tmp_path / "the demo's Daten ü")],
        cwd=ROOT, env=os.environ | deployment | {"TMPDIR": str(temporary)}, capture_output=True, text=True, check=False,
        timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    check(video, FilePlan(FORMATS["mp4"], 1280, 720, 30.0, 90))
    assert str(video) in done.stdout.replace("\n", "")
    assert "{" not in done.stderr, "the log of a demo is for people"
    temporary.rmdir()  # nothing is left in the folder


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_up_makes_the_tables_of_the_database_that_it_is_given_and_ends_cleanly(
    empty_database_url: str, tmp_path: Path, deaf_ray: str, number: signal.Signals
) -> None:
    command = [sys.executable, "-m", "farm_core", "up", "--port", str(free_port()), "--data", str(tmp_path)]
    environment = {**os.environ, "DATABASE_URL": empty_database_url, "RAY_ADDRESS": deaf_ray}
    up = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        deadline = time.monotonic() + HANG_SECONDS
        while connection.execute("SELECT to_regclass('jobs')").fetchone() == (None,):
            assert up.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
    up.send_signal(number)
    out, _ = up.communicate(timeout=HANG_SECONDS)
    assert (up.returncode, out) == (0, b"")


def test_a_slow_start_says_what_it_waits_for(empty_database_url: str, tmp_path: Path, deaf_ray: str) -> None:
    alembic.command.upgrade(migrate._config(empty_database_url), "0023")
    words = [sys.executable, "-m", "farm_core", "up", "--port", str(free_port()), "--data", str(tmp_path)]
    environment = {**os.environ, "DATABASE_URL": empty_database_url, "RAY_ADDRESS": deaf_ray}
    with subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as up:
        assert up.stderr is not None
        lines = (json.loads(line) for line in up.stderr)
        assert next(line for line in lines if line["event"].startswith("brings the database"))["schema"] == "0023"
        still = (line["not_working"] for line in lines if line["event"] == "still starts")
        assert any("workers" in named for named in still), "a busy machine may name the API first"
        up.terminate()
        assert up.wait(HANG_SECONDS) == 0


def test_a_machine_that_cannot_draw_is_refused_when_its_worker_fails_again_with_the_reason(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "farm_core", "up", "--port", str(free_port()), "--data", str(tmp_path), "--workers"]
    environment = {**os.environ, "GL_SOFTWARE": "true", "MESA_GL_VERSION_OVERRIDE": "3.0"}
    done = subprocess.run(
        [*words, "1"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )
    last = done.stderr.splitlines()[-1]
    assert (done.returncode, done.stdout) == (1, "")
    assert last.startswith("farm: no worker can draw on this machine: no OpenGL 3.3 context"), done.stderr
    tried = (tmp_path / "logs" / "scheduler-1.log").read_text().count("worker did not start")
    assert 2 <= tried <= 3, "another GPU may draw until a worker fails again; then no more are tried"


def test_ctrl_c_while_the_first_start_makes_the_database_ends_cleanly(tmp_path: Path, deaf_ray: str) -> None:
    command = [sys.executable, "-m", "farm_core", "up", "--port", str(free_port()), "--data", str(tmp_path)]
    environment = {**os.environ, "RAY_ADDRESS": deaf_ray}
    environment.pop("DATABASE_URL", None)
    up = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + HANG_SECONDS
    # A busy machine may run this process too late; then the farm has already created its database.
    while not ((tmp_path / "postgres" / "PG_VERSION").exists() or _runs_initdb(up.pid)):
        assert up.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(up.pid, signal.SIGINT)  # a terminal sends the signal to every process of the group
    out, err = up.communicate(timeout=HANG_SECONDS)
    assert (up.returncode, out) == (0, b""), err


def _runs_initdb(process_id: int) -> bool:
    for child in psutil.Process(process_id).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "initdb" in child.name():
                return True
    return False
