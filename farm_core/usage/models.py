"""Tables of monthly usage and of what accounts have in storage."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, String
from sqlmodel import Field, SQLModel

from farm_core.db.columns import counter


class Usage(SQLModel, table=True):
    """Counters of an account in one UTC month (`period`, YYYY-MM). Times are in milliseconds, so that sums are exact."""

    __tablename__ = "usage"

    account_id: str = Field(foreign_key="accounts.id", primary_key=True)
    period: str = Field(primary_key=True)
    api_requests: int = counter()
    render_jobs: int = counter()
    render_duration_ms: int = counter()
    rendered_ms: int = counter()
    asset_bytes: int = counter()


class ObjectCharge(SQLModel, table=True):
    """An object that counts against an account's storage, once for each account that uses it, until it is deleted.

    Keys are storage keys. Data in the database has `presets/<id>`, `inputs/<id of a job>` (includes its metadata) or
    `batches/<id>` (errors of refused rows).
    """

    __tablename__ = "object_charges"
    __table_args__ = (CheckConstraint("bytes >= 0", name="ck_object_charges_bytes"),)

    account_id: str = Field(sa_column=Column(String, ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True))
    key: str = Field(primary_key=True, index=True)
    bytes: int = Field(sa_column=Column(BigInteger, nullable=False))
