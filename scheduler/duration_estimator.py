"""Estimate the duration of a segment from the job's finished segments. Pure: the caller measures the times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

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

    def expected_seconds(self, job_id: str, frame_count: int) -> float | None:
        """Return the expected duration of a segment, or None before one of the job is finished."""
        frame_seconds = self.by_job.get(job_id)
        return None if frame_seconds is None else frame_seconds * frame_count
