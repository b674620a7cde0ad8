"""Waits of honest accounts beside hostile ones, on farms of several sizes, in simulated time on a real Postgres."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.service.stores import own_postgres
from benchmarks.simulation.attacked import Attack, AttackedFarm, attacked
from benchmarks.simulation.frames import Drawing
from farm_core.telemetry import logs

SIZES: Final = ((8, 2), (64, 4), (1_000, 4))
"""Numbers of workers and of schedulers."""

SECONDS: Final = 60.0
JOB_SEGMENTS: Final = 9
FRAMES_OF_AN_HOUR: Final = 30 * 3600


def attacks(workers: int) -> Sequence[Attack | None]:
    """Return the attacks on a farm of this size. Those with slow frames have three times as many segments as there are workers."""

    def slow(name: str, accounts: int, drawing: Drawing, *, is_proven: bool) -> Attack:
        jobs = max(4, -(-3 * workers // (JOB_SEGMENTS * accounts)))
        kind = "proven" if is_proven else "new"
        return Attack(f"{name}, {accounts} {kind}", accounts, drawing, jobs=jobs, is_proven=is_proven)

    quick_first = slow("quick segments, then frames of 25 s", 20, Drawing(25.0), is_proven=True)
    return (
        None,
        slow("frames of 25 s", 1, Drawing(25.0), is_proven=False),
        slow("frames of 25 s", 5, Drawing(25.0), is_proven=True),
        slow("frames of 25 s", 20, Drawing(25.0), is_proven=False),
        slow("frames of 25 s", 20, Drawing(25.0), is_proven=True),
        replace(quick_first, quick_seconds=3.0),
        replace(quick_first, name=f"{quick_first.name}, one after another", quick_seconds=3.0, stagger_seconds=3.0),
        slow("frames of 8 s", 5, Drawing(8.0), is_proven=True),
        slow("frames that hang", 5, Drawing(hangs=True), is_proven=True),
        slow("crashes", 5, Drawing(0.5, crashes=True), is_proven=True),
        Attack("a flood of tiny jobs, 5 new", 5, Drawing(), jobs=100, jobs_per_second=20, frames=1),
        Attack("jobs of an hour, 5 new", 5, Drawing(), jobs=10, frames=FRAMES_OF_AN_HOUR),
        Attack("a storm of cancels, 5 new", 5, Drawing(2.0), jobs_per_second=20, cancel_after=0.3),
    )


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each attack on each farm."""
    logs.set_up("ERROR")
    for workers, schedulers in SIZES[:1] if quick else SIZES:
        for attack in attacks(workers):
            scenario = AttackedFarm(workers, schedulers, attack, SECONDS / 2 if quick else SECONDS)
            yield _row(scenario)


def _row(scenario: AttackedFarm) -> Row:
    with own_postgres(durable=False) as (server, folder):
        waits = attacked(scenario, server, folder)
    return {
        "attack": "none" if scenario.attack is None else scenario.attack.name,
        "size": f"{scenario.workers:,} workers, {scenario.schedulers} schedulers",
        "cards": len(waits.proven),
        "proven p50 s": _seconds(waits.proven, 0.5),
        "proven p99 s": _seconds(waits.proven, 0.99),
        "new p50 s": _seconds(waits.new, 0.5),
        "new p99 s": _seconds(waits.new, 0.99),
        "restarts": waits.restarts,
    }


def _seconds(waits: Sequence[float | None], share: float) -> float:
    return round(quantile(waits, share), 2)


BENCHMARK = Benchmark(
    "How long do title cards of honest accounts take beside hostile accounts, on a larger farm with several schedulers?",
    _rows,
    label="attack",
    bar="proven p99 s",
)
