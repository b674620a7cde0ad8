"""Sign in with a one-time link or a session token, sign out, choose the colour theme."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote, unquote

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from api.app_state import app_state_of
from api.auth import CONSOLE_COOKIE, session_account
from api.dependencies import AppStateOf, Work
from console.pages import THEME_COOKIE, THEMES, is_part, page
from console.viewer import ViewerOf, check_csrf
from farm_core.audit.log import Actor, Role, record
from farm_core.errors import Forbidden, Unauthorized
from farm_core.net.addresses import subscriber
from farm_core.sign_in import repository

router = APIRouter()
HOME: Final = "/console/"
_TRIES_PER_MINUTE: Final = 20
_NEXT_COOKIE: Final = "farm_next"
_NEXT_SECONDS: Final = 3600
_NEXT_MAX: Final = 3500
"""Browsers refuse cookies of more than 4 kB."""
_YEAR_SECONDS: Final = 365 * 24 * 3600
_SPENT: Final = "This link was used before or has expired. Ask for a new one: ./farm console-link NAME prints it."


@router.get("/sign-in")
async def sign_in_page(request: Request, next: str = HOME, refused: bool = False) -> Response:
    """Return the sign-in page. A one-time link later leads to the page `next`, too. `refused`: a form was sent without a session."""
    target = _own(next)
    answer = page(request, "sign-in.html", next=target, fault=None, refused=refused)
    if target != HOME:
        value = max(
            (one for one in map(quote, (target, target.partition("?")[0], HOME)) if len(one) <= _NEXT_MAX), key=len
        )
        answer.set_cookie(_NEXT_COOKIE, value, _NEXT_SECONDS, path="/console", httponly=True, samesite="strict")
    return answer


@router.post("/sign-in")
async def sign_in(
    request: Request,
    work: Work,
    state: AppStateOf,
    token: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = HOME,
) -> Response:
    """Sign in with a session token of the deployment, or of `./farm token`."""
    await _respect_tries(request)
    token = token.strip()
    try:
        account = await session_account(state, token or None)
    except Forbidden as error:
        return page(request, "sign-in.html", status_code=403, next=_own(next), fault=error.message)
    except Unauthorized:
        fault = "This is not a session token of this farm, or it has expired. API keys do not work here."
        return page(request, "sign-in.html", status_code=401, next=_own(next), fault=fault)
    opened = await repository.create_session(work, account.id, state.clock.now())
    await record(work, _actor(account.name, operator=account.operator), "sign in", f"account {account.id}")
    return _with_session(request, opened, _own(next))


@router.get("/enter")
async def enter_page(request: Request, work: Work, state: AppStateOf, token: str = "") -> Response:
    """Show a button that signs in with the link. A link preview that fetches this page does not consume the link."""
    account = await repository.link_account(work, token, state.clock.now())
    if account is None:
        return page(request, "sign-in.html", status_code=410, next=HOME, fault=_SPENT)
    return page(request, "enter.html", token=token, name=account.name)


@router.post("/enter")
async def enter(request: Request, work: Work, state: AppStateOf, token: Annotated[str, Form()] = "") -> Response:
    """Consume the link and sign in."""
    await _respect_tries(request)
    now = state.clock.now()
    account = await repository.link_account(work, token, now)
    opened = await repository.use_link(work, token, now) if account and account.suspended_at is None else None
    if account is None or opened is None:
        return page(request, "sign-in.html", status_code=410, next=HOME, fault=_SPENT)
    await record(work, _actor(account.name, operator=account.operator), "sign in by link", f"account {account.id}")
    answer = _with_session(request, opened, _own(unquote(request.cookies.get(_NEXT_COOKIE, HOME))))
    if _NEXT_COOKIE in request.cookies:
        answer.delete_cookie(_NEXT_COOKIE, path="/console")
    return answer


@router.post("/sign-out")
async def sign_out(viewer: ViewerOf, work: Work, csrf: Annotated[str, Form()] = "") -> Response:
    """End the session. Read-only sessions can do this too."""
    check_csrf(viewer, csrf)
    await repository.end_session(work, viewer.token)
    answer = RedirectResponse("/console/sign-in", 303)
    answer.delete_cookie(CONSOLE_COOKIE, path="/console")
    return answer


@router.post("/theme")
async def choose_theme(request: Request, theme: Annotated[str, Form()] = "system") -> Response:
    """Store the colour theme in this browser."""
    back = request.headers.get("referer", "")
    target = HOME if not back else _own("/" + back.split("/", 3)[-1])
    answer = Response(status_code=204) if is_part(request) else RedirectResponse(target, 303)
    if theme in THEMES:
        answer.set_cookie(THEME_COOKIE, theme, _YEAR_SECONDS, path="/console", samesite="strict", httponly=True)
    return answer


def _own(target: str) -> str:
    """Return the target if it is a page of the console, otherwise the home page."""
    plain = target.startswith("/console/") and "\\" not in target and "//" not in target and target.isprintable()
    return target if plain else HOME


def _with_session(request: Request, token: str, target: str) -> Response:
    answer = RedirectResponse(target, 303)
    seconds = int(repository.SESSION_LIFETIME.total_seconds())
    origin = app_state_of(request).settings.public_origin or ""
    secure = request.url.scheme == "https" or origin.startswith("https://")
    answer.set_cookie(CONSOLE_COOKIE, token, seconds, path="/console", secure=secure, httponly=True, samesite="strict")
    return answer


async def _respect_tries(request: Request) -> None:
    address = subscriber(request.client.host) if request.client else "unknown"
    rates = app_state_of(request).rates
    await rates.require(f"sign-in:{address}", _TRIES_PER_MINUTE, "Too many tries to sign in.", is_patient=True)


def _actor(name: str, *, operator: bool) -> Actor:
    return Actor(name, Role.operator if operator else Role.account)
