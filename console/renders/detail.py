"""Details of one render."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from console.row_faults import labels_of
from console.uploads import ShownUpload
from farm_core.accounts.models import Account
from farm_core.jobs.models import Job, JobEvent, Task
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.status import TaskStatus
from farm_core.stills.subject import composition_of
from farm_core.storage.links import PATH_PREFIX
from farm_core.templates import repository as templates
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from farm_core.webhooks.models import Delivery
from motion.template import MEDIA_KINDS

EVENTS_MAX: Final = 200
STAGE_WORDS: Final = {"read": "read back"}
"""Words for stages whose names do not say enough."""


@dataclass(frozen=True, slots=True)
class SegmentBar:
    """A segment in the timeline. `left` and `width` are percentages of the render's time so far."""

    index: int
    first_frame: int
    last_frame: int
    state: str
    """`waiting`, `running`, `cached`, `rendered`, `failed` or `withdrawn`."""
    worker: str
    attempts: int
    seconds: float | None
    left: float
    width: float
    error: str | None
    started: datetime | None


@dataclass(frozen=True, slots=True)
class ShownInput:
    """Label and value of a render's input. `upload` is set if the value is an unexpired upload."""

    label: str
    value: str
    upload: ShownUpload | None


@dataclass(frozen=True, slots=True)
class Detail:
    """A render with its account, tasks and other records, and its template: the version of the render's creation while
    that is kept, then the newest.
    """

    job: Job
    template: Template
    account: Account
    tasks: Sequence[Task]
    events: Sequence[JobEvent]
    delivery: Delivery | None

    @property
    def retried_as(self) -> str | None:
        """Return the id of the render that was created by a retry of this one."""
        return next((str((one.detail or {}).get("job")) for one in self.events if one.event == "retry"), None)

    @property
    def retry_of(self) -> str | None:
        """Return the id of the failed or cancelled render that this one retries."""
        return next((str(one.detail["again"]) for one in self.events if one.detail and one.detail.get("again")), None)

    @property
    def duration_seconds(self) -> float:
        """Return the length of the render's video."""
        return composition_of(self.job, self.template)[1]

    def inputs_at(self, origin: str) -> dict[str, Any]:
        """Return the inputs as in a request: uploads have their full addresses."""
        media = {field.id for field in fields_of(self.template) if field.kind in MEDIA_KINDS}
        uploads = {
            name: origin.rstrip("/") + value
            for name, value in self.job.inputs.items()
            if name in media and isinstance(value, str) and value.startswith(PATH_PREFIX)
        }
        return dict(self.job.inputs) | uploads

    def shown_inputs(self, origin: str, uploads: Mapping[str, ShownUpload]) -> list[ShownInput]:
        """Return the inputs in the template's order. `uploads` are the account's uploads by their addresses."""
        given, labels = self.inputs_at(origin), labels_of(fields_of(self.template))
        ordered = [*(name for name in labels if name in given), *(name for name in given if name not in labels)]
        return [
            ShownInput(labels.get(name) or name, str(given[name]), uploads.get(str(given[name]))) for name in ordered
        ]

    @property
    def segments(self) -> list[Task]:
        """Return the segment tasks in order."""
        return [task for task in self.tasks if task.kind == TaskKind.render]

    @property
    def cached_segments(self) -> int:
        """Return the number of segments from the cache."""
        return sum(bool((task.report or {}).get("cached")) for task in self.segments)

    @property
    def workers(self) -> list[str]:
        """Return the ids of the workers of the tasks."""
        return sorted({task.worker for task in self.tasks if task.worker})

    @property
    def warnings(self) -> list[str]:
        """Return the warnings of the render, worded for designers."""
        found = [
            *(self.job.warnings or ()),
            *(one for task in self.tasks for one in (task.report or {}).get("warnings") or ()),
        ]
        # Reports of earlier releases contain plain strings.
        return list(dict.fromkeys(one if isinstance(one, str) else str(one["message"]) for one in found))

    def stages(self) -> list[tuple[str, float]]:
        """Return the total milliseconds of each stage over all segments, longest first."""
        sums: dict[str, float] = {}
        for task in self.segments:
            for name, ms in ((task.report or {}).get("stages_ms") or {}).items():
                sums[name] = sums.get(name, 0.0) + float(ms)
        return sorted(
            ((STAGE_WORDS.get(name, name), ms) for name, ms in sums.items() if ms > 0), key=lambda one: -one[1]
        )

    def timeline(self, now: datetime, starts: Mapping[int, float]) -> list[SegmentBar]:
        """Return the segments as bars on a time axis from the render's start to its end, or to now.

        `starts`: start of each running segment (`ProgressReader.segment_starts`).
        """
        start = self.job.started_at or self.job.created_at
        total = max(0.001, ((self.job.finished_at or now) - start).total_seconds())
        return [_bar(task, start, total, now, starts.get(task.index)) for task in self.segments]


async def detail(session: AsyncSession, account_id: str | None, job_id: str) -> Detail | None:
    """Return the render if it exists and belongs to the account, or to any account with None."""
    statement = (
        select(Job, Template, Account)
        .join(Template, col(Template.id) == col(Job.template_id))
        .join(Account, col(Account.id) == col(Job.account_id))
        .where(col(Job.id) == job_id)
    )
    if account_id is not None:
        statement = statement.where(col(Job.account_id) == account_id)
    row = (await session.execute(statement)).first()
    if row is None:
        return None
    tasks = list(await session.scalars(select(Task).where(col(Task.job_id) == job_id).order_by(col(Task.index))))
    events = select(JobEvent).where(col(JobEvent.job_id) == job_id).order_by(col(JobEvent.id).desc()).limit(EVENTS_MAX)
    delivery = await session.scalar(select(Delivery).where(col(Delivery.job_id) == job_id))
    template = await templates.version_of(session, row[1], row[0].template_version)
    return Detail(row[0], template, row[2], tasks, list(await session.scalars(events)), delivery)


def _bar(task: Task, start: datetime, total: float, now: datetime, started: float | None) -> SegmentBar:
    report: Mapping[str, Any] = task.report or {}
    seconds = float(report["seconds"]) if "seconds" in report else None
    begun, ended = _bounds(task, seconds, now, started)
    left = 100.0 if begun is None else min(99.5, max(0.0, 100 * (begun - start).total_seconds() / total))
    width = 0.0 if begun is None or ended is None else 100 * (ended - begun).total_seconds() / total
    return SegmentBar(
        task.index, task.first_frame, task.first_frame + task.frame_count - 1, _state(task, report), task.worker or "",
        task.attempt, seconds, left, min(max(width, 0.5), 100 - left), task.error, begun,
    )  # fmt: skip


def _bounds(
    task: Task, seconds: float | None, now: datetime, started: float | None
) -> tuple[datetime | None, datetime | None]:
    if task.status == TaskStatus.leased:
        begun = datetime.fromtimestamp(started, now.tzinfo) if started is not None else now - timedelta(seconds=1)
        return begun, now
    if task.finished_at is None or task.status == TaskStatus.withdrawn:
        return None, None
    return task.finished_at - timedelta(seconds=seconds or 0), task.finished_at


def _state(task: Task, report: Mapping[str, Any]) -> str:
    words = {TaskStatus.pending: "waiting", TaskStatus.leased: "running", TaskStatus.failed: "failed"}
    if task.status == TaskStatus.done:
        return "cached" if report.get("cached") else "rendered"
    return words.get(TaskStatus(task.status), "withdrawn")
