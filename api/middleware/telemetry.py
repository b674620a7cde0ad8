"""Request ids, the access log and request metrics."""

from __future__ import annotations

import re
import secrets
import time
from typing import Final

import structlog
from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from farm_core.telemetry import traces
from farm_core.telemetry.logs import logger
from farm_core.telemetry.metrics import REQUEST_SECONDS, REQUESTS

_WELL_FORMED: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")
_QUIET_PATHS: Final = frozenset({"/api/health", "/api/ready", "/metrics"})
log = logger("api.access")


class Telemetry:
    """Give every request an id (the caller's own valid `X-Request-Id`, or a new one), log it, count it and trace it.

    The log line holds the path without its query, which can be a signed link.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
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

        with (
            structlog.contextvars.bound_contextvars(request_id=request_id),
            traces.linked(scope["method"], _traceparent(scope), SpanKind.SERVER, request_id=request_id) as span,
        ):
            try:
                await self._app(scope, receive, sent)
            finally:
                _record(scope, status, time.perf_counter() - started)
                span.update_name(f"{scope['method']} {_route(scope)}")
                span.set_attributes({"http.request.method": scope["method"], "http.response.status_code": status})
                structlog.contextvars.unbind_contextvars("account_id")


def _traceparent(scope: Scope) -> str | None:
    return Headers(scope=scope).get("traceparent")


def _route(scope: Scope) -> str:
    """Return the template of the request's path, such as `/api/v1/renders/{id}`. A route knows it without `/api/v1`."""
    found: str | None = getattr(scope.get("route"), "path", None)
    if found is None:
        return "unknown"
    path: str = scope["path"]
    return path[: max(0, path.find(found.partition("{")[0]))] + found


def _record(scope: Scope, status: int, seconds: float) -> None:
    route = _route(scope)
    REQUESTS.labels(scope["method"], route, str(status)).inc()
    if status != 429:  # some refusals are delayed on purpose (`farm_core/rates.py`)
        REQUEST_SECONDS.labels(scope["method"], route).observe(seconds)
    level = log.debug if scope["path"] in _QUIET_PATHS else log.info
    level("request", method=scope["method"], path=scope["path"], status=status, ms=round(seconds * 1000, 1))
