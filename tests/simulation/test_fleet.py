"""The real schedulers with thousands of simulated workers on a real Postgres: no job is lost in any failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.simulation.farm import simulate
from benchmarks.simulation.scenario import FLOODING, Outcome, Scenario


def assert_sound(outcome: Outcome) -> None:
    assert outcome.created
    assert outcome.statuses == {"completed": outcome.created.keys()}, "jobs were lost or failed"
    assert list(outcome.contradictions) == []


@pytest.mark.service
def test_no_job_is_lost_when_nodes_vanish_and_postgres_fails_over(tmp_path: Path) -> None:
    scenario = Scenario(workers=60, nodes=10, jobs_per_second=15, arrival_seconds=4, accounts=10, schedulers=2)
    outcome = simulate(scenario, tmp_path)
    assert_sound(outcome)
    assert outcome.seconds > scenario.outage_seconds


SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))]


@pytest.mark.service
@pytest.mark.parametrize("seed", SEEDS)
def test_every_job_ends_once_beside_cancels_crashes_and_schedulers_that_die(tmp_path: Path, seed: int) -> None:
    scenario = Scenario(
        workers=60, nodes=10, jobs_per_second=15, arrival_seconds=6, accounts=10, schedulers=3, dying_schedulers=2,
        cancelled_share=0.1, poisoned_share=0.05, seed=seed,
    )  # fmt: skip
    outcome = simulate(scenario, tmp_path)
    assert outcome.orphans and outcome.cancelled and outcome.poisoned - outcome.cancelled
    assert outcome.statuses == {
        "cancelled": outcome.cancelled,
        "failed": outcome.poisoned - outcome.cancelled,
        "completed": outcome.created.keys() - outcome.cancelled - outcome.poisoned,
    }, "jobs were lost, failed without fault, or went on after their cancel"
    assert list(outcome.contradictions) == []


@pytest.mark.service
def test_accounts_with_few_jobs_do_not_wait_for_one_that_floods_the_farm(tmp_path: Path) -> None:
    scenario = Scenario(
        workers=20, nodes=4, jobs_per_second=12, arrival_seconds=6, accounts=6, schedulers=2, with_faults=False
    )
    outcome = simulate(scenario, tmp_path)
    assert_sound(outcome)
    others = outcome.waits(flooding=False)
    all_waits = outcome.waits()
    assert all_waits[-1] > 3, "the farm was not overloaded"
    assert others[len(others) // 2] < all_waits[-1] / 2
    assert outcome.fairness(scenario.segment_seconds) > 0.8
    assert any(account == FLOODING for account, _ in outcome.created.values())


@pytest.mark.slow
@pytest.mark.service
@pytest.mark.timeout(3600)
def test_ten_thousand_workers_lose_no_job(tmp_path: Path) -> None:
    outcome = simulate(Scenario(workers=10_000, nodes=500, jobs_per_second=3_000, arrival_seconds=3), tmp_path)
    assert_sound(outcome)
    waits = outcome.waits(before=1.0)
    assert waits[len(waits) // 2] < 1.0, "jobs waited although workers were free"
