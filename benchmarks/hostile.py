"""Effect of a hostile account on an honest one: seconds of a title card, time of a health check, memory of each
process.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx
import psutil

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.service.attacks import Hostile, attacking
from benchmarks.service.farm import TITLE_CARD, client_of, imported, local_farm, uploaded, wait_until_completed
from cluster.local.accounts import session_token
from cluster.local.farm import LocalFarm
from farm_core.long_steps import repeating

SECONDS = 600.0
IDLE_SECONDS = 60.0
HEALTH_SECONDS = 0.25
MEMORY_SECONDS = 2.0
RATIO_MAX = 3.0
HEALTH_MS_MAX = 500.0
GROWTH_MB_MAX = 300.0


class Watch:
    """Ask `/api/health` and look at the memory of the farm's processes, in threads of their own."""

    def __init__(self, origin: str) -> None:
        self.origin, self.health_ms = origin, list[float]()
        self.first, self.most = dict[int, int](), dict[int, int]()
        self.names = dict[int, str]()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block runs."""
        self._look()
        with repeating(self._ask, HEALTH_SECONDS), repeating(self._look, MEMORY_SECONDS):
            yield

    def growth(self) -> tuple[float, str]:
        """Return the most that a process grew by, in MB, and its name."""
        grown = {pid: self.most[pid] - self.first[pid] for pid in self.most}
        largest = max(grown, key=lambda pid: grown[pid])
        return round(grown[largest] / 1e6, 1), self.names[largest]

    def _ask(self) -> None:
        """Send a health check over a new connection, as load balancers do."""
        began = time.perf_counter()
        with closing(HTTPConnection(urlsplit(self.origin).netloc, timeout=60)) as connection:
            connection.request("GET", "/api/health")
            assert connection.getresponse().status == HTTPStatus.OK
        self.health_ms.append(1000 * (time.perf_counter() - began))

    def _look(self) -> None:
        for process in psutil.Process().children(recursive=True):
            try:
                resident, name = process.memory_info().rss, " ".join(process.cmdline()).strip()[-40:]
            except psutil.Error:
                continue
            self.first.setdefault(process.pid, resident)
            self.names[process.pid] = name
            self.most[process.pid] = max(resident, self.most.get(process.pid, 0))


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for the idle farm, then one for the attacked one."""
    scale = 0.2 if quick else 1.0
    settings = {"automation_allow_private_assets": True, "automation_allow_private_callbacks": True}
    with local_farm(settings) as (farm, chosen), client_of(farm, chosen, "honest") as client:
        template, logo = imported(client, TITLE_CARD.read_bytes()), uploaded(client)
        _title_card(farm, client, template, logo, "warm")
        idle = _phase("idle", farm, client, template, logo, IDLE_SECONDS * scale)
        yield {**idle, "ratio": 1.0, "answers": ""}
        hostile = Hostile(farm.origin, session_token(chosen, farm.database_url, "mallory"))
        with attacking(hostile):
            attacked = _phase("attacked", farm, client, template, logo, SECONDS * scale)
        answers = " ".join(f"{status}:{count}" for status, count in sorted(hostile.statuses.items()))
        yield {**attacked, "ratio": round(attacked["p95_s"] / idle["p95_s"], 2), "answers": answers}


def _phase(name: str, farm: LocalFarm, client: httpx.Client, template: str, logo: str, seconds: float) -> Row:
    """Render title cards one after another for a time, each with its own caption."""
    watch, took, end = Watch(farm.origin), list[float](), time.monotonic() + seconds
    with watch.watching():
        while time.monotonic() < end:
            took.append(_title_card(farm, client, template, logo, f"{name} {len(took)}"))
    growth, process = watch.growth()
    return {
        "phase": name, "jobs": len(took), "p50_s": round(statistics.median(took), 2),
        "p95_s": round(quantile(took, 0.95), 2),
        "health_p99_ms": round(quantile(watch.health_ms, 0.99), 1),
        "health_max_ms": round(max(watch.health_ms), 1), "growth_mb": growth, "process": process,
    }  # fmt: skip


def _title_card(farm: LocalFarm, client: httpx.Client, template: str, logo: str, caption: str) -> float:
    """Return the seconds from the creation of a render to its end."""
    body = {
        "templateId": template,
        "inputs": {"logo": logo, "headline": caption},
        "output": {"width": 640, "height": 360},
    }
    began = time.perf_counter()
    answer = client.post("/renders", json=body)
    while answer.status_code == 429:
        time.sleep(1)
        began = time.perf_counter()
        answer = client.post("/renders", json=body)
    wait_until_completed(farm, client, answer.raise_for_status().json()["jobId"])
    return time.perf_counter() - began


def _advice(rows: Sequence[Row]) -> str:
    attacked = rows[-1]
    kept = {
        f"the 95th percentile at {attacked['ratio']:g} times the idle one": attacked["ratio"] <= RATIO_MAX,
        f"health within {attacked['health_max_ms']:g} ms": attacked["health_max_ms"] <= HEALTH_MS_MAX,
        f"growth of {attacked['growth_mb']:g} MB": attacked["growth_mb"] <= GROWTH_MB_MAX,
    }
    return "; ".join(f"{what} ({'kept' if held else 'beyond the limit'})" for what, held in kept.items()) + "."


BENCHMARK = Benchmark(
    "What does an honest account notice of a hostile one that attacks for ten minutes?",
    _rows,
    label="phase",
    bar="p95_s",
    advice=_advice,
)
