"""Response time of the API while many clients poll: 30 of them, 150 requests a second together, with an API key each
request.

Every request is authenticated by key, counted against the quota and rate-limited, as in production. The farm is a real one:
the API as a process of its own, embedded Postgres (durable) and Valkey.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.service.api_process import RunningApi, running_api
from cluster.worker.render_actor import NICENESS
from farm_core.accounts import tokens
from farm_core.long_steps import repeating
from farm_core.secret import farm_secret
from farm_core.settings import ROOT, Settings

CLIENTS = 30
ASKED_PER_SECOND = 150
SECONDS = 5.0
P99_MS_MAX = 100.0
RATES = (150, 250, 350, 450, 600)


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each rate, alone and then beside a render. Rates rise until the p99 exceeds the limit."""
    seconds = SECONDS / 2 if quick else SECONDS
    with tempfile.TemporaryDirectory() as folder, running_api(Path(folder)) as api:
        headers, job_id = prepared(api.origin, api.settings)
        url = f"{api.origin}/api/v1/renders/{job_id}"
        asyncio.run(polled(url, headers, ASKED_PER_SECOND, 1.0))
        yield from _rising("alone", api, url, headers, seconds)
        with rendering(Path(folder)):
            yield from _rising("beside a render", api, url, headers, seconds)


def _rising(where: str, api: RunningApi, url: str, headers: dict[str, str], seconds: float) -> Iterator[Row]:
    for rate in RATES:
        before = api.processor_seconds()
        row = {"where": f"{where}, {rate}/s", **asyncio.run(polled(url, headers, rate, seconds))}
        row["cpu_ms"] = round((api.processor_seconds() - before) * 1000 / (rate * seconds), 2)
        yield row
        if not _held(row):
            break


def _advice(rows: Sequence[Row]) -> str:
    held = max((row["asked_per_second"] for row in rows if _held(row) and "beside" in row["where"]), default=0)
    return f"Beside a render, {held} requests a second are held under {P99_MS_MAX:g} ms at the 99th percentile."


@contextmanager
def rendering(folder: Path) -> Iterator[None]:
    """Render an example repeatedly, with the priority of render actors."""
    command = [sys.executable, "-m", "farm_core", "render", str(ROOT / "examples" / "title-card.motion")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def render() -> None:
        with (folder / "render.log").open("wb") as log:
            one = subprocess.Popen(
                [*command, "--size", "1280x720", "-o", str(folder / "beside.mp4")],
                env=environment, cwd=ROOT, stdout=log, stderr=log,
            )  # fmt: skip
            os.setpriority(os.PRIO_PROCESS, one.pid, NICENESS)
            one.wait()

    with repeating(render):
        yield


def prepared(origin: str, settings: Settings) -> tuple[dict[str, str], str]:
    """Create an account with a key and a queued job. Return the key's header and the job's id."""
    environment = os.environ | {"DATABASE_URL": str(settings.database_url), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "farm_core", "account", "create", "bench", "--limit", "monthlyApiRequests=null"]
    made = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    token = tokens.issue(farm_secret(settings), json.loads(made.stdout)["id"], 3600)
    with httpx.Client(base_url=f"{origin}/api/v1", headers={"Authorization": f"Bearer {token}"}) as session:
        secret = session.post("/keys", json={}).raise_for_status().json()["secret"]
        template = session.post("/templates", json=_TEMPLATE).raise_for_status().json()["id"]
        job = session.post("/renders", json={"templateId": template, "inputs": {}}).raise_for_status().json()["jobId"]
    return {"Authorization": f"Bearer {secret}"}, job


async def polled(url: str, headers: dict[str, str], rate_per_second: int, seconds: float) -> dict[str, Any]:
    """Return the clients' measurements. Each client sends at fixed times, so a slow answer delays no later request."""
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    async with httpx.AsyncClient(headers=headers, limits=limits, timeout=10) as client:
        begun = time.perf_counter()
        beats = [_client(client, url, begun, number, rate_per_second, seconds) for number in range(CLIENTS)]
        outcomes = [outcome for part in await asyncio.gather(*beats) for outcome in part]
        took = time.perf_counter() - begun
    times = [ms for ms, ok in outcomes if ok]
    return {
        "asked_per_second": rate_per_second,
        "answered_per_second": round(len(times) / took, 1),
        "p50_ms": round(statistics.median(times), 1),
        "p99_ms": round(quantile(times, 0.99), 1),
        "errors": sum(not ok for _, ok in outcomes),
    }


async def _client(
    client: httpx.AsyncClient, url: str, begun: float, number: int, rate_per_second: int, seconds: float
) -> list[tuple[float, bool]]:
    """Return (milliseconds, success) of one client's requests, measured from the time at which each was due."""
    beat = CLIENTS / rate_per_second
    outcomes = []
    for turn in range(int(seconds / beat)):
        due = begun + (turn + number / CLIENTS) * beat
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        try:
            ok = (await client.get(url)).status_code == 200
        except httpx.HTTPError:
            ok = False
        outcomes.append(((time.perf_counter() - due) * 1000, ok))
    return outcomes


def _held(row: Row) -> bool:
    return bool(row["p99_ms"] < P99_MS_MAX and not row["errors"])


_TEMPLATE: dict[str, Any] = {
    "name": "Bench", "inputs": [], "width": 640, "height": 360, "fps": 30, "durationSeconds": 3,
    "document": {
        "version": "1.6.0", "animation": {"tracks": {}, "expressions": {}}, "comps": {},
        "scene": {"nodes": [{"id": "comp_root", "name": "Main", "parent": None, "children": [], "components": []}]},
    },
}  # fmt: skip

BENCHMARK = Benchmark(
    "At which p99 do 30 clients poll GET /v1/renders/{id} at 150 requests a second, and what is the highest rate held?",
    _rows,
    label="where",
    bar="p99_ms",
    limit=P99_MS_MAX,
    advice=_advice,
)
