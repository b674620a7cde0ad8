"""Decide what happens to a task after a failed attempt. Pure: workers report facts, and this function decides."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

FAILURES_MAX: Final = 3
STORE_PAUSE_SECONDS: Final = 2.0
"""Pause before the next attempt if storage is away. The worker has already retried for a while."""
RESERVE_PAUSE_SECONDS_MAX: Final = 50.0
"""Longest pause before the next attempt if a disk has only its reserve left; `open_work` ignores pauses of a minute and more. An attempt can draw for long before its file is refused."""
MISSING_PAUSE_SECONDS: Final = 15.0
"""Pause before the next attempt if an object is missing. Storage that comes back, or a disk that is mounted again, may have it."""
STORAGE_AWAY: Final = "Storage could not be reached."
REPLACED: Final = "The worker is being replaced."
MISSING: Final = "A file that the render needs is not in the farm's storage."
DISK_RESERVED: Final = "A disk of the farm has only its reserve of free space left."
REPEATED_FAILURE: Final = "The render failed repeatedly."


class FailureKind(StrEnum):
    """Kind of failure of an attempt."""

    document = "document"
    """The document or its media cannot be rendered: every worker would fail."""
    crash = "crash"
    """The worker's process died or raised an unexpected error during this task."""
    stall = "stall"
    """No frame was finished within FRAME_SECONDS_MAX."""
    lost = "lost"
    """The worker, its machine or the cluster was lost, through no fault of the task."""
    space = "space"
    """The task's temporary files or its memory are large, and the worker had too little beside them. No worker is to blame."""
    missing = "missing"
    """Storage says that it has no such object as the task needs. No worker is to blame."""
    store = "store"
    """Storage did not answer, or the disk of the worker's temporary files is full, through no fault of task or
    worker."""
    reserve = "reserve"
    """A large file was refused, because the disk of storage or of temporary files has only its reserve left. Neither task nor worker is
    to blame."""


WAITING: Final = (FailureKind.store, FailureKind.reserve)
"""Failures that repeat until an operator acts, possibly for days."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Report of a failed attempt. `public_message` is fit for callers: no paths, hosts or queries."""

    kind: FailureKind
    public_message: str
    worker: str | None = None


def stall(worker: str, frame_seconds_max: float) -> Failure:
    """Return the failure of a worker that was restarted because it finished no frame in time."""
    message = f"A frame took longer than {frame_seconds_max:g} s to draw (FRAME_SECONDS_MAX)."
    return Failure(FailureKind.stall, message, worker)


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after `after_seconds`, if possible on another worker. `failures` is the new count."""

    after_seconds: float
    avoid_worker: str | None
    failures: int


@dataclass(frozen=True, slots=True)
class Fail:
    """Give up; the job fails with this message."""

    public_message: str


def judge(failures: int, failure: Failure, attempt: int = 1) -> Retry | Fail:
    """Return the verdict on attempt number `attempt`, counted from 1. The task has failed `failures` times before."""
    match failure.kind:
        case FailureKind.document:
            return Fail(failure.public_message)
        case FailureKind.lost:
            return Retry(0.2, None, failures)
        case FailureKind.store:
            return Retry(STORE_PAUSE_SECONDS, failure.worker, failures)  # the disk of its machine may be full
        case FailureKind.reserve:
            return Retry(reserve_pause_seconds(attempt), failure.worker, failures)
        case FailureKind.crash | FailureKind.stall | FailureKind.space | FailureKind.missing:
            if failures + 1 >= FAILURES_MAX:
                return Fail(REPEATED_FAILURE if failure.kind is FailureKind.crash else failure.public_message)
            pause = MISSING_PAUSE_SECONDS if failure.kind is FailureKind.missing else backoff_seconds(failures)
            return Retry(pause, failure.worker, failures + 1)


def backoff_seconds(failures: int) -> float:
    """Return the delay before attempt `failures` + 2: half a second, doubled after each failure."""
    return float(0.5 * 2**failures)


def reserve_pause_seconds(attempt: int) -> float:
    """Return the delay after an attempt that met the reserve of a disk: doubled after each one, up to RESERVE_PAUSE_SECONDS_MAX."""
    return min(RESERVE_PAUSE_SECONDS_MAX, STORE_PAUSE_SECONDS * 2.0 ** min(attempt - 1, 10))
