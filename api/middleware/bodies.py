"""Limit of the size of a body."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import envelope
from farm_core.errors import PayloadTooLarge
from farm_core.sizes import in_words

BODY_BYTES_MAX: Final = 10 * 1024 * 1024
UPLOAD_PATHS: Final = frozenset(
    {"/api/v1/assets", "/api/v1/templates/import", "/console/templates/import", "/console/uploads"}
)
"""Routes that read multipart bodies with limits of their own (`api/uploads.py`)."""
_DISCARD_BYTES_MAX: Final = 64 * 1024 * 1024


class BodyLimit:
    """Refuse bodies over 10 MB, announced or not. Uploads have their own limits.

    The rest of a refused body is read and dropped up to a bound, so that a client that sends before it listens gets the
    answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        headers = Headers(scope=scope) if scope["type"] == "http" else None
        if headers is None or scope["path"] in UPLOAD_PATHS:
            await self._app(scope, receive, send)
            return
        announced = headers.get("content-length", "")
        if announced.isdigit() and int(announced) > BODY_BYTES_MAX:
            await _discard(receive)
            await envelope(scope, _too_large())(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)


def _bounded(receive: Receive) -> Receive:
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > BODY_BYTES_MAX:
            await _discard(receive)
            raise _too_large()
        return message

    return counted


def _too_large() -> PayloadTooLarge:
    return PayloadTooLarge(f"The request body is larger than {in_words(BODY_BYTES_MAX)}.")


async def _discard(receive: Receive) -> None:
    size = 0
    while size < _DISCARD_BYTES_MAX:
        message = await receive()
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return
