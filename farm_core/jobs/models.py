"""Tables of jobs, tasks and events. Table constraints enforce the invariants."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    String,
    TextClause,
    UniqueConstraint,
    event,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from farm_core.db.columns import json, moment
from farm_core.jobs.status import JOB_TERMINAL, JobStatus, TaskStatus

_TERMINAL = ", ".join(f"'{status}'" for status in sorted(JOB_TERMINAL))
_STATUSES = ", ".join(f"'{status}'" for status in JobStatus)
_TASK_STATUSES = ", ".join(f"'{status}'" for status in TaskStatus)


_FAILED: Final = "error IS NOT NULL"
_CANCELLED: Final = "finished_at IS NOT NULL AND error IS NULL AND video_key IS NULL"


def _newest() -> tuple[TextClause, ...]:
    return text("created_at DESC"), text("id DESC")


def _failures() -> int:
    count: int = Field(default=0, sa_column=Column(Integer, nullable=False, server_default="0"))
    return count


class Job(SQLModel, table=True):
    """A render job.

    The row is also the job's reservation of minutes: reserved minutes are the sum of `reserved_ms` over queued and
    processing jobs, so a terminal status releases them exactly once. `document_key` names the frozen document with
    inputs applied; it is null until ingest is done. `media` maps every source in the document to its storage key.
    `ingest_bytes` are the asset bytes that its media inputs added to the account's month. `renderer` is the kind of
    worker that renders all segments, so that their bytes fit together. `plan_key` identifies everything that affects
    the video: equal keys mean equal bytes.

    No index uses a column that a claim changes (`status`, the lease), not even in its condition. Postgres then writes
    the new version of the row to the same page, if there is room, and leaves the indexes unchanged. Conditions on
    other columns replace them (`has_status`), and `waiting_jobs` and `held_jobs` have the rows that schedulers look
    for.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint(f"status IN ({_STATUSES})", name="ck_jobs_status"),
        CheckConstraint(f"(finished_at IS NOT NULL) = (status IN ({_TERMINAL}))", name="ck_jobs_finished"),
        CheckConstraint("(status = 'completed') = (video_key IS NOT NULL)", name="ck_jobs_video"),
        CheckConstraint("(status = 'failed') = (error IS NOT NULL)", name="ck_jobs_error"),
        CheckConstraint("progress >= 0 AND progress <= 100", name="ck_jobs_progress"),
        Index(
            "one_job_per_key", "account_id", "idempotency_key", unique=True,
            postgresql_where=text("idempotency_key IS NOT NULL"),
        ),
        Index("jobs_newest_first", "account_id", *_newest()),
        Index("jobs_open_of_account", "account_id", *_newest(), postgresql_where=text("finished_at IS NULL")),
        Index("jobs_same_plan", "account_id", "plan_key", postgresql_where=text("video_key IS NOT NULL")),
        Index(
            "jobs_of_batch", "batch_id", "batch_index", unique=True, postgresql_where=text("batch_id IS NOT NULL")
        ),
        Index("jobs_newest", *_newest()),
        Index("jobs_open", *_newest(), postgresql_where=text("finished_at IS NULL")),
        Index("jobs_failed", *_newest(), postgresql_where=text(_FAILED)),
        Index("jobs_failed_of_account", "account_id", *_newest(), postgresql_where=text(_FAILED)),
        Index("jobs_cancelled", *_newest(), postgresql_where=text(_CANCELLED)),
        Index("jobs_cancelled_of_account", "account_id", *_newest(), postgresql_where=text(_CANCELLED)),
        Index("jobs_newest_of_template", "template_id", *_newest()),
        Index("jobs_video", "video_key", postgresql_where=text("video_key IS NOT NULL")),
        Index("jobs_document", "document_key", postgresql_where=text("document_key IS NOT NULL")),
        Index(
            "jobs_media", text("jsonb_path_query_array(media, '$.*'::jsonpath)"),
            postgresql_using="gin", postgresql_where=text("jsonb_typeof(media) = 'object' AND media <> '{}'::jsonb"),
        ),
        Index("jobs_finished", "finished_at", postgresql_where=text("finished_at IS NOT NULL")),
        {"postgresql_with": {"fillfactor": 50}},
    )  # fmt: skip

    id: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="accounts.id")
    template_id: str = Field(foreign_key="templates.id")
    template_version: int = Field(default=1, sa_column=Column(Integer, nullable=False, server_default="1"))
    """Version of the template at the job's creation. The document is frozen from this version."""
    status: str = JobStatus.queued
    progress: float = 0.0
    inputs: dict[str, Any] = json()
    width: int
    height: int
    fps: float
    frame_count: int
    format: str = Field(default="mp4", sa_column=Column(String, nullable=False, server_default="mp4"))
    """Name in `farm_core/formats.py`."""
    transparent: bool = Field(default=False, sa_column=Column(Boolean, nullable=False, server_default=false()))
    """True if the composition's background is omitted."""
    has_sound: bool = Field(default=False, sa_column=Column(Boolean, nullable=False, server_default=false()))
    """True if the sound is rendered: the value of `RENDER_AUDIO` at the job's creation."""
    reserved_ms: int = Field(sa_column=Column(BigInteger, nullable=False))
    origin: str
    """Origin of the farm's URLs in the webhook: the public one, or that of the creating request."""
    callback_url: str | None = None
    idempotency_key: str | None = None
    request_hash: str
    document_key: str | None = None
    media: dict[str, str] | None = json(nullable=True)
    composition_id: str | None = None
    composition_seconds: float | None = None
    """Length of the rendered composition when the document was frozen. Null: composition and length are those of the
    template."""
    renderer: str | None = None
    plan_key: str | None = None
    ingest_bytes: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    video_key: str | None = None
    receipt_key: str | None = None
    error: str | None = None
    warnings: list[dict[str, Any]] | None = json(nullable=True)
    """Notices of content that the video omits (motion/notices.py). Ingest finds some; the list is complete at the end
    of the job."""
    meta: dict[str, Any] | None = Field(default=None, sa_column=Column("metadata", JSONB, nullable=True))
    """JSON object that the caller attached to the job; the farm only returns it. The tables' base class already uses
    the name `metadata`."""
    request_id: str | None = None
    """Id of the request that created the job. Logs of its scheduler and workers include it."""
    traceparent: str | None = None
    """Span of that request (W3C Trace Context), if tracing is on."""
    batch_id: str | None = Field(default=None, foreign_key="batches.id")
    batch_index: int | None = None
    render_duration_ms: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    attempt: int = 0
    """Number of leases until the job was planned, without those that a scheduler gave back."""
    failures: int = _failures()
    """Number of preparations that ended with an error."""
    lease_token: str | None = None
    lease_expires_at: datetime | None = moment(nullable=True)
    created_at: datetime = moment()
    started_at: datetime | None = moment(nullable=True)
    finished_at: datetime | None = moment(nullable=True)
    priority: int = Field(default=0, sa_column=Column(Integer, nullable=False, server_default="0"))
    """Priority among the account's jobs. A step is worth a day of waiting, so no job waits for ever."""


class Task(SQLModel, table=True):
    """Task of a job: a segment, or (kind `assemble`, the last index) the assembly of all segments.

    `attempt` counts leases, `failures` the attempts that failed through the task's own fault. `report` is the
    worker's report of the successful attempt: seconds, stages, and whether the segment was cached.
    """

    __tablename__ = "tasks"
    __table_args__ = (
        UniqueConstraint("job_id", "index", name="one_task_per_index"),
        CheckConstraint(f"status IN ({_TASK_STATUSES})", name="ck_tasks_status"),
        CheckConstraint("(status = 'leased') = (lease_token IS NOT NULL)", name="ck_tasks_lease"),
        Index("tasks_waiting", "job_id", "index", postgresql_where=text("status = 'pending'")),
        Index("tasks_of_worker", "worker", postgresql_where=text("status = 'leased'")),
    )

    id: str = Field(primary_key=True)
    job_id: str = Field(foreign_key="jobs.id")
    index: int
    kind: str
    first_frame: int
    frame_count: int
    status: str = TaskStatus.pending
    attempt: int = 0
    failures: int = _failures()
    lease_token: str | None = None
    lease_expires_at: datetime | None = moment(nullable=True)
    worker: str | None = None
    avoid_worker: str | None = None
    not_before: datetime | None = moment(nullable=True)
    segment_key: str | None = None
    report: dict[str, Any] | None = json(nullable=True)
    error: str | None = None
    created_at: datetime = moment()
    finished_at: datetime | None = moment(nullable=True)


for _index in ("tasks_pkey", "one_task_per_index"):
    # Leave room in the pages of both indexes: a lease and a result each add a new version of a task, soon after it is
    # created.
    _room = DDL(f"ALTER INDEX {_index} SET (fillfactor = 60)")  # type: ignore[no-untyped-call]
    event.listen(SQLModel.metadata.tables["tasks"], "after_create", _room)

# Set the number of accounts by hand. ANALYZE counts one account if it has nearly all jobs, and the planner would then
# scan all jobs to find the few of another account. Lists hide the account's id from the planner (`is_of_account`).
_shares = DDL("ALTER TABLE jobs ALTER COLUMN account_id SET (n_distinct = 1000)")  # type: ignore[no-untyped-call]
event.listen(SQLModel.metadata.tables["jobs"], "after_create", _shares)


class JobEvent(SQLModel, table=True):
    """History of a job: every transition of the job and of its tasks, in order."""

    __tablename__ = "job_events"
    __table_args__ = (
        Index("job_events_strikes", "at", postgresql_where=text("(detail ->> 'kind') IN ('crash', 'stall')")),
    )

    id: int | None = Field(default=None, sa_column=Column(BigInteger, primary_key=True, autoincrement=True))
    job_id: str = Field(foreign_key="jobs.id", index=True)
    at: datetime = moment()
    event: str
    status: str
    detail: dict[str, Any] | None = json(nullable=True)


class SlowFrame(SQLModel, table=True):
    """A slow frame of an account. Rows are few: one a minute for an account and scheduler, deleted after an hour."""

    __tablename__ = "slow_frames"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, primary_key=True, autoincrement=True))
    at: datetime = moment()
    account_id: str
    worker: str


class Segment(SQLModel, table=True):
    """Cached segment in storage, by a hash of everything that affects its pixels and encoding. It can be deleted at
    any time."""

    __tablename__ = "segments"

    key: str = Field(primary_key=True)
    bytes: int = Field(sa_column=Column(BigInteger, nullable=False))
    used_at: datetime = moment(index=True)
    warnings: list[dict[str, Any]] | None = json(nullable=True)
    """Warnings of its rendering, for all jobs that reuse the segment."""


class Worker(SQLModel, table=True):
    """A render worker as schedulers last saw it, with its number of consecutive failures."""

    __tablename__ = "workers"

    id: str = Field(primary_key=True)
    node: str
    renderer: str
    device: str
    encoder: str
    memory_bytes: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    disk_free_bytes: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    """Free space for the worker's temporary files; null if its scheduler does not report it."""
    frames_done: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    failures: int = _failures()
    quarantined_until: datetime | None = moment(nullable=True)
    drained_at: datetime | None = moment(nullable=True)
    """Time since which the worker gets no new work; null if it gets work."""
    restart_requested_at: datetime | None = moment(nullable=True)
    """Set until a scheduler has restarted the worker. The worker finishes its segments first."""
    seen_at: datetime = moment(index=True)
