"""The outermost error handler: an unexpected failure becomes a generic answer, and its log line has the details."""

from __future__ import annotations

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import envelope, translated
from farm_core.errors import Unavailable
from farm_core.telemetry.logs import in_a_line, logger

log = logger("api.errors")


class TrackedSend:
    """The `send` of one request. `has_begun`: True once a part of the response is sent, after which no other can follow."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        """Send a part of the response."""
        self.has_begun = True
        await self._send(message)


class ErrorBoundary:
    """Hide internal errors from callers. The log has the cause under the same request id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        tracked_send = TrackedSend(send)
        try:
            await self._app(scope, receive, tracked_send)
        except ClientDisconnect:
            return  # the client has disconnected
        except Exception as error:
            failure = translated(error)
            if isinstance(failure, Unavailable) and failure is not error:
                # A traceback of 14 kB for each request would fill the disk while a store is away.
                log.error("request failed", error=in_a_line(error))
            elif failure is not error:
                log.error("request failed", exc_info=error)
            if tracked_send.has_begun:
                raise
            await envelope(scope, failure)(scope, receive, send)
