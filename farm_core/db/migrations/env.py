"""Run migrations, one transaction each, under an advisory lock, without long waits for tables in use."""

from __future__ import annotations

from typing import Literal

from alembic import context
from sqlalchemy import Column, Index, create_engine, text
from sqlalchemy.pool import NullPool
from sqlmodel import AutoString

from farm_core.db.urls import CONNECTION, SERVER_LIMITS, limiting
from farm_core.tables import metadata

_ADVISORY_LOCK = 7_306_821
_LOCK_TIMEOUT = "5s"


def run() -> None:
    """Migrate the configured database to the requested version."""
    engine = create_engine(context.config.attributes["url"], poolclass=NullPool, connect_args=CONNECTION)
    with engine.connect() as connection:
        connection.execute(text(limiting(SERVER_LIMITS)))
        connection.execute(text("SET statement_timeout = 0"))  # the operator's limit for the role or the database
        connection.execute(text(f"SELECT pg_advisory_lock({_ADVISORY_LOCK})"))
        connection.execute(text(f"SET lock_timeout = '{_LOCK_TIMEOUT}'"))
        connection.commit()
        context.configure(
            connection=connection,
            target_metadata=metadata,
            transaction_per_migration=True,
            compare_type=True,
            render_item=_plain_strings,
            include_object=_is_comparable,
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.commit()
    engine.dispose()


def _is_comparable(_item: object, _name: str | None, kind: str, _reflected: bool, other: object) -> bool:
    """Return False for expression indexes that both sides have: Postgres writes their expressions differently."""
    return not (
        kind == "index" and isinstance(other, Index) and any(not isinstance(e, Column) for e in other.expressions)
    )


def _plain_strings(kind: str, item: object, _: object) -> str | Literal[False]:
    """Write SQLModel's string type as SQLAlchemy's, so that migrations do not depend on SQLModel."""
    return "sa.String()" if kind == "type" and isinstance(item, AutoString) else False


run()
