"""Tables of sign-in links and console sessions. Only hashes of their secrets are stored."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, ForeignKey, String
from sqlmodel import Field, SQLModel

from farm_core.db.columns import moment


class SignInLink(SQLModel, table=True):
    """A one-time link that signs its bearer in to the console. A `read_only` session cannot change anything."""

    __tablename__ = "sign_in_links"

    token_hash: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="accounts.id", index=True)
    read_only: bool = False
    created_at: datetime = moment()
    expires_at: datetime = moment()
    used_at: datetime | None = moment(nullable=True)


class ConsoleSession(SQLModel, table=True):
    """Session of a signed-in browser. `acting_as` is another account that a signed-in operator acts as."""

    __tablename__ = "console_sessions"

    token_hash: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="accounts.id", index=True)
    acting_as: str | None = Field(
        default=None,
        sa_column=Column(String, ForeignKey("accounts.id", ondelete="SET NULL"), nullable=True, index=True),
    )
    read_only: bool = False
    created_at: datetime = moment()
    expires_at: datetime = moment(index=True)
