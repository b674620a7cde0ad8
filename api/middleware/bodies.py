"""Limits of the size of a body, and of the fields of a form."""

from __future__ import annotations

import re
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import envelope
from farm_core.errors import PayloadTooLarge
from farm_core.sizes import in_words

BODY_BYTES_MAX: Final = 10 * 1024 * 1024
UPLOAD_PATHS: Final = re.compile(
    r"/api/v1/(?:assets|templates/(?:[^/]+/)?import)|/console/(?:uploads|templates/(?:import|(?!import/)[^/]+/replace))"
)
"""Routes that read multipart bodies with limits of their own (`api/uploads.py`)."""
_DISCARD_BYTES_MAX: Final = 64 * 1024 * 1024
_FORM: Final = "application/x-www-form-urlencoded"
_FORM_FIELDS_MAX: Final = 1_000
"""Fields of a form. The framework allows as many, but does not count empty ones: 10 MB of them take it 5 s."""


class BodyLimit:
    """Refuse bodies over 10 MB, announced or not, and forms of too many fields. Uploads have their own limits.

    The rest of a refused body is read and dropped, up to a limit, so that a client that sends before it reads gets the
    answer. A client that waits for `100 Continue`, as curl does above 1 MB, is refused before it sends the body.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        headers = Headers(scope=scope) if scope["type"] == "http" else None
        if headers is None or UPLOAD_PATHS.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
            return
        announced = headers.get("content-length", "")
        if announced.isdigit() and int(announced) > BODY_BYTES_MAX:
            waits = headers.get("expect", "").strip().lower() == "100-continue"
            if not waits:
                await _discard(receive)
            answer = envelope(scope, _too_large(), {"Connection": "close"} if waits else None)
            await answer(scope, receive, send)
            return
        is_form = headers.get("content-type", "").strip().lower().startswith(_FORM)
        await self._app(scope, _bounded(receive, is_form=is_form), send)


def _bounded(receive: Receive, *, is_form: bool) -> Receive:
    size = fields = 0

    async def counted() -> Message:
        nonlocal size, fields
        message = await receive()
        body = message.get("body", b"")
        size += len(body)
        fields += body.count(b"&") if is_form else 0
        if (size > BODY_BYTES_MAX or fields > _FORM_FIELDS_MAX) and message.get("more_body"):
            await _discard(receive)
        if size > BODY_BYTES_MAX:
            raise _too_large()
        if fields > _FORM_FIELDS_MAX:  # an exception of the framework, which keeps the message
            raise HTTPException(400, f"The form has more than {_FORM_FIELDS_MAX} fields.")
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
