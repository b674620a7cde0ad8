"""The state machines of jobs, tasks and deliveries: enums and tables of edges.

The tables define all transitions. The diagrams in `docs/states.md` are generated from them.
"""

from __future__ import annotations

from enum import StrEnum, auto
from typing import Final


class JobStatus(StrEnum):
    """The five public states of a job."""

    queued = auto()
    processing = auto()
    completed = auto()
    failed = auto()
    cancelled = auto()


JOB_EDGES: Final = {
    (JobStatus.queued, "claim"): JobStatus.processing,
    (JobStatus.queued, "cancel"): JobStatus.cancelled,
    (JobStatus.processing, "complete"): JobStatus.completed,
    (JobStatus.processing, "fail"): JobStatus.failed,
    (JobStatus.processing, "cancel"): JobStatus.cancelled,
}
JOB_TERMINAL: Final = frozenset(JobStatus) - {status for status, _ in JOB_EDGES}


class TaskStatus(StrEnum):
    """Status of a task, which is a segment to render or the assembly of a job's segments."""

    pending = auto()
    leased = auto()
    done = auto()
    failed = auto()
    withdrawn = auto()


TASK_EDGES: Final = {
    (TaskStatus.pending, "lease"): TaskStatus.leased,
    (TaskStatus.pending, "withdraw"): TaskStatus.withdrawn,
    (TaskStatus.leased, "finish"): TaskStatus.done,
    (TaskStatus.leased, "retry"): TaskStatus.pending,
    (TaskStatus.leased, "fail"): TaskStatus.failed,
    (TaskStatus.leased, "withdraw"): TaskStatus.withdrawn,
    (TaskStatus.done, "lose"): TaskStatus.pending,
}


class DeliveryStatus(StrEnum):
    """Status of a webhook delivery: waiting, or one of two ends."""

    due = auto()
    delivered = auto()
    dropped = auto()


DELIVERY_EDGES: Final = {
    (DeliveryStatus.due, "deliver"): DeliveryStatus.delivered,
    (DeliveryStatus.due, "drop"): DeliveryStatus.dropped,
    (DeliveryStatus.due, "retry"): DeliveryStatus.due,
    (DeliveryStatus.delivered, "repeat"): DeliveryStatus.due,
    (DeliveryStatus.dropped, "repeat"): DeliveryStatus.due,
}


def writes_with(after: JobStatus) -> tuple[str, ...]:
    """Return the writes in the transaction that moves a job to this status."""
    if after not in JOB_TERMINAL:
        return ()
    return ("withdraw", "notify", "settle" if after is JobStatus.completed else "release")
