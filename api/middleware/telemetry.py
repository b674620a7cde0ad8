"""Request ids, the access log and request metrics."""

from __future__ import annotations

import re
import secrets
import time
from typing import Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from farm_core.telemetry.logs import logger
from farm_core.telemetry.metrics import REQUEST_SECONDS, REQUESTS

_WELL_FORMED: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")
_QUIET_PATHS: Final = frozenset({"/api/health", "/api/ready", "/metrics"})
log = logger("api.access")


class Telemetry:
    """Gives every request an id (the caller's own `X-Request-Id` where it is well formed) and logs how it went.

    The line holds the path without its query, since that may be a signed link.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers the request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        offered = Headers(scope=scope).get("x-request-id", "")
        request_id = offered if _WELL_FORMED.fullmatch(offered) else f"req_{secrets.token_hex(12)}"
        scope.setdefault("state", {})["request_id"] = request_id
        started = time.perf_counter()
        status = 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, sent)
            finally:
                _record(scope, status, time.perf_counter() - started)
                structlog.contextvars.unbind_contextvars("account_id")


def _record(scope: Scope, status: int, seconds: float) -> None:
    route = getattr(scope.get("route"), "path", "unknown")
    REQUESTS.labels(scope["method"], route, str(status)).inc()
    REQUEST_SECONDS.labels(scope["method"], route).observe(seconds)
    level = log.debug if scope["path"] in _QUIET_PATHS else log.info
    level("request", method=scope["method"], path=scope["path"], status=status, ms=round(seconds * 1000, 1))
