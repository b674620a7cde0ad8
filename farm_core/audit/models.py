"""Table of the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column
from sqlmodel import Field, SQLModel

from farm_core.db.columns import json, moment


class AuditEntry(SQLModel, table=True):
    """One action of one actor. `target` names the object of the action, such as `account acc_1`.

    Entries never change, except for the number of jobs while an action on many jobs continues.
    """

    __tablename__ = "audit_log"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, primary_key=True, autoincrement=True))
    at: datetime = moment()
    who: str
    role: str
    action: str = Field(index=True)
    target: str = Field(index=True)
    detail: dict[str, Any] | None = json(nullable=True)
