"""Which releases can use the database. The schema can be newer than the code, so that an upgrade can be undone."""

from __future__ import annotations

from sqlalchemy import CheckConstraint
from sqlmodel import Field, SQLModel


class SchemaState(SQLModel, table=True):
    """The only row of the state. A migration that removes what older code needs raises `oldest_head`."""

    __tablename__ = "schema_state"
    __table_args__ = (CheckConstraint("id = 1", name="ck_schema_state_one_row"),)

    id: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    oldest_head: str
    """Newest migration of the oldest release that can use the schema."""
