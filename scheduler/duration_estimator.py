"""Estimate the duration of a segment from the job's finished segments. Pure: the caller measures the times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

STRAGGLER_FACTOR: Final = 3.0
"""A second worker gets a segment that takes this many times its expected duration."""

STRAGGLER_LEAST_SECONDS: Final = 3.0
_WEIGHT: Final = 0.3


@dataclass(slots=True)
class DurationEstimator:
    """Seconds per frame of each job, learned from its segments."""

    by_job: dict[str, float] = field(default_factory=dict)

    def learn(self, job_id: str, frame_count: int, seconds: float) -> None:
        """Learn from a finished segment. Recent segments count more."""
        frame_seconds = seconds / frame_count
        known = self.by_job.get(job_id, frame_seconds)
        self.by_job[job_id] = known + _WEIGHT * (frame_seconds - known)

    def forget(self, job_id: str) -> None:
        """Forget a job that has ended."""
        self.by_job.pop(job_id, None)

    def is_straggler(self, job_id: str, frame_count: int, elapsed_seconds: float) -> bool:
        """Return True if a segment is so slow that a second copy of it is worth the cost."""
        if job_id not in self.by_job:
            return False
        expected = self.by_job[job_id] * frame_count
        return elapsed_seconds > max(STRAGGLER_LEAST_SECONDS, STRAGGLER_FACTOR * expected)
