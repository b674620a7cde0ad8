"""Tables of jobs, tasks and events. Invariants are constraints of the tables."""

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

    Its reservation *is* its row: reserved minutes are the sum of `reserved_ms` over jobs that are queued or processing, so
    a move to a terminal state releases it, exactly once. `document_key` names the frozen document, inputs applied; null
    until ingest is done. `media` maps every source that the document still names to the key of its bytes. `ingest_bytes` is
    what fetching the media inputs added to the account's asset bytes. `renderer` is the kind of worker that all segments come
    from, so that their bytes belong together. `plan_key` names all that the video depends on: equal keys, equal bytes.

    No index names a column that a claim changes (`status`, the lease), not even in its condition: Postgres then writes the
    claimed version into the page of the former one, if it has room, and leaves the indexes alone. Conditions on other columns say the same
    (`has_status`), and `waiting_jobs` and `held_jobs` keep what schedulers look for.
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
    status: str = JobStatus.queued
    progress: float = 0.0
    inputs: dict[str, Any] = json()
    width: int
    height: int
    fps: float
    frame_count: int
    format: str = Field(default="mp4", sa_column=Column(String, nullable=False, server_default="mp4"))
    """A name of `farm_core/jobs/formats.py`."""
    transparent: bool = Field(default=False, sa_column=Column(Boolean, nullable=False, server_default=false()))
    """The composition's background is left out."""
    has_sound: bool = Field(default=False, sa_column=Column(Boolean, nullable=False, server_default=false()))
    """The sound is rendered: by `RENDER_AUDIO` when the job was created."""
    reserved_ms: int = Field(sa_column=Column(BigInteger, nullable=False))
    origin: str
    """Origin of the farm's URLs in the webhook: the public one, or that of the request that created the job."""
    callback_url: str | None = None
    idempotency_key: str | None = None
    request_hash: str
    document_key: str | None = None
    media: dict[str, str] | None = json(nullable=True)
    composition_id: str | None = None
    composition_seconds: float | None = None
    """Composition that is rendered and its length, as in the template when the document was frozen. No length: the template says both."""
    renderer: str | None = None
    plan_key: str | None = None
    ingest_bytes: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    video_key: str | None = None
    receipt_key: str | None = None
    error: str | None = None
    warnings: list[dict[str, Any]] | None = json(nullable=True)
    """Content that the video leaves out (motion/notices.py): partly known at ingest, complete at the end of the job."""
    meta: dict[str, Any] | None = Field(default=None, sa_column=Column("metadata", JSONB, nullable=True))
    """Object that the caller attached to the job: returned with it, never read. Not called `metadata`, which the tables' base class has."""
    request_id: str | None = None
    """Id of the request that created the job: the logs of its scheduler and workers have it too."""
    traceparent: str | None = None
    """Span of that request (W3C Trace Context), if traces are on."""
    batch_id: str | None = Field(default=None, foreign_key="batches.id")
    batch_index: int | None = None
    render_duration_ms: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    attempt: int = 0
    """Leases until the job was planned, without those that a scheduler gave back."""
    failures: int = _failures()
    """Preparations that ended with an error."""
    lease_token: str | None = None
    lease_expires_at: datetime | None = moment(nullable=True)
    created_at: datetime = moment()
    started_at: datetime | None = moment(nullable=True)
    finished_at: datetime | None = moment(nullable=True)
    priority: int = Field(default=0, sa_column=Column(Integer, nullable=False, server_default="0"))
    """Jobs of an account with a higher priority go first; each step is worth a day of waiting, so nothing waits for ever."""


class Task(SQLModel, table=True):
    """A segment of a job, or (kind `assemble`, the last index) the joining of its segments.

    `attempt` counts leases, `failures` those that ended badly by the task's own doing. `report` is what the worker said of the
    attempt that was done: seconds, stages, whether the segment was there already.
    """

    __tablename__ = "tasks"
    __table_args__ = (
        UniqueConstraint("job_id", "index", name="one_task_per_index"),
        CheckConstraint(f"status IN ({_TASK_STATUSES})", name="ck_tasks_status"),
        CheckConstraint("(status = 'leased') = (lease_token IS NOT NULL)", name="ck_tasks_lease"),
        Index("tasks_waiting", "job_id", "index", postgresql_where=text("status = 'pending'")),
        # With the same condition as the next one: else the planner may read all of that one at each look for a lease.
        Index("tasks_lease", "lease_token", postgresql_where=text("status = 'leased'")),
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
    # A lease and a result each write a new version of a task into both, soon after the task is made: their pages begin with room for it.
    _room = DDL(f"ALTER INDEX {_index} SET (fillfactor = 60)")  # type: ignore[no-untyped-call]
    event.listen(SQLModel.metadata.tables["tasks"], "after_create", _room)

# Lists of an account do not show its id to the planner (`is_of_account`). ANALYZE counts one account where one has nearly all jobs, and the
# planner would then look for the few jobs of any other account among all jobs.
_shares = DDL("ALTER TABLE jobs ALTER COLUMN account_id SET (n_distinct = 1000)")  # type: ignore[no-untyped-call]
event.listen(SQLModel.metadata.tables["jobs"], "after_create", _shares)


class JobEvent(SQLModel, table=True):
    """History of a job in order: every transition of the job and of its tasks."""

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


class Segment(SQLModel, table=True):
    """A rendered segment in storage, by the hash of all that its pixels and its encoding depend on. A cache: may go any time."""

    __tablename__ = "segments"

    key: str = Field(primary_key=True)
    bytes: int = Field(sa_column=Column(BigInteger, nullable=False))
    used_at: datetime = moment(index=True)
    warnings: list[dict[str, Any]] | None = json(nullable=True)
    """Warnings of its rendering. Jobs that reuse the segment have them too."""


class Worker(SQLModel, table=True):
    """A render worker as the schedulers last saw it, and how often it has failed in a row."""

    __tablename__ = "workers"

    id: str = Field(primary_key=True)
    node: str
    renderer: str
    device: str
    encoder: str
    memory_bytes: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    disk_free_bytes: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    """Free space of the disk of its temporary files; null if its scheduler does not say."""
    frames_done: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    failures: int = _failures()
    quarantined_until: datetime | None = moment(nullable=True)
    drained_at: datetime | None = moment(nullable=True)
    """Since when the worker gets no new work; null while it does."""
    restart_requested_at: datetime | None = moment(nullable=True)
    """Set until a scheduler has restarted the worker, which finishes its segments first."""
    seen_at: datetime = moment(index=True)
