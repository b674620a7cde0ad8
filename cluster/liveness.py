"""Distinguish a dead Ray cluster from one that is too busy to answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

UNREACHABLE_SECONDS: Final = 15.0
"""Time without an answer after which a cluster is dead if its control store refuses connections."""
BUSY_SECONDS: Final = 60.0
"""Time without an answer after which a cluster is dead even if its control store accepts connections. Same as Ray's own."""
CONNECT_SECONDS: Final = 5.0
"""Timeout of a connection. Packets to an unreachable machine get no answer at all."""
RETRY_SECONDS: Final = 0.1


class Liveness:
    """Time since the last answer of a cluster, or since this object was created, by the monotonic `clock`.

    A restarted control store needs no handling: Ray ends every process that is connected to it.
    """

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._address, self._clock = address, clock
        self._heard = clock()

    def heard(self) -> None:
        """Record an answer of the cluster."""
        self._heard = self._clock()

    async def is_gone(self) -> bool:
        """Return True if the cluster is dead. Connect to its control store only if its silence alone does not decide."""
        silence = self._clock() - self._heard
        if silence < UNREACHABLE_SECONDS:
            return False
        return silence >= BUSY_SECONDS or not await _accepts(self._address)


async def wait_until_reachable(address: str, seconds: float) -> None:
    """Wait until the control store at `host:port` accepts connections. Raises TimeoutError after `seconds`.

    Ray's own wait takes minutes and cannot be cancelled.
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
    except OSError:  # includes TimeoutError
        return False
    writer.close()
    return True
