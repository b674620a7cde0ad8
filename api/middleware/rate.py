"""Rate limit of an address, or of an IPv6 network."""

from __future__ import annotations

from typing import Final

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from api.app_state import app_state_of
from api.errors import envelope
from farm_core.errors import RateLimited
from farm_core.net.addresses import subscriber

PROBES: Final = frozenset({"/api/health", "/api/ready", "/metrics"})


class RequestRate:
    """Limit the requests of an address per minute, except probes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        path = scope.get("path", "")
        # The console limits its own requests: each page needs many.
        if scope["type"] == "http" and path not in PROBES and not path.startswith("/console/"):
            state = app_state_of(HTTPConnection(scope))
            address = subscriber(scope["client"][0]) if scope.get("client") else "unknown"
            limit = state.settings.automation_requests_per_minute_per_ip
            wait = await state.rates.patient_wait_seconds(f"address:{address}", limit)
            if wait:
                message = f"Too many requests from this address: at most {limit} a minute. Try again in {wait} s."
                await envelope(scope, RateLimited(wait, message))(scope, receive, send)
                return
        await self._app(scope, receive, send)
