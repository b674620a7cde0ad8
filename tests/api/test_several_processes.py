"""Several API processes on one port share connections and metrics, and one can die."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from cluster.local.ray_head import free_port
from farm_core.settings import ROOT
from tests.patience import HANG_SECONDS

REQUESTS = 60
COUNTED = 'farm_http_requests_total{method="GET",route="/api/v1/usage",status="401"}'


@pytest.fixture
def processes(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Yield the origin and two processes that listen on its port."""
    port, shared = free_port(), tmp_path / "metrics"
    shared.mkdir()
    environment = os.environ | {
        "DATABASE_URL": database_url, "REDIS_URL": redis_url, "DATA_FOLDER": str(tmp_path), "PYTHONPATH": str(ROOT),
        "PROMETHEUS_MULTIPROC_DIR": str(shared), "AUTOMATION_REQUESTS_PER_MINUTE_PER_IP": "100000",
    }  # fmt: skip
    command = [sys.executable, "-m", "api", "--port", str(port), "--share-port"]
    started = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    try:
        for process in started:
            assert process.stderr is not None
            assert any(b"Application startup complete" in line for line in process.stderr)
            while not _listens(process):  # it listens after that line
                time.sleep(0.01)
        yield f"http://127.0.0.1:{port}", started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def _listens(process: subprocess.Popen[bytes]) -> bool:
    return any(one.status == psutil.CONN_LISTEN for one in psutil.Process(process.pid).net_connections())


def _asked(origin: str) -> list[int]:
    """Return the statuses of requests, each on its own connection."""
    return [_answer(f"{origin}/api/v1/usage").status_code for _ in range(REQUESTS)]


def _answer(url: str) -> httpx.Response:
    return httpx.get(url, trust_env=False, verify=False, timeout=HANG_SECONDS)


def test_processes_on_one_port_answer_together_and_count_together(
    processes: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    origin, started = processes
    assert _asked(origin) == [401] * REQUESTS
    assert len(list((tmp_path / "metrics").glob("counter_*.db"))) == 2
    while f"{COUNTED} {REQUESTS}.0" not in _answer(f"{origin}/metrics").text.splitlines():
        time.sleep(0.05)  # requests are counted after their answer
    started[0].kill()
    started[0].wait()
    assert _asked(origin) == [401] * REQUESTS
