"""Table of finished renders by minute."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Column, DateTime
from sqlmodel import Field, SQLModel


def _sum() -> int:
    counter: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    return counter


class JobMinute(SQLModel, table=True):
    """Renders of an account that ended in one minute. Written once the minute is over, and never changed."""

    __tablename__ = "job_minutes"

    minute: datetime = Field(sa_column=Column(DateTime(timezone=True), primary_key=True))
    account_id: str = Field(foreign_key="accounts.id", primary_key=True, index=True)
    completed: int = _sum()
    failed: int = _sum()
    cancelled: int = _sum()
    frames: int = _sum()
    """Frames of completed renders."""
    video_ms: int = _sum()
    """Output duration of completed renders."""


class CountedUntil(SQLModel, table=True):
    """The one row that says up to when minutes have been counted."""

    __tablename__ = "job_roll_up"

    id: int = Field(default=1, primary_key=True)
    until: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
