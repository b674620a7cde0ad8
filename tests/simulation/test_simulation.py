"""No job is lost, none ends twice, and none starves, for many seeds. Each seed can be run alone."""

from __future__ import annotations

from dataclasses import fields

import pytest

from farm_core.jobs.status import JOB_TERMINAL, JobStatus
from tests.simulation.farm import Faults, SimulatedFarm

HOUR = 3600.0


def assert_sound(farm: SimulatedFarm) -> None:
    """Check the invariants of a farm after all faults."""
    jobs = list(farm.store.jobs.values())
    assert len(jobs) == farm.expected
    lost = [job.id for job in jobs if job.status not in JOB_TERMINAL]
    assert lost == [], "jobs were lost"
    for job in jobs:
        assert job.written["notify"] == 1, f"{job.id} was told {job.written['notify']} times"
        assert job.written["settle"] + job.written["release"] == 1, f"{job.id} was settled {job.written}"
        assert (job.written["settle"] == 1) == (job.status is JobStatus.completed)
        if job.status is JobStatus.failed:
            assert job.poison, f"{job.id} failed without fault"
        if job.status is JobStatus.completed:
            assert all(farm.drawn[task.id] >= 1 for task in job.tasks), f"{job.id} completed without being drawn"
    assert not farm.store.leases
    assert all(job.leased_frames == 0 for job in jobs)


@pytest.mark.parametrize("seed", range(60))
def test_every_job_ends_once_whatever_goes_wrong(seed: int) -> None:
    farm = SimulatedFarm(seed, workers=1 + seed % 12, jobs=20 + seed)
    farm.run(10 * HOUR)
    assert_sound(farm)


@pytest.mark.parametrize("seed", range(20))
def test_nobody_starves_while_others_queue_without_end(seed: int) -> None:
    quiet = Faults(*[0.0] * len(fields(Faults)))
    farm = SimulatedFarm(seed, workers=4, jobs=120, faults=quiet)
    farm.run(10 * HOUR)
    assert_sound(farm)
    makespan = max(job.ended or 0.0 for job in farm.store.jobs.values())
    short = [job for job in farm.store.jobs.values() if job.seconds <= 1]
    waits = sorted((job.first_lease or 0.0) - job.created for job in short)
    assert waits[len(waits) // 2] < makespan / 4, "short jobs are stuck behind long ones"


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(60, 560))
def test_hundreds_of_seeds_are_sound(seed: int) -> None:
    assert_seed_is_sound(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(560, 5060))
def test_thousands_of_seeds_are_sound(seed: int) -> None:
    assert_seed_is_sound(seed)


def assert_seed_is_sound(seed: int) -> None:
    farm = SimulatedFarm(seed, workers=1 + seed % 20, jobs=20 + seed % 80)
    farm.run(10 * HOUR)
    assert_sound(farm)


@pytest.mark.thorough
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
def test_a_thousand_workers_and_ten_thousand_jobs_are_sound(seed: int) -> None:
    farm = SimulatedFarm(seed, workers=1000, jobs=10_000)
    farm.run(10 * HOUR)
    assert_sound(farm)
