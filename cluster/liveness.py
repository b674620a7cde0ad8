"""Distinguish a Ray cluster that is gone from one that is too busy to answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

UNREACHABLE_SECONDS: Final = 15.0
"""Silence after which a cluster is gone if its control store accepts no connections."""
BUSY_SECONDS: Final = 60.0
"""Silence after which a cluster is gone although its control store accepts connections. Ray itself also gives up after 60 s."""
CONNECT_SECONDS: Final = 5.0
"""Time that a connection may take. Packets to a machine that was cut off get no answer at all."""
RETRY_SECONDS: Final = 0.1


class Liveness:
    """The silence of one cluster, by the monotonic `clock`, since its last answer or since this object was made.

    A control store that was restarted needs no care here: Ray ends a process that asks it.
    """

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._address, self._clock = address, clock
        self._heard = clock()

    def heard(self) -> None:
        """Take note of an answer."""
        self._heard = self._clock()

    async def is_gone(self) -> bool:
        """Return True if the cluster has been silent for too long. Connects to its control store only if that can decide."""
        silence = self._clock() - self._heard
        if silence < UNREACHABLE_SECONDS:
            return False
        return silence >= BUSY_SECONDS or not await _accepts(self._address)


async def wait_until_reachable(address: str, seconds: float) -> None:
    """Wait until the control store at `host:port` accepts connections. Raises TimeoutError after `seconds`.

    Ray itself would wait for minutes, and cannot be stopped.
    """
    async with asyncio.timeout(seconds):
        while True:
            if await _accepts(address):
                return
            await asyncio.sleep(RETRY_SECONDS)


async def _accepts(address: str) -> bool:
    host, port = address.rsplit(":", 1)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host, int(port))
    except OSError:  # TimeoutError is one of them
        return False
    writer.close()
    return True
