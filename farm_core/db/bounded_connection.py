"""Connection to Postgres with a time limit for each answer."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final

from psycopg import AsyncConnection

CANCEL_SECONDS: Final = 5.0
"""Time that Postgres has to cancel a slow statement (`statement_timeout`) before it counts as silent."""


class BoundedConnection(AsyncConnection[Any]):
    """Connection that breaks if Postgres does not answer within `answer_seconds`.

    Postgres cancels slow statements itself, but not while its processes are frozen or wait for a broken disk. The kernel still answers
    for it then, so no limit of the network ends the wait.
    """

    answer_seconds: float

    async def wait(self, *arguments: Any, **options: Any) -> Any:
        """Wait for an answer. Raises OperationalError, as for a server that closes the connection."""
        limit = asyncio.get_running_loop().call_later(self.answer_seconds, self._hang_up)
        try:
            return await super().wait(*arguments, **options)
        finally:
            limit.cancel()

    def _hang_up(self) -> None:
        """End the connection for the waiting call, which still owns its descriptor."""
        with socket.socket(fileno=os.dup(self.pgconn.socket)) as copy:
            copy.shutdown(socket.SHUT_RDWR)


def connecting(answer_seconds: float) -> Callable[..., Awaitable[BoundedConnection]]:
    """Return a function that connects as `AsyncConnection.connect` does."""

    async def connect(*arguments: Any, **options: Any) -> BoundedConnection:
        connection = await BoundedConnection.connect(*arguments, **options)
        connection.answer_seconds = answer_seconds
        return connection

    return connect
