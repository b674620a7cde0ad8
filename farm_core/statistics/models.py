"""Table of finished renders by minute."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, DateTime
from sqlmodel import Field, SQLModel

from farm_core.db.columns import counter


class JobMinute(SQLModel, table=True):
    """Renders of an account that ended in one minute. The row is written after that minute and never changes."""

    __tablename__ = "job_minutes"

    minute: datetime = Field(sa_column=Column(DateTime(timezone=True), primary_key=True))
    account_id: str = Field(foreign_key="accounts.id", primary_key=True, index=True)
    completed: int = counter()
    failed: int = counter()
    cancelled: int = counter()
    frames: int = counter()
    """Number of frames of completed renders."""
    video_ms: int = counter()
    """Output duration of completed renders."""


class CountedUntil(SQLModel, table=True):
    """The only row, with the time up to which minutes have been counted."""

    __tablename__ = "job_roll_up"

    id: int = Field(default=1, primary_key=True)
    until: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
