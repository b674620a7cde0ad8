"""Tables derived from jobs and tasks, so that claiming, dispatching and counting cost the same at any depth.

Triggers of the database keep them in the transactions that change jobs and tasks (`queues.sql` and the files that replace parts of
it, in `farm_core/db/migrations/sql/`),
so every writer keeps them right: any release of the farm, an operator's SQL, a bulk load.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    Boolean,
    Column,
    Computed,
    Float,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    text,
)
from sqlmodel import Field, SQLModel

from farm_core.db.columns import counter, moment


class AccountQueue(SQLModel, table=True):
    """Job counts of one account by status, its next job, and its share of the farm; a row for every account.

    `turn` orders accounts for the claim: the next turn of the account, divided by the weight of its priority (two to the
    power of it). `load` orders accounts for dispatch: frames being rendered, divided by that weight. `held` accounts are
    paused or suspended: nothing of theirs is claimed or leased. `ready_place` is the least `OpenJob.ready_place` of the
    account. `stored_bytes` is the sum of its `ObjectCharge.bytes`: one row for all sums, so that no transaction locks two
    of them in different orders.
    """

    __tablename__ = "account_queues"
    __table_args__ = (
        Index(
            "account_queues_turn", "turn", "next_created_at", "next_job_id",
            postgresql_where=text("next_job_id IS NOT NULL AND NOT held"),
        ),
        Index(
            "account_queues_load", "load", "ready_place", "account_id",
            postgresql_where=text("ready_place IS NOT NULL AND NOT held"),
        ),
        {"postgresql_with": {"fillfactor": 50}},
    )  # fmt: skip

    account_id: str = Field(sa_column=Column(String, ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True))
    priority: int = Field(default=0, sa_column=Column(Integer, nullable=False, server_default="0"))
    held: bool = Field(default=False, sa_column=Column(Boolean, nullable=False, server_default="false"))
    queued: int = counter()
    processing: int = counter()
    completed: int = counter()
    failed: int = counter()
    cancelled: int = counter()
    reserved_ms: int = counter()
    stored_bytes: int = counter()
    next_created_at: datetime | None = moment(nullable=True)
    next_job_id: str | None = None
    leased_frames: int = counter()
    ready_place: float | None = None
    turn: float = Field(
        sa_column=Column(Float, Computed("(processing + 1) * power(2, -priority)", persisted=True), nullable=True)
    )
    load: float = Field(
        sa_column=Column(Float, Computed("leased_frames * power(2, -priority)", persisted=True), nullable=True)
    )


class WaitingJob(SQLModel, table=True):
    """A queued job.

    `place` orders the queue of an account, as a moment in seconds that never moves: the job's creation and length, less a day for
    each step of its priority (`job_place`). Short jobs overtake, and long ones do not starve.
    """

    __tablename__ = "waiting_jobs"
    __table_args__ = (
        PrimaryKeyConstraint(
            "account_id", "place", "job_id", postgresql_include=["created_at"]
        ),  # read without the table
    )

    account_id: str
    place: float
    job_id: str
    created_at: datetime = moment()


class HeldJob(SQLModel, table=True):
    """A job that a scheduler has claimed and not planned yet. Another scheduler adopts it when the lease has expired.

    The table keeps its name, "held" jobs: schedulers of the former release use it too.
    """

    __tablename__ = "held_jobs"
    __table_args__ = ({"postgresql_with": {"fillfactor": 50}},)

    job_id: str = Field(primary_key=True)
    account_id: str
    lease_expires_at: datetime = moment()


class OpenJob(SQLModel, table=True):
    """A planned job in processing and the sums of its open tasks.

    `base` is the moment in seconds at which a job of no length would have been created to be as pressing: creation less a
    day for each step of priority. `ready_place` orders the jobs of an account that have a task to lease: `base` and the
    seconds of output left; jobs of which only the assembly is left come first. It is null while nothing can be leased.
    """

    __tablename__ = "open_jobs"
    __table_args__ = (
        Index(
            "open_jobs_ready", "account_id", "ready_place", "job_id", postgresql_where=text("ready_place IS NOT NULL")
        ),
        {"postgresql_with": {"fillfactor": 50}},
    )

    job_id: str = Field(sa_column=Column(String, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True))
    account_id: str
    base: float
    fps: float
    renderer: str | None = None
    """As in `jobs`. If it is null, `jobs` has the current one."""
    leased_frames: int = counter()
    open_frames: int = counter()
    waiting: int = counter()
    """Segments that are pending."""
    running: int = counter()
    """Segments that are leased."""
    assemblies: int = counter()
    """1 while the assembly is pending."""
    spent_seconds: float = Field(default=0.0, sa_column=Column(Float, nullable=False, server_default="0"))
    """Seconds that its finished segments took."""
    ready_place: float | None = Field(
        sa_column=Column(
            Float,
            Computed(
                "CASE WHEN waiting > 0 THEN base + open_frames / fps"
                " WHEN open_frames = 0 AND assemblies > 0 THEN base - 1e12 END",
                persisted=True,
            ),
            nullable=True,
        )
    )
