from __future__ import annotations

from pathlib import Path

from farm_core.jobs.diagram import states_page
from farm_core.jobs.status import JOB_EDGES, JobStatus, writes_with

ROOT = Path(__file__).resolve().parents[3]


def test_the_diagrams_are_those_of_the_tables() -> None:
    assert (ROOT / "docs" / "states.md").read_text() == states_page()


def test_a_terminal_job_never_moves() -> None:
    assert {status for status, _ in JOB_EDGES}.isdisjoint({JobStatus.completed, JobStatus.failed, JobStatus.cancelled})


def test_a_job_that_has_not_been_claimed_can_neither_complete_nor_fail() -> None:
    assert {event for status, event in JOB_EDGES if status is JobStatus.queued} == {"claim", "cancel"}


def test_only_a_completed_job_costs_minutes_and_every_end_is_announced() -> None:
    assert writes_with(JobStatus.completed) == ("withdraw", "notify", "settle")
    assert writes_with(JobStatus.failed) == writes_with(JobStatus.cancelled) == ("withdraw", "notify", "release")
    assert writes_with(JobStatus.processing) == ()
