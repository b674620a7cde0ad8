"""A batch of 1,000 rows beside another account's single jobs: does the batch hold them up?"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence

import httpx

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.service.farm import TITLE_CARD, UNLIMITED, client_of, imported, local_farm, seconds_of_render, uploaded
from cluster.local.farm import LocalFarm

BATCH_ROWS = 1_000
SINGLE_JOBS = 20
POLL_SECONDS = 0.05
RATIO_MAX = 3.0
OUTPUT = {"width": 320, "height": 180}


class Caller:
    """One account, with its own template and logo, on a farm."""

    def __init__(self, farm: LocalFarm, client: httpx.Client) -> None:
        self._farm, self._client = farm, client
        self._template, self._logo = imported(client, TITLE_CARD.read_bytes()), uploaded(client)

    def seconds_of_a_job(self, caption: str) -> float:
        """Return the seconds from the creation of a render to its end."""
        body = {"templateId": self._template, "inputs": self._inputs(caption), "output": OUTPUT}
        return seconds_of_render(self._farm, self._client, body)

    def posted_batch(self, rows: int) -> str:
        """A batch of rows that differ in their headline."""
        bodies = [{"inputs": self._inputs(f"Row {number}")} for number in range(rows)]
        body = {"templateId": self._template, "rows": bodies, "output": OUTPUT}
        return str(self._client.post("/batches", json=body).raise_for_status().json()["batchId"])

    def done(self, batch_id: str) -> int:
        """Return the number of completed rows of a batch."""
        return int(self._client.get(f"/batches/{batch_id}").raise_for_status().json()["totals"]["completed"])

    def _inputs(self, caption: str) -> dict[str, str]:
        return {"logo": self._logo, "headline": caption}


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for the idle farm, then one beside the batch."""
    jobs, rows = (5, 100) if quick else (SINGLE_JOBS, BATCH_ROWS)
    with local_farm(UNLIMITED) as (farm, settings):
        single, many = (Caller(farm, client_of(farm, settings, name)) for name in ("ada", "bob"))
        single.seconds_of_a_job("warm")
        idle = _row("alone", [single.seconds_of_a_job(f"idle {number}") for number in range(jobs)])
        yield {**idle, "ratio": 1.0, "rows": 0, "rows/s": 0.0, "rows left": 0}
        batch_id = many.posted_batch(rows)
        while many.done(batch_id) == 0:
            time.sleep(POLL_SECONDS)
        began, before = time.perf_counter(), many.done(batch_id)
        beside = _row(f"beside {rows} rows", [single.seconds_of_a_job(f"beside {number}") for number in range(jobs)])
        done, seconds = many.done(batch_id), time.perf_counter() - began
        rate = round((done - before) / seconds, 2)
        ratio = round(beside["p50 s"] / idle["p50 s"], 2)
        yield {**beside, "ratio": ratio, "rows": rows, "rows/s": rate, "rows left": rows - done}


def _row(phase: str, seconds: Sequence[float]) -> Row:
    return {
        "phase": phase, "jobs": len(seconds), "p50 s": round(statistics.median(seconds), 2),
        "p90 s": round(quantile(seconds, 0.9), 2), "max s": round(max(seconds), 2),
    }  # fmt: skip


def _advice(rows: Sequence[Row]) -> str:
    beside = rows[-1]
    verdict = "within" if beside["ratio"] <= RATIO_MAX else "beyond"
    return (
        f"Beside the batch a single job takes {beside['ratio']:g} times as long, {verdict} the limit of {RATIO_MAX:g}."
    )


BENCHMARK = Benchmark(
    "Does a batch of 1,000 rows hold up another account's single jobs?",
    _rows,
    label="phase",
    bar="p50 s",
    advice=_advice,
)
