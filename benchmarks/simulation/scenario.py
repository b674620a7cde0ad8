"""Scenario of a simulation, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg

FLOODING: Final = "acc_000"
"""The account with half of all jobs."""

CALM_SHARE: Final = 0.4
"""Faults begin after this share of the arrivals."""

CONTRADICTIONS: Final = {
    "jobs that ended more or less than once": "SELECT count(*) FROM (SELECT 1 FROM jobs LEFT JOIN job_events ON"
    " job_events.job_id = jobs.id AND job_events.event IN ('complete', 'fail', 'cancel') GROUP BY jobs.id"
    " HAVING count(job_events.id) <> 1) AS wrong",
    "open tasks of jobs that have ended": "SELECT count(*) FROM tasks WHERE status IN ('pending', 'leased')",
    "accounts whose charges differ from what was rendered": "SELECT count(*) FROM accounts WHERE"
    " (SELECT coalesce(sum(rendered_ms), 0) FROM usage WHERE usage.account_id = accounts.id) <>"
    " (SELECT coalesce(sum(reserved_ms), 0) FROM jobs WHERE jobs.account_id = accounts.id AND status = 'completed')",
    "open jobs that have ended": "SELECT count(*) FROM open_jobs",
    "waiting jobs that have ended": "SELECT count(*) FROM waiting_jobs",
    "held jobs that have ended": "SELECT count(*) FROM held_jobs",
    "queues that are not empty": "SELECT count(*) FROM account_queues WHERE queued <> 0 OR processing <> 0 OR leased_frames <> 0"
    " OR reserved_ms <> 0 OR next_job_id IS NOT NULL OR ready_place IS NOT NULL",
}
"""Counters that must be zero when every job has ended."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Jobs of three seconds arrive at `jobs_per_second` for `arrival_seconds`; then the farm drains."""

    workers: int
    nodes: int
    jobs_per_second: float
    arrival_seconds: float
    accounts: int = 100
    schedulers: int = 4
    segment_seconds: float = 1.0
    """Seconds of a worker for a second of output."""
    with_faults: bool = True
    """Lose one in 25 nodes, cut off as many, and stop Postgres for `outage_seconds`; single assignments fail too."""
    outage_seconds: float = 30.0
    dying_schedulers: int = 0
    """Schedulers that die with the first nodes, some of their jobs between claim and plan. Others replace them."""
    cancelled_share: float = 0.0
    """Share of the jobs that their callers cancel within seconds."""
    poisoned_share: float = 0.0
    """Share of the jobs that crash every worker."""
    seed: int = 1


@dataclass(slots=True)
class Outcome:
    """Result of a simulation. Moments and waits are simulated seconds, processor times are real."""

    created: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Account and moment of creation of each job."""
    first_leases: Mapping[str, float] = field(default_factory=dict)
    """Time of the first lease of each job."""
    statuses: Mapping[str, Set[str]] = field(default_factory=dict)
    """Jobs by their status at the end."""
    cancelled: set[str] = field(default_factory=set)
    """Jobs whose callers were told that they are cancelled."""
    poisoned: Set[str] = frozenset()
    """Jobs that crash every worker."""
    orphans: int = 0
    """Number of jobs whose scheduler died before it planned them."""
    seconds: float = 0.0
    statements: int = 0
    scheduler_seconds: float = 0.0
    postgres_seconds: float = 0.0
    contradictions: Sequence[str] = ()

    def read(self, connection: psycopg.Connection[Any]) -> None:
        """Take in what the tables say at the end."""
        jobs = connection.execute("SELECT status, array_agg(id) FROM jobs GROUP BY status").fetchall()
        self.statuses = {status: set(ids) for status, ids in jobs}
        found = {name: connection.execute(query.encode()).fetchone() for name, query in CONTRADICTIONS.items()}
        self.contradictions = [f"{name}: {row}" for name, row in found.items() if row != (0,)]

    def waits(self, before: float = float("inf"), *, flooding: bool = True) -> list[float]:
        """Return the seconds from creation to first lease, in order of size, of jobs that were created before the moment."""
        return sorted(
            self.first_leases[job] - created
            for job, (account, created) in self.created.items()
            if created < before and job in self.first_leases and (flooding or account != FLOODING)
        )

    def fairness(self, service_seconds: float) -> float:
        """Return Jain's index of the accounts' mean seconds from creation to the end of the first segment.

        1 says that all accounts wait equally long, 1 / n that one of n accounts has all the waiting. The flooding account waits
        for itself and is left out.
        """
        times: dict[str, list[float]] = {}
        for job, (account, created) in self.created.items():
            if account != FLOODING and job in self.first_leases:
                times.setdefault(account, []).append(self.first_leases[job] - created + service_seconds)
        means = [sum(each) / len(each) for each in times.values()]
        return sum(means) ** 2 / (len(means) * sum(mean**2 for mean in means))
