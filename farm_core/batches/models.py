"""Table of batches."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel

from farm_core.db.columns import json, moment


class Batch(SQLModel, table=True):
    """A batch. Accepted rows are jobs (jobs.batch_id); refused rows are stored as `{"index", "errors": [{"field",
    "message"}], "metadata"}`."""

    __tablename__ = "batches"
    __table_args__ = (
        Index(
            "one_batch_per_key", "account_id", "idempotency_key", unique=True,
            postgresql_where=text("idempotency_key IS NOT NULL"),
        ),
        Index("batches_newest_first", "account_id", text("created_at DESC"), text("id DESC")),
        Index("batches_of_template", "template_id"),
    )  # fmt: skip

    id: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="accounts.id")
    template_id: str = Field(foreign_key="templates.id")
    idempotency_key: str | None = None
    request_hash: str
    row_count: int
    refused: list[dict[str, Any]] = json()
    created_at: datetime = moment()
