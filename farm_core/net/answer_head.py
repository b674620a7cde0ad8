"""Limit what a server sends beside a file: before its answer, and between two pieces of its body.

The parser takes interim answers (1xx), headers and trailers without a pause for other tasks.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from typing import Any, Final

import httpcore

HEAD_BYTES_MAX: Final = 64 * 1024
"""Limit of an answer's status and headers with the interim answers before them, and of what lies between two pieces of its body."""
HEAD_LINES_MAX: Final = 500
"""Limit of their lines. A line takes the parser 4 us."""
READ_BYTES: Final = 4096
"""Bytes that are read at once before the body: up to 160 interim answers, or 1,000 lines."""
BODY_READ_BYTES: Final = 16 * 1024
"""Bytes of the body that are read at once: up to 3,000 lines of trailers."""


class HeadTooLarge(Exception):
    """The answer, or the next piece of its body, has not begun within the limits. The message is fit for callers."""


class AnswerHead:
    """Number of bytes and lines that the head of one answer, or the gap before the next piece of its body, can still have."""

    def __init__(self) -> None:
        self.is_complete = False
        self._begin()

    def stream(self, network: httpcore.AsyncNetworkStream) -> httpcore.AsyncNetworkStream:
        """Return the stream of a connection, with the limits."""
        return _LimitedStream(network, self)

    def complete(self) -> None:
        """Begin the body."""
        self.is_complete = True
        self._begin()

    async def pieces(self, response: httpcore.Response) -> AsyncIterator[bytes]:
        """Yield the pieces of the body."""
        async for piece in response.aiter_stream():
            self._begin()
            yield piece

    def count(self, data: bytes) -> None:
        """Count bytes that were read."""
        self._bytes_left -= len(data)
        self._lines_left -= data.count(b"\n")

    def check(self) -> None:
        """Raise HeadTooLarge if the bytes so far exceed a limit."""
        if min(self._bytes_left, self._lines_left) < 0:
            limits = f"{HEAD_BYTES_MAX // 1024} KiB or {HEAD_LINES_MAX} lines"
            place = "between two pieces of the file" if self.is_complete else "before its answer"
            raise HeadTooLarge(f"The server sends too much {place}: more than {limits}.")

    def _begin(self) -> None:
        self._bytes_left, self._lines_left = HEAD_BYTES_MAX, HEAD_LINES_MAX


class _LimitedStream(httpcore.AsyncNetworkStream):
    """A stream that reads little at once, above all until the head is complete. `read` raises HeadTooLarge."""

    def __init__(self, network: httpcore.AsyncNetworkStream, head: AnswerHead) -> None:
        self._network, self._head = network, head

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the port's own signature
        self._head.check()  # before the next read: this one can contain the end of the head, and much of the body
        most = BODY_READ_BYTES if self._head.is_complete else READ_BYTES
        data = await self._network.read(min(max_bytes, most), timeout)
        self._head.count(data)
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
