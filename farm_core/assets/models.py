"""Table of uploaded media."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Column
from sqlmodel import Field, SQLModel

from farm_core.db.columns import moment


class Asset(SQLModel, table=True):
    """File of `POST /v1/assets`, stored under `storage_key` for 24 hours, and served under `/files/`."""

    __tablename__ = "assets"

    id: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="accounts.id", index=True)
    storage_key: str = Field(unique=True)
    bytes: int = Field(sa_column=Column(BigInteger, nullable=False))
    mime: str
    filename: str | None = None
    """File name on the uploader's machine, without folders."""
    created_at: datetime = moment()
    expires_at: datetime = moment(index=True)
