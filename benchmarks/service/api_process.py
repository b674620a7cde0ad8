"""The API as a process of its own, on servers of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil

from cluster.embedded import postgres, valkey
from cluster.local.ray_head import free_port
from farm_core.settings import ROOT, Settings


class RunningApi(NamedTuple):
    """An API that answers at `origin`, in a process of its own."""

    origin: str
    settings: Settings
    process: psutil.Process

    def processor_seconds(self) -> float:
        """Return the processor time that the API's own process has used."""
        used = self.process.cpu_times()
        return float(used.user + used.system)


@contextmanager
def running_api(data: Path) -> Iterator[RunningApi]:
    """Run the API with a Postgres and a Valkey of its own in a data folder, and stop all three after the block."""
    database, cache = postgres.start(data / "postgres"), valkey.start(data / "valkey")
    port = free_port()
    chosen = Settings(database_url=database.url, redis_url=cache.url, data_folder=data)
    environment = os.environ | {
        "DATABASE_URL": database.url, "REDIS_URL": cache.url, "LOG_LEVEL": "INFO",
        "AUTOMATION_REQUESTS_PER_MINUTE_PER_IP": "10000000", "AUTOMATION_RENDERS_PER_MINUTE": "10000000", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = [sys.executable, "-m", "farm_core.db.migrate", "upgrade"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    serve = [sys.executable, "-m", "api", "--port", str(port), "--data", str(data)]
    with (data / "api.log").open("wb") as log:
        server = subprocess.Popen(serve, cwd=ROOT, env=environment, stderr=log)
    origin = f"http://127.0.0.1:{port}"
    try:
        _wait(origin, server)
        yield RunningApi(origin, chosen, psutil.Process(server.pid))
    finally:
        server.terminate()
        server.wait()
        cache.stop()
        database.stop()


def _wait(origin: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert server.poll() is None, "the API ended"
        try:
            httpx.get(f"{origin}/api/health")
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError("the API did not start")
