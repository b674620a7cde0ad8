"""Table of monthly usage."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column
from sqlmodel import Field, SQLModel


def _counter() -> int:
    counter: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    return counter


class Usage(SQLModel, table=True):
    """Counters of one account in one UTC month (`period`, YYYY-MM). Times in milliseconds, so that sums are exact."""

    __tablename__ = "usage"

    account_id: str = Field(foreign_key="accounts.id", primary_key=True)
    period: str = Field(primary_key=True)
    api_requests: int = _counter()
    render_jobs: int = _counter()
    render_duration_ms: int = _counter()
    rendered_ms: int = _counter()
    asset_bytes: int = _counter()
