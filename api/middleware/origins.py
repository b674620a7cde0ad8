"""CORS: answers to browsers of other origins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import envelope
from farm_core.errors import BadRequest

_CALLED: Final = ("/api/", "/files/")
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE")
_SENT: Final = (
    "Authorization", "X-API-Key", "Content-Type", "Idempotency-Key", "X-Request-Id", "Range", "If-None-Match",
)  # fmt: skip
_READ: Final = ("X-Request-Id", "Retry-After", "ETag", "Location", "Content-Range", "Accept-Ranges")


class OtherOrigins:
    """Let browsers of the allowed origins call `/api` and `/files`, without cookies. The console is closed to them."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._opened = _Cors(
            app, allow_origins=origins, allow_methods=_METHODS, allow_headers=_SENT, expose_headers=_READ, max_age=3600
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        is_open = scope["type"] == "http" and scope["path"].startswith(_CALLED)
        try:
            await (self._opened if is_open else self._app)(scope, receive, send)
        except _PreflightRefused as refusal:
            await envelope(scope, refusal, {"Vary": "Origin"})(scope, receive, send)


class _PreflightRefused(BadRequest):
    """The browser asks for a request that other origins cannot send."""


class _Cors(CORSMiddleware):
    """CORS whose refusals can have the envelope of all errors. The framework's own are plain text."""

    def preflight_response(self, request_headers: Headers) -> Response:
        """Return the answer to a preflight. Raises _PreflightRefused."""
        answer = super().preflight_response(request_headers)
        if answer.status_code == 200:
            return answer
        raise _PreflightRefused(f"{bytes(answer.body).decode()}. The operator allows origins with CORS_ORIGINS.")
