"""Tables derived from jobs and tasks. With them, claims, dispatches and counts cost the same at any queue depth.

Database triggers update them in the transactions that change jobs and tasks (`queues.sql` and files that replace
parts of it, in `farm_core/db/migrations/sql/`). They stay correct for every writer: any release of the farm, an
operator's SQL, a bulk load.
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
    """Job counts of an account by status, its next job, and its share of the farm. Every account has a row.

    `turn` orders accounts for the claim: the account's next turn, divided by the weight of its priority (two to the
    power of it). `load` orders accounts for dispatch: frames being rendered, divided by that weight. `held` accounts
    are paused or suspended: none of their work is claimed or leased. `ready_place` is the smallest
    `OpenJob.ready_place` of the account. `stored_bytes` is the sum of its `ObjectCharge.bytes`. All sums are in one
    row, so that no two transactions lock them in different orders.
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

    `place` orders the queue of an account. It is a time in seconds that never changes: the job's creation plus
    length, minus a day for each priority step (`job_place`). Short jobs overtake, and long ones do not starve.
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
    """A claimed job that is not planned yet. Another scheduler adopts it when the lease expires.

    The table's name contains "held" because schedulers of the previous release use it too.
    """

    __tablename__ = "held_jobs"
    __table_args__ = ({"postgresql_with": {"fillfactor": 50}},)

    job_id: str = Field(primary_key=True)
    account_id: str
    lease_expires_at: datetime = moment()


class OpenJob(SQLModel, table=True):
    """A planned job in processing, with sums of its open tasks.

    `base` is the job's creation time in seconds, minus a day for each priority step. `ready_place` orders the
    account's jobs that have a task to lease: `base` plus the remaining seconds of output. Jobs with only the assembly
    left come first. It is null if no task can be leased.
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
    """Number of pending segments."""
    running: int = counter()
    """Number of leased segments."""
    assemblies: int = counter()
    """1 if the assembly is pending, else 0."""
    spent_seconds: float = Field(default=0.0, sa_column=Column(Float, nullable=False, server_default="0"))
    """Seconds that the finished segments took."""
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
