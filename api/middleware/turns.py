"""Turns of requests, by account."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.app_state import AppState, app_state_of
from api.auth import CONSOLE_COOKIE, bearer, presented_key
from api.middleware.rate import PROBES
from farm_core.accounts.keys import hash_of
from farm_core.net.addresses import subscriber
from farm_core.rates import OwnCount
from farm_core.turns import TURN, TURN_SECONDS, Turn

ADDRESSES_PER_ACCOUNT: Final = 4
"""Addresses whose full rate an account can use, in each process. With more, its rate would grow with its addresses."""


class RequestTurns:
    """Handle a few requests of an account at once, except probes. Requests with unknown credentials have turns together.

    Above the rate of ADDRESSES_PER_ACCOUNT addresses, each request of an account to the API first uses up its turn.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._counts = OwnCount()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        state = app_state_of(HTTPConnection(scope))
        account = _account(state, scope)
        turn = Turn(state.turns, account)
        await turn.take()
        limit = ADDRESSES_PER_ACCOUNT * state.settings.automation_requests_per_minute_per_ip
        if (
            account
            and scope["path"].startswith("/api/")
            and self._counts.wait_seconds(account, limit, time.monotonic())
        ):
            await asyncio.sleep(TURN_SECONDS)
        TURN.set(turn)

        async def sent(message: Message) -> None:
            turn.end()
            await send(message)

        try:
            await self._app(scope, _patient(turn, receive), sent)
        finally:
            turn.end()


def _patient(turn: Turn, receive: Receive) -> Receive:
    """Return a `receive` that gives the turn to others while the body does not arrive."""

    async def received() -> Message:
        if not turn.is_held:
            return await receive()
        waits = asyncio.get_running_loop().call_soon(turn.give_back)  # runs only if `receive` has to wait
        try:
            message = await receive()
        finally:
            waits.cancel()
        if not turn.is_held:
            await turn.take()
        return message

    return received


def _account(state: AppState, scope: Scope) -> str:
    """Return the account of the credential, as far as this process has seen it. Signed links have none: each address has turns."""
    path, headers = scope["path"], Headers(scope=scope)
    if path.startswith("/files/"):
        return subscriber(scope["client"][0]) if scope.get("client") else ""
    if path.startswith("/console"):
        credential = HTTPConnection(scope).cookies.get(CONSOLE_COOKIE)
    else:
        credential = presented_key(headers) or bearer(headers)
    return state.credential_accounts.account(hash_of(credential)) or "" if credential else ""
