"""Count the statements that a database's connections run, SQLAlchemy's and named ones."""

from __future__ import annotations

from typing import Any, Self

import psycopg
from sqlalchemy import event

from farm_core.db.database import Database


class Counter:
    """The number of statements since it was made, of connections that are opened afterwards."""

    def __init__(self, database: Database) -> None:
        self.count = 0
        for engine in database.engines:
            event.listen(engine.sync_engine, "connect", self._watch)

    def _watch(self, connection: Any, _record: object) -> None:
        counter = self

        class Counted(psycopg.AsyncCursor[Any]):
            async def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
                counter.count += 1
                return await super().execute(query, params, **options)

        connection.driver_connection.cursor_factory = Counted
