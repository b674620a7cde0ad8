"""Security headers of the console's responses, and checks of its requests."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.app_state import app_state_of
from api.middleware.boundary import TrackedSend
from console.errors import shown
from console.pages import SHOW_PAGE, static_version
from console.viewer import CHANGES_NOTHING
from farm_core.errors import RateLimited
from farm_core.net.addresses import subscriber

REQUESTS_PER_MINUTE: Final = 3_000
"""Rate limit of one IP address. A page of fifty renders loads fifty posters, so the API's limit is too low."""

_SHOW_PAGE_HASH: Final = b64encode(sha256(SHOW_PAGE.encode()).digest()).decode()
_CSP: Final = "; ".join(
    (
        "default-src 'none'", f"script-src 'self' 'sha256-{_SHOW_PAGE_HASH}'", "style-src 'self'", "img-src 'self' blob:", "media-src 'self'",
        "font-src 'self'", "connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
    )
)  # fmt: skip
_HEADERS: Final = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class SecurityMiddleware:
    """Add security headers, refuse cross-site changes, and limit the request rate."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_static = "/static/" in scope["path"]
        # Another release that runs at the same time can have other files.
        is_current = f"/static/{static_version()}/" in scope["path"]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                caching = "public, max-age=31536000, immutable" if is_current else "no-store"
                headers.setdefault("Cache-Control", caching)
                if message["status"] == 303:
                    _lead_away(scope, message, headers)
            await send(message)

        if refusal := _refusal(scope):
            await PlainTextResponse(refusal, 403)(scope, receive, send_with_headers)
        elif not is_static and (seconds := await _wait_seconds(scope)):
            text = f"Too many requests from this address: at most {REQUESTS_PER_MINUTE} a minute. Try again in {seconds} s."
            refused: Response = PlainTextResponse(text, 429)
            if Headers(scope=scope).get("sec-fetch-mode") == "navigate":  # a person sees it
                refused = await shown(Request(scope), RateLimited(seconds, text))
            refused.headers["Retry-After"] = str(seconds)
            await refused(scope, receive, send_with_headers)
        else:
            await self._call_app(scope, receive, send_with_headers)

    async def _call_app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the app. Show an error page for unexpected errors too."""
        tracked_send = TrackedSend(send)
        try:
            await self._app(scope, receive, tracked_send)
        except Exception as error:
            if tracked_send.has_begun:
                raise
            await (await shown(Request(scope), error))(scope, receive, send)


def _lead_away(scope: Scope, message: Message, headers: MutableHeaders) -> None:
    """Let htmx load the page that a form leads to, unless it is the page that the form is on. It updates that page in place."""
    asked = Headers(scope=scope)
    target = urlsplit(headers["location"]).path
    if "hx-boosted" in asked and target != urlsplit(asked.get("hx-current-url", "")).path:
        message["status"] = 204
        headers["HX-Redirect"] = headers["location"]
        del headers["location"]


def _refusal(scope: Scope) -> str | None:
    """Return the reason to refuse the request, or None. Cross-site requests are refused even with valid cookies."""
    if scope["method"] in CHANGES_NOTHING:
        return None
    headers = Headers(scope=scope)
    site = headers.get("sec-fetch-site", "same-origin")
    origin = headers.get("origin")
    foreign = origin is not None and urlsplit(origin).netloc != headers.get("host")
    if foreign or site not in ("same-origin", "none"):
        return "This request comes from another site. Open the console and try again there."
    return None


async def _wait_seconds(scope: Scope) -> int:
    address = subscriber(scope["client"][0]) if scope.get("client") else "unknown"
    rates = app_state_of(HTTPConnection(scope)).rates
    return await rates.patient_wait_seconds(f"console:{address}", REQUESTS_PER_MINUTE)
