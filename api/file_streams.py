"""Answers that send a file piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

_CHUNK_BYTES: Final = 128 * 1024
"""Size of a piece. A waiting client holds two pieces. Smaller pieces need more processor time: 64 KiB needs twice as
much.
"""


class Chunks(Iterator[bytes], Protocol):
    """Iterator over pieces of a body that holds a resource until it is closed, for example a generator."""

    def close(self) -> None:
        """Release the resource."""


class FileChunks:
    """The rest of an open file in pieces."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        """Return the next piece."""
        if chunk := self._file.read(_CHUNK_BYTES):
            return chunk
        raise StopIteration

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class FileStream(StreamingResponse):
    """Answer that ends and closes its chunks as soon as the client goes away.

    Starlette's response only cancels its task. The open file and half a megabyte of data would then stay until the
    garbage collector runs.
    """

    def __init__(self, chunks: Chunks, status: int, headers: Mapping[str, str], media_type: str) -> None:
        super().__init__(chunks, status, headers, media_type)
        self._chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        gone = asyncio.create_task(self.listen_for_disconnect(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while not gone.done() and (chunk := await run_in_threadpool(next, self._chunks, None)) is not None:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            self._chunks.close()
