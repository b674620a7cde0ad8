"""Turns of several schedulers at dispatch rounds. Schedulers that look at once read the same tasks, and all but one of them lose these tasks."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.clock import Clock
from farm_core.db.database import waited_in_vain
from farm_core.db.session_lock import session_lock

_LOCK: Final = 7263951484

TURNS_SECONDS: Final = 10.0
"""Time after a lost task during which rounds take turns. A scheduler that is alone never loses one, and takes no lock."""

WAIT_SECONDS: Final = 1.0
"""Time after which a wait for a turn ends. A large round takes a tenth of it."""

VAIN_SECONDS: Final = 60.0
"""Time without turns after a wait in vain."""


class RoundTurns:
    """Turns at dispatch rounds. They only save work: a round without a turn is as correct, and can lose its tasks to another one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._from = self._until = -math.inf

    def lost_tasks(self) -> None:
        """Take turns from now on: another scheduler leased tasks that this one read."""
        self._until = self._clock.monotonic() + TURNS_SECONDS

    @asynccontextmanager
    async def turn(self, connection: AsyncConnection) -> AsyncIterator[None]:
        """Wait for this scheduler's turn, and hold it on a connection that commits every statement.

        A scheduler that stands still with its turn delays each of the others once a minute: after a wait in vain, a scheduler takes no turns
        for VAIN_SECONDS.
        """
        async with AsyncExitStack() as held:
            if self._from <= self._clock.monotonic() < self._until:
                try:
                    await held.enter_async_context(
                        session_lock(connection, _LOCK, "take_turn", "end_turn", wait_ms=round(1e3 * WAIT_SECONDS))
                    )
                except DBAPIError as error:
                    if not waited_in_vain(error):
                        raise
                    self._from = self._clock.monotonic() + VAIN_SECONDS
            yield
