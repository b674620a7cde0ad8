"""State of the whole farm at one time, as pages show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.charts import Chart
from console.farm_state.workers import ShownWorker


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with its remedy. `severe` problems stop renders. Other problems slow them down."""

    what: str
    advice: str
    href: str | None = None
    link: str = "Show the workers"
    severe: bool = False


@dataclass(frozen=True, slots=True)
class Storage:
    """Stored bytes. `free` and `total` describe the local disk. They are None with object storage."""

    segments: int = 0
    segments_max: int = 0
    uploads: int = 0
    free: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """State of the farm at one time. `rates` are frames per second by worker, `dropped_webhooks` those of the last day's renders."""

    at: datetime
    queued: int
    processing: int
    oldest: datetime | None
    paused_since: datetime | None
    workers: Sequence[ShownWorker]
    worker_counts: Mapping[str, int]
    rates: Mapping[str, float]
    hour: Chart
    day: Chart
    storage: Storage
    failures: Sequence[Any]
    dropped_webhooks: int
    problems: Sequence[Problem]

    @property
    def frames_per_second(self) -> float:
        """Return the frames per second of the whole farm."""
        return sum(self.rates.values())
