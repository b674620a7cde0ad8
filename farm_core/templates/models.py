"""Tables of templates and of their former versions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Column, Index, Integer, PrimaryKeyConstraint
from sqlmodel import Field, SQLModel

from farm_core.db.columns import json, moment


class Template(SQLModel, table=True):
    """A frozen composition. `inputs` is the public manifest; `targets` (input id -> write target) is never returned.

    The document is in storage under its content hash. A new version replaces the content and keeps the id. A deleted
    template keeps its row while jobs or batches refer to it.
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
    version: int = Field(default=1, sa_column=Column(Integer, nullable=False, server_default="1"))
    created_at: datetime = moment()
    updated_at: datetime = moment()
    deleted_at: datetime | None = moment(nullable=True)


class TemplateVersion(SQLModel, table=True):
    """Content of a replaced template, for jobs that were created before (`Job.template_version`), and to restore it.

    It is kept while the account has an open job from before `replaced_at`, or while it is `restorable`: one of the
    newest of a template that exists. Rows of the former release are not restorable and have no size.
    """

    __tablename__ = "template_versions"
    __table_args__ = (
        PrimaryKeyConstraint("template_id", "version"),
        Index("template_versions_document", "document_key"),
    )

    template_id: str = Field(foreign_key="templates.id")
    version: int
    account_id: str = Field(index=True)
    inputs: list[dict[str, Any]] = json()
    targets: dict[str, Any] = json()
    composition_id: str | None = None
    duration_seconds: float
    document_key: str
    replaced_at: datetime = moment()
    width: float | None = None
    height: float | None = None
    fps: float | None = None
    restorable: bool = Field(default=False, sa_column=Column(Boolean, nullable=False, server_default="false"))
