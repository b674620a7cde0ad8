"""Refusal of API keys outside `/v1`."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.auth import bearer
from api.errors import envelope
from farm_core.accounts.keys import LIVE_PREFIX
from farm_core.errors import Forbidden

_OPEN: Final = frozenset({"/api/health", "/api/ready", "/metrics", "/api/openapi.json", "/api/docs"})
_PUBLIC: Final = "/api/v1/"
_PAGE: Final = "/api/docs/"
"""Files of the page at `/api/docs`."""
_LINKED: Final = "/files/"


class KeysOnlyInV1:
    """Refuse live keys on routes outside `/v1`.

    Open routes ignore a key. A signed link under `/files/` is its own credential, and clients send their headers along
    when a download redirects there.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        if scope["type"] == "http" and not _allowed(scope):
            headers = Headers(scope=scope)
            presented = (bearer(headers) or "", headers.get("x-api-key", "").strip())
            if any(credential.startswith(LIVE_PREFIX) for credential in presented):
                error = Forbidden("API keys work only on routes under /api/v1.")
                await envelope(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _allowed(scope: Scope) -> bool:
    path: str = scope["path"]
    linked = path.startswith(_LINKED) and b"signature=" in scope.get("query_string", b"")
    return f"{path}/".startswith((_PUBLIC, _PAGE)) or path in _OPEN or linked
