"""Table of templates."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlmodel import Field, SQLModel

from farm_core.db.columns import json, moment


class Template(SQLModel, table=True):
    """A frozen composition. `inputs` is the public manifest; `targets` (input id -> write target) is never returned.

    The document is in storage under its content hash. A deleted template keeps its row while jobs or batches refer to
    it.
    """

    __tablename__ = "templates"
    __table_args__ = (Index("templates_document", "document_key"),)

    id: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="accounts.id", index=True)
    name: str
    description: str | None = None
    width: float
    height: float
    fps: float
    duration_seconds: float
    inputs: list[dict[str, Any]] = json()
    targets: dict[str, Any] = json()
    composition_id: str | None = None
    document_key: str
    project_id: str | None = None
    created_at: datetime = moment()
    updated_at: datetime = moment()
    deleted_at: datetime | None = moment(nullable=True)
