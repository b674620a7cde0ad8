"""Run the whole farm as processes, call its API from outside, and kill its parts."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
from sqlalchemy import select
from sqlmodel import col

from cluster.local.accounts import session_token
from cluster.local.ray_head import free_port
from farm_core import running
from farm_core.db.database import Database
from farm_core.jobs.models import Task
from farm_core.settings import Settings
from tests.deadlocks import deadlocks
from tests.patience import HANG_SECONDS
from tests.s3_server import S3Server

ROOT = Path(__file__).resolve().parents[2]
CALL_SECONDS = 60
STORAGE_AWAY_SECONDS = 3.0
"""Longer than the farm's own retries of a storage request."""

PARTS: dict[str, Callable[[str], bool]] = {
    "actor": lambda words: "ray::RenderActor" in words or "ray::IDLE" in words,
    "scheduler": lambda words: "-m scheduler" in words,
    "api": lambda words: "-m api" in words,
    "ray": lambda words: "cluster.local.ray_node" in words,
    "raylet": lambda words: "raylet/raylet" in words,
    "valkey": lambda words: "valkey-server " in words,
    "postgres": lambda words: "bin/postgres -D" in words,
}


@dataclass(slots=True)
class ProcessFarm:
    """A farm started by `up`."""

    data: Path
    origin: str
    process: subprocess.Popen[bytes]
    token: str = ""
    storage: S3Server | None = None
    patience_seconds: float = CALL_SECONDS
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=60, trust_env=False))
    kills: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=8))
    """The last killed parts, with the time of day."""
    begin: Callable[[], subprocess.Popen[bytes]] | None = None
    """Starts `up` again, as a service manager does."""

    def wait_ready(self, log_begin: int = 0) -> None:
        """Wait until the log of `up`, after its first `log_begin` bytes, reports that the farm is ready."""
        deadline = time.monotonic() + HANG_SECONDS
        while f"ready {self.origin}/api".encode() not in (log := self.log_path.read_bytes()[log_begin:]):
            assert self.process.poll() is None, log.decode()
            assert time.monotonic() < deadline, log.decode()
            time.sleep(0.1)

    @property
    def log_path(self) -> Path:
        """Log file of `up`."""
        return self.data / "up.log"

    def call(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        """Call the API and retry while nobody answers or the status is 503, the only allowed failure."""
        headers = {"Authorization": f"Bearer {self.token}", **request.pop("headers", {})}
        deadline = time.monotonic() + self.patience_seconds
        while True:
            try:
                answer = self.client.request(method, f"{self.origin}/api/v1{path}", headers=headers, **request)
            except httpx.HTTPError:
                answer = None
            if answer is not None and answer.is_success:
                body: dict[str, Any] = answer.json()
                return body
            if answer is not None:
                assert answer.status_code == 503, answer.text
                assert answer.headers["Retry-After"]
                assert answer.json().keys() == {"statusCode", "message", "error", "requestId", "path"}
            assert time.monotonic() < deadline, f"{method} {path}: nobody answers"
            time.sleep(0.2)

    def render(
        self, template_id: str, key: str, callback_url: str | None = None, side: tuple[int, int] = (160, 90),
        **inputs: object,
    ) -> str:  # fmt: skip
        """Create a small job. The idempotency key makes retries safe."""
        output = {"width": side[0], "height": side[1], "fps": 30}
        body: dict[str, Any] = {"templateId": template_id, "inputs": inputs, "output": output}
        if callback_url is not None:
            body["callbackUrl"] = callback_url
        job_id: str = self.call("POST", "/renders", json=body, headers={"Idempotency-Key": key})["jobId"]
        return job_id

    def ended(self, job_id: str, seconds: float = HANG_SECONDS) -> dict[str, Any]:
        """Wait until the job has ended. Assert that its progress never decreases."""
        progress, deadline = -1.0, time.monotonic() + seconds
        while True:
            job = self.call("GET", f"/renders/{job_id}")
            assert job["progress"] >= progress, f"{job_id} went back from {progress} to {job}; killed {self.kills}"
            progress = job["progress"]
            if job["status"] in ("completed", "failed", "cancelled"):
                return job
            assert time.monotonic() < deadline, f"{job_id} is still {job['status']} at {progress}"
            time.sleep(0.2)

    def link(self, job_id: str) -> str:
        """Return the URL of the job's MP4, which needs no credential."""
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = self.client.get(f"{self.origin}/api/v1/renders/{job_id}/download", headers=headers)
        assert answer.status_code == 302, answer.text
        location: str = answer.headers["Location"]
        return location

    def digest(self, job_id: str) -> str:
        """Return the SHA-256 of the job's MP4."""
        answer = self.client.get(self.link(job_id))
        assert answer.is_success, answer.text
        return hashlib.sha256(answer.content).hexdigest()

    def command(self, *words: str) -> str:
        """Run a command of the farm and return its output."""
        environment = self.storage.environment if self.storage else None
        done = run_farm(*words, "--data", str(self.data), environment=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def processes(self, part: str) -> list[psutil.Process]:
        """Return the live processes of a part."""
        found = []
        for process in psutil.Process(self.process.pid).children(recursive=True):
            with suppress(psutil.Error):
                if PARTS[part](" ".join(process.cmdline())) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def kill(self, part: str, chance: random.Random | None = None) -> bool:
        """Kill one process of a part. Return False if there is none. Kill storage only for a while."""
        self.kills.append((time.strftime("%H:%M:%S"), part))
        if part == "storage":
            return self._kill_storage()
        if part == "supervisor":
            return self._kill_supervisor()
        living = self.processes(part)
        if not living:
            return False
        victim = (chance or random).choice(living)
        try:
            victim.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            return False
        return True

    def _kill_storage(self) -> bool:
        assert self.storage is not None, "the farm has no S3 server"
        self.storage.kill()
        time.sleep(STORAGE_AWAY_SECONDS)
        self.storage.start()
        return True

    def _kill_supervisor(self) -> bool:
        """Kill `up`, which ends all its processes, and start it again as a service manager does."""
        below = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait()
        psutil.wait_procs(below, timeout=5)
        log_begin = self.log_path.stat().st_size
        assert self.begin is not None, "the farm cannot be started again"
        self.process = self.begin()
        self.wait_ready(log_begin)
        return True


def run_farm(*words: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of the farm and wait for it."""
    command = [sys.executable, "-m", "farm_core", *words]
    environ = {**os.environ, **(environment or {})}
    return subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )


@contextmanager
def process_farm(
    data: Path,
    *options: str,
    storage: S3Server | None = None,
    settings: Mapping[str, str] | None = None,
    tree: Path | None = None,
) -> Iterator[ProcessFarm]:
    """Yield a ready farm with an account, and end it with SIGTERM, which must end all its processes.

    Its objects are in the data folder or on the caller's S3 server. `settings` are environment variables, `tree` is
    the checkout to run (default: this one).
    """
    port = free_port()
    command = [sys.executable, "-m", "farm_core", "up", "--port", str(port), "--data", str(data), *options]
    environment = {
        **os.environ, "AUTOMATION_ALLOW_PRIVATE_CALLBACKS": "true", "AUTOMATION_RENDERS_PER_MINUTE": "1000",
        "AUTOMATION_REQUESTS_PER_MINUTE_PER_IP": "100000", **(storage.environment if storage else {}),
        **(settings or {}), **({} if tree is None else {"PYTHONPATH": str(tree)}),
    }  # fmt: skip
    data.mkdir(parents=True, exist_ok=True)

    def begin() -> subprocess.Popen[bytes]:
        with (data / "up.log").open("ab") as log:
            return subprocess.Popen(command, cwd=tree or ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)

    log_begin = (data / "up.log").stat().st_size if (data / "up.log").exists() else 0
    farm = ProcessFarm(data, f"http://127.0.0.1:{port}", begin(), storage=storage, begin=begin)
    try:
        farm.wait_ready(log_begin)
        farm.token = _token(data, tree)
        known = deadlocks(_database_url(data)) if log_begin else 0
        yield farm
        if tree is None:  # a migration beside a former release may meet a deadlock, and then runs again
            assert deadlocks(_database_url(data)) <= known
        below = psutil.Process(farm.process.pid).children(recursive=True)
        farm.process.send_signal(signal.SIGTERM)
        assert farm.process.wait(HANG_SECONDS) == 0, (data / "up.log").read_text()
        _, left = psutil.wait_procs(below, timeout=HANG_SECONDS)
        assert [one.cmdline() for one in left] == [], "something was left running"
    finally:
        farm.client.close()
        farm.process.kill()
        farm.process.wait()


def imported(farm: ProcessFarm, motion: bytes) -> str:
    """Import a bundle and return its template."""
    files, form = {"file": ("scene.motion", motion)}, {"includeText": "true"}
    template_id: str = farm.call("POST", "/templates/import", files=files, data=form)["id"]
    return template_id


def uploaded(farm: ProcessFarm, picture: Path) -> str:
    """Upload a picture and return its URL."""
    url: str = farm.call("POST", "/assets", files={"file": (picture.name, picture.read_bytes())})["url"]
    return url


def _token(data: Path, tree: Path | None) -> str:
    """Return a session token of the account `tester`. The code of another checkout creates it there, because another release can
    lack columns."""
    if tree is None:
        return session_token(Settings(data_folder=data), _database_url(data), "tester")
    begin = (
        "import sys; from pathlib import Path; from cluster.local.accounts import session_token;"
        " from farm_core.settings import Settings;"
        " print(session_token(Settings(data_folder=Path(sys.argv[1])), sys.argv[2], 'tester'))"
    )
    command = [sys.executable, "-c", begin, str(data), _database_url(data)]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=True, timeout=HANG_SECONDS
    )
    return done.stdout.strip()


def _database_url(data: Path) -> str:
    found = running.read(data)
    assert found is not None, "no farm runs on the folder"
    return found.database_url


def tasks_of(farm: ProcessFarm, job_id: str) -> list[Task]:
    """Return the segments of a job, in order."""

    async def tasks() -> list[Task]:
        database = Database(_database_url(farm.data))
        wanted = select(Task).where(col(Task.job_id) == job_id, col(Task.kind) == "render").order_by(col(Task.index))
        async with database.work() as session:
            rows = list((await session.execute(wanted)).scalars())
        await database.close()
        return rows

    return asyncio.run(tasks())


def drawn_segments(farm: ProcessFarm, job_id: str) -> list[int]:
    """Return the segments of a job that did not come from the cache."""
    return [task.index for task in tasks_of(farm, job_id) if not (task.report or {}).get("cached")]


def summary(body: bytes) -> tuple[str, str]:
    """Return job id and status of a webhook."""
    payload = json.loads(body)
    return payload["jobId"], payload["status"]
