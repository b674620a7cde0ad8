"""Table of animation presets."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, UniqueConstraint
from sqlmodel import Field, SQLModel

from farm_core.db.columns import JsonText, moment


class Preset(SQLModel, table=True):
    """A keyframe preset. Publishing the same name again replaces its data and increments its version."""

    __tablename__ = "presets"
    __table_args__ = (UniqueConstraint("account_id", "name", name="one_preset_per_name"),)

    id: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="accounts.id", index=True)
    name: str
    version: int = 1
    animation_data: str = Field(sa_column=Column(JsonText, nullable=False))
    """The data as sent, as JSON text: unlike JSONB, the JSON type keeps the order of names."""
    created_at: datetime = moment()
    updated_at: datetime = moment()
