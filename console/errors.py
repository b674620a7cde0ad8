"""Error pages, which say what happened and what to do."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import quote, urlsplit

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from api.errors import retry_after, translated
from console.pages import ASKS, page
from farm_core.db.database import was_too_slow
from farm_core.errors import FarmError
from farm_core.telemetry.logs import in_a_line, logger

log = logger("console.errors")
ADVICE: Final = {
    400: "Check what you entered and try again.",
    403: "Ask an operator of this farm if you need it.",
    404: "It may have been deleted, or belong to another account. Check the address, or go back to the list.",
    409: "Reload the page to see how things stand now.",
    413: "Choose a smaller file, or ask an operator for a higher limit.",
    429: "Wait a moment, then try again.",
    503: "A part of the farm is away. It is restarted by itself; try again in a few seconds.",
}
UNEXPECTED: Final = "This is a fault of the farm. Try again; if it stays, give the operator the request id below."


class SignInNeeded(Exception):
    """Nobody is signed in."""


class ActionRefused(FarmError):
    """The signed-in person may not do this."""

    status = 403


class EarlierSession(ActionRefused):
    """The form was opened in another session than the one that sends it."""


async def to_sign_in(request: Request, error: Exception) -> Response:
    """Redirect to the sign-in page, which later leads back to the current page."""
    if ASKS in request.headers:
        return PlainTextResponse("You are signed out.", 401)
    target = f"/console/sign-in?next={quote(_page_of(request), safe='')}"
    if request.method != "GET":
        target += "&refused=true"
    if "hx-request" in request.headers:
        return Response(status_code=204, headers={"HX-Redirect": target})
    return RedirectResponse(target, 303)


def _is_scripted(request: Request) -> bool:
    return ASKS in request.headers or "hx-request" in request.headers


def _page_of(request: Request) -> str:
    """Return the path of the page that the person sees: the requested page, or the page of the submitted form."""
    shown_url = request.headers.get("hx-current-url") or request.headers.get("referer", "")
    is_page = request.method == "GET" and "hx-request" not in request.headers
    page_url = urlsplit(str(request.url) if is_page else shown_url)
    return f"{page_url.path}?{page_url.query}" if page_url.query else page_url.path


def _page_above(request: Request) -> str:
    """Return the address of the nearest page above the requested address, which is that of a form."""
    pages = {_shape(route.path) for route in request.app.routes if "GET" in (getattr(route, "methods", None) or ())}
    address, shape = request.url.path, _shape(request.scope["route"].path)
    while shape not in pages and shape:
        address, shape = address.rpartition("/")[0], shape.rpartition("/")[0]
    return address if shape else "/console/"


def _shape(path: str) -> str:
    """Return the path of a route without the names of its parameters."""
    return re.sub(r"{[^}]*}", "{}", path)


async def shown(request: Request, error: Exception) -> Response:
    """Return an error page, or its text if a script has sent the request."""
    status, message, headers = _described(error)
    is_page = request.method == "GET" and not _is_scripted(request)
    if status == 405 and is_page:  # a reload, the theme buttons and Back request the address of a form that was sent
        return RedirectResponse(_page_above(request), 303)
    if status == 503:  # a traceback of 14 kB for each page would fill the disk while a store is away
        log.error("page failed", error=in_a_line(error))
    elif status >= 500:
        log.error("page failed", exc_info=error)
    advice = (
        ""
        if was_too_slow(error) or isinstance(error, EarlierSession)
        else ADVICE.get(status, UNEXPECTED if status >= 500 else "")
    )
    if status == 400 and request.url.path.endswith(("/uploads", "/import", "/replace")):
        advice = "Choose another file."
    given: dict[str, Any] = {"status": status, "message": message, "advice": advice, "request_id": _request_id(request)}
    if _is_scripted(request):
        reference = f"Request id: {given['request_id']}" if status >= 500 else ""
        return PlainTextResponse(" ".join(filter(None, (message, advice, reference))), status, headers)
    back = _page_of(request) if request.method != "GET" else ""
    back = back if back.startswith("/console/") else ""
    answer = page(request, "error.html", status_code=status, **given, back=back)
    answer.headers.update(headers)
    return answer


def _described(error: Exception) -> tuple[int, str, dict[str, str]]:
    """Return the status, the text, and headers that tell scripts when to try again."""
    if isinstance(error, RequestValidationError):
        return 400, "The request is not one that this page sends.", {}
    if isinstance(error, HTTPException):
        return error.status_code, "There is no such page." if error.status_code == 404 else str(error.detail), {}
    failure = translated(error)
    text = failure.text
    faults = failure.extras.get("errors")
    if isinstance(faults, list):
        text += " " + " ".join(f"{fault['field']} {fault['message']}." for fault in faults)
    return failure.status, text, retry_after(failure)


def _request_id(request: Request) -> str:
    return str(request.scope.get("state", {}).get("request_id", ""))
