"""Limit what a server sends before its answer.

A server can send interim answers (1xx) without end. The parser takes them without a pause for other tasks.
"""

from __future__ import annotations

import ssl
from typing import Any, Final

import httpcore

HEAD_BYTES_MAX: Final = 64 * 1024
"""Limit of an answer's status and headers, with the interim answers before it."""
READ_BYTES: Final = 4096
"""Bytes that are read at once before the answer: up to 160 interim answers."""


class HeadTooLarge(Exception):
    """The answer has not begun within HEAD_BYTES_MAX."""


class AnswerHead:
    """Number of bytes that the head of one answer can still have."""

    def __init__(self) -> None:
        self.bytes_left = HEAD_BYTES_MAX
        self.is_complete = False

    def stream(self, network: httpcore.AsyncNetworkStream) -> httpcore.AsyncNetworkStream:
        """Return the stream of a connection, with the limit."""
        return _HeadStream(network, self)


class _HeadStream(httpcore.AsyncNetworkStream):
    """A stream that reads little at once until the head is complete. `read` raises HeadTooLarge."""

    def __init__(self, network: httpcore.AsyncNetworkStream, head: AnswerHead) -> None:
        self._network, self._head = network, head

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the port's own signature
        if self._head.is_complete:
            return await self._network.read(max_bytes, timeout)
        data = await self._network.read(min(max_bytes, READ_BYTES), timeout)
        self._head.bytes_left -= len(data)
        if self._head.bytes_left < 0:
            raise HeadTooLarge
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await self._network.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._network.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        return self._head.stream(await self._network.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._network.get_extra_info(info)
