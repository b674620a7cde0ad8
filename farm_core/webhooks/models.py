"""Table of webhook deliveries."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, text
from sqlmodel import Field, SQLModel

from farm_core.db.columns import json, moment
from farm_core.jobs.status import DeliveryStatus

_STATUSES = ", ".join(f"'{status}'" for status in DeliveryStatus)


class Delivery(SQLModel, table=True):
    """The only webhook of a job, written in the transaction that ends the job. `attempts` is the log of attempts."""

    __tablename__ = "deliveries"
    __table_args__ = (
        CheckConstraint(f"status IN ({_STATUSES})", name="ck_deliveries_status"),
        Index("deliveries_due", "due_at", postgresql_where=text("status = 'due'")),
        Index("deliveries_due_by_account", "account_id", "due_at", "id", postgresql_where=text("status = 'due'")),
        Index(
            "deliveries_leased",
            "lease_expires_at",
            postgresql_where=text("status = 'due' AND lease_expires_at IS NOT NULL"),
        ),
    )

    id: str = Field(primary_key=True)
    job_id: str = Field(foreign_key="jobs.id", unique=True)
    account_id: str | None = None
    """Account of the job. None in rows that ended before the column existed."""
    url: str
    body: dict[str, Any] = json()
    status: str = DeliveryStatus.due
    attempt: int = 0
    due_at: datetime = moment()
    lease_token: str | None = None
    lease_expires_at: datetime | None = moment(nullable=True)
    attempts: list[dict[str, Any]] = json()
    created_at: datetime = moment()
    finished_at: datetime | None = moment(nullable=True)
