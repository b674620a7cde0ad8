from __future__ import annotations

from itertools import product
from pathlib import Path

from farm_core.jobs.diagram import states_page
from farm_core.jobs.status import JOB_EDGES, JOB_TERMINAL, JobStatus, effects, next_status

ROOT = Path(__file__).resolve().parents[2]
EVENTS = {event for _, event in JOB_EDGES}


def test_the_diagrams_are_those_of_the_tables() -> None:
    assert (ROOT / "docs" / "states.md").read_text() == states_page()


def test_a_terminal_job_never_moves() -> None:
    assert {next_status(status, event) for status, event in product(JOB_TERMINAL, EVENTS)} == {None}


def test_a_job_that_has_not_been_claimed_can_neither_complete_nor_fail() -> None:
    assert next_status(JobStatus.queued, "complete") is None
    assert next_status(JobStatus.queued, "fail") is None


def test_only_a_completed_job_costs_minutes_and_every_end_is_told() -> None:
    assert effects(JobStatus.completed) == ("withdraw", "notify", "settle")
    assert effects(JobStatus.failed) == effects(JobStatus.cancelled) == ("withdraw", "notify", "release")
    assert effects(JobStatus.processing) == ()
