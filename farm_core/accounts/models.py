"""Tables of accounts and API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import ARRAY, BigInteger, Boolean, Column, Integer, String
from sqlmodel import Field, SQLModel

from farm_core.db.columns import moment

NAME_LENGTH_MAX: Final = 120
PRIORITY_MAX: Final = 10
"""Limit of the priorities of accounts and jobs: whole numbers from -PRIORITY_MAX to PRIORITY_MAX."""


def is_account_name(name: str) -> bool:
    """Return True if an account can have the name: printable characters, at most NAME_LENGTH_MAX of them."""
    return 0 < len(name) <= NAME_LENGTH_MAX and name.isprintable()


class Account(SQLModel, table=True):
    """An account. A limit column overrides the limit of the plan unless it is null."""

    __tablename__ = "accounts"

    id: str = Field(primary_key=True)
    name: str = Field(unique=True, index=True)
    plan: str = "pro"
    api_enabled: bool | None = None
    monthly_render_minutes: float | None = None
    monthly_api_requests: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    max_active_api_keys: int | None = None
    max_upload_bytes: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    max_storage_bytes: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    unlimited: list[str] = Field(
        default_factory=list, sa_column=Column(ARRAY(String), nullable=False, server_default="{}")
    )
    """Names of limits that do not apply to this account."""
    created_at: datetime = moment()
    operator: bool = Field(default=False, sa_column=Column(Boolean, nullable=False, server_default="false"))
    """Operators can control the whole farm."""
    priority: int = Field(default=0, sa_column=Column(Integer, nullable=False, server_default="0"))
    """Priority of the account. Each step doubles its share of the farm."""
    job_priority: int = Field(default=0, sa_column=Column(Integer, nullable=False, server_default="0"))
    """Priority of the account's new jobs among its own jobs, set by an operator. A request can give a lower one."""
    paused_at: datetime | None = moment(nullable=True)
    """Set while no work of the account is started."""
    suspended_at: datetime | None = moment(nullable=True)
    """Set while the account cannot sign in and no work of it is started."""


class ApiKey(SQLModel, table=True):
    """An API key. Only the SHA-256 of its secret is stored."""

    __tablename__ = "api_keys"

    id: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="accounts.id", index=True)
    name: str
    prefix: str
    secret_hash: str = Field(unique=True)
    scopes: list[str] = Field(sa_column=Column(ARRAY(String), nullable=False))
    created_at: datetime = moment()
    last_used_at: datetime | None = moment(nullable=True)
    request_count: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    expires_at: datetime | None = moment(nullable=True)
    revoked_at: datetime | None = moment(nullable=True)
