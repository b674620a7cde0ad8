"""Schedulers with up to ten thousand workers, in simulated time, on a real Postgres."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.simulation.farm import simulate
from benchmarks.simulation.fleet import ASSEMBLY_SECONDS
from benchmarks.simulation.scenario import CALM_SHARE, Outcome, Scenario
from farm_core.telemetry import logs


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    scenario: Scenario


CASES: Final = (
    _Case("saturated", Scenario(1, 1, 0.6, 20, schedulers=1, with_faults=False)),
    _Case("saturated", Scenario(16, 1, 10, 20, schedulers=1, with_faults=False)),
    _Case("saturated", Scenario(64, 1, 40, 20, schedulers=1, with_faults=False)),
    _Case("calm", Scenario(100, 5, 30, 20, schedulers=1, with_faults=False)),
    _Case("calm", Scenario(1_000, 50, 300, 15, schedulers=2, with_faults=False)),
    _Case("overload", Scenario(1_000, 50, 600, 10, schedulers=2, with_faults=False)),
    _Case("faults", Scenario(1_000, 50, 300, 15, schedulers=2)),
    _Case("calm", Scenario(10_000, 500, 3_000, 20, with_faults=False)),
    _Case("faults", Scenario(10_000, 500, 3_000, 20)),
)
"""Nine of ten workers are busy while jobs arrive; saturated or in overload there are twice as many jobs as the workers can do."""

JOBS_LEAST: Final = 3


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each case."""
    logs.set_up("ERROR")
    for case in CASES:
        seconds = case.scenario.arrival_seconds
        if quick:  # a few jobs at least
            seconds = max(seconds / 20, JOBS_LEAST / case.scenario.jobs_per_second)
        scenario = replace(case.scenario, arrival_seconds=seconds)
        if not quick or scenario.workers <= 1_000:
            with tempfile.TemporaryDirectory(prefix="farm-bench-") as folder:
                yield _row(case.name, scenario, simulate(scenario, Path(folder)))


def _row(name: str, scenario: Scenario, outcome: Outcome) -> Row:
    jobs = len(outcome.created)
    waits = outcome.waits(before=scenario.arrival_seconds * CALM_SHARE if scenario.with_faults else float("inf"))
    others = outcome.waits(flooding=False)
    cost = (outcome.scheduler_seconds + outcome.postgres_seconds) / jobs
    return {
        "case": name,
        "size": f"{scenario.workers:,} workers",
        "jobs/s": scenario.jobs_per_second,
        "jobs": jobs,
        "lost": jobs - len(outcome.statuses.get("completed", ())),
        "contradictions": len(outcome.contradictions),
        "simulated s": round(outcome.seconds, 1),
        "busy share": round(_work_seconds(scenario) * jobs / (scenario.workers * outcome.seconds), 3),
        "first lease p50 s": round(quantile(waits, 0.5), 3),
        "first lease p99 s": round(quantile(waits, 0.99), 3),
        "others' p99 s": round(quantile(others, 0.99), 3),
        "fairness": round(outcome.fairness(scenario.segment_seconds), 4),
        "statements/job": round(outcome.statements / jobs, 2),
        "scheduler ms/job": round(outcome.scheduler_seconds / jobs * 1e3, 2),
        "postgres ms/job": round(outcome.postgres_seconds / jobs * 1e3, 2),
        "processor ms/segment": round(cost / 3 * 1e3, 2),
        "cores": round(cost * scenario.jobs_per_second, 1),
    }


def _work_seconds(scenario: Scenario) -> float:
    """Return the mean seconds of workers for a job: three segments of a second of output, and the assembly."""
    return 3 * scenario.segment_seconds + ASSEMBLY_SECONDS


BENCHMARK = Benchmark(
    "Do schedulers keep ten thousand workers busy, lose no job, and share fairly, and what does it cost?",
    _rows,
    label="case",
    bar="processor ms/segment",
    limit=0.7,
)
