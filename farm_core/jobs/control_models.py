"""Tables of controls that have no row of their own: the whole queue, and drained nodes."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, Integer
from sqlmodel import Field, SQLModel

from farm_core.db.columns import moment


class QueueState(SQLModel, table=True):
    """The only row, which says whether the whole queue is paused."""

    __tablename__ = "queue_state"
    __table_args__ = (CheckConstraint("id = 1", name="ck_queue_state_one_row"),)

    id: int = Field(default=1, sa_column=Column(Integer, primary_key=True, autoincrement=False))
    paused_at: datetime | None = moment(nullable=True)


class DrainedNode(SQLModel, table=True):
    """A node whose workers get no new work, including workers that start later."""

    __tablename__ = "drained_nodes"

    node: str = Field(primary_key=True)
    drained_at: datetime = moment()
