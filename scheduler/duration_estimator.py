"""Estimate of a segment's duration, learned from finished segments. A pure function of the given times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

STRAGGLER_FACTOR: Final = 3.0
"""A segment that takes this many times its expected time is given to a second worker as well."""

STRAGGLER_LEAST_SECONDS: Final = 3.0
_WEIGHT: Final = 0.3


@dataclass(slots=True)
class DurationEstimator:
    """Learned seconds per frame of every job, and of all of them per megapixel as a first guess for a new one."""

    by_job: dict[str, float] = field(default_factory=dict)
    per_megapixel: float | None = None

    def learn(self, job_id: str, frame_count: int, width: int, height: int, seconds: float) -> None:
        """Learn from a finished segment. Recent ones weigh more."""
        per_frame = seconds / frame_count
        self.by_job[job_id] = _blend(self.by_job.get(job_id), per_frame)
        self.per_megapixel = _blend(self.per_megapixel, per_frame / (width * height / 1e6))

    def forget(self, job_id: str) -> None:
        """Forget a job that has ended."""
        self.by_job.pop(job_id, None)

    def frame_seconds(self, job_id: str, width: int, height: int) -> float | None:
        """Return the expected seconds for one frame, or None if nothing is known yet."""
        if job_id in self.by_job:
            return self.by_job[job_id]
        return None if self.per_megapixel is None else self.per_megapixel * width * height / 1e6

    def is_straggler(self, job_id: str, frame_count: int, elapsed_seconds: float) -> bool:
        """Return True if a segment is so much slower than its siblings that a second copy is worth its cost."""
        if job_id not in self.by_job:
            return False
        expected = self.by_job[job_id] * frame_count
        return elapsed_seconds > max(STRAGGLER_LEAST_SECONDS, STRAGGLER_FACTOR * expected)


def _blend(known: float | None, new: float) -> float:
    return new if known is None else known + _WEIGHT * (new - known)
