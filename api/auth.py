"""Callers of the API: their credentials, scopes and limits.

The order of refusals: 401 (no valid credential), then 403: a key on a session-only route, a plan without API access, a missing
scope, the monthly quota. A key's request is counted after the account is known and its plan allows keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request

from api.app_state import AppState, app_state_of
from farm_core.accounts.keys import LIVE_PREFIX, hash_of
from farm_core.accounts.models import Account
from farm_core.accounts.plans import Limits, limits_of
from farm_core.accounts.repository import in_good_standing
from farm_core.accounts.scopes import Scope
from farm_core.accounts.tokens import InvalidToken
from farm_core.db.shares import HOLDER, Holder
from farm_core.errors import InsufficientScope, QuotaExceeded, SessionRequired, Unauthorized, UpgradeRequired
from farm_core.telemetry import logs
from farm_core.usage import admission
from farm_core.usage.admission import UsedKey
from farm_core.usage.period import RESET_NOTE

CONSOLE_COOKIE: Final = "farm_console"
"""Cookie of a session of the console."""
_BAD_TOKEN: Final = (
    "This session token is not valid, or has expired. "
    f"Sign in again, or send an API key, which begins with {LIVE_PREFIX}."
)
_NO_KEY: Final = (
    "There is no such API key. Compare its characters with those shown when it was made, and the farm's address."
)


@dataclass(frozen=True, slots=True)
class Need:
    """Credential that a route requires: a session, or a key with this scope. Without a scope only sessions are valid."""

    scope: Scope | None


@dataclass(frozen=True, slots=True)
class Caller:
    """The calling account, and its limits at this moment."""

    account: Account
    limits: Limits


async def admit(request: Request, need: Need) -> Caller:
    """Return the caller if it meets the route's need. Raises Unauthorized, or a kind of Forbidden."""
    state = app_state_of(request)
    secret = presented_key(request.headers)
    if secret is not None:
        caller = await _with_key(state, secret, need)
    else:
        caller = await _with_token(state, bearer(request.headers))
    logs.bind(account_id=caller.account.id)
    return caller


def bearer(headers: Headers) -> str | None:
    """Return the credential of an Authorization header of the Bearer form, else None."""
    scheme, _, value = headers.get("authorization", "").strip().partition(" ")
    return value.strip() or None if scheme.lower() == "bearer" else None


def presented_key(headers: Headers) -> str | None:
    """Return the API key of the request in either form, or None for a token or nothing."""
    token = bearer(headers)
    if token is None:
        return headers.get("x-api-key", "").strip() or None
    return token if token.startswith(LIVE_PREFIX) else None


async def session_account(state: AppState, token: str | None) -> Account:
    """Return the account of a session token. Raises Unauthorized, Forbidden."""
    if token is None:
        raise Unauthorized
    try:
        account_id = await state.tokens.subject(token)
    except InvalidToken:
        raise Unauthorized(_BAD_TOKEN) from None
    HOLDER.set(Holder(account_id))
    account = await state.database.single(lambda connection: admission.used_account(connection, account_id))
    if account is None:
        raise Unauthorized(_BAD_TOKEN)
    state.credential_accounts.learn(hash_of(token), account.id)
    return in_good_standing(account)


async def _with_token(state: AppState, token: str | None) -> Caller:
    account = await session_account(state, token)
    return Caller(account, limits_of(account))


async def _with_key(state: AppState, secret: str, need: Need) -> Caller:
    key = await _valid_key(state, secret, need)
    caller = Caller(key.account, limits_of(key.account))
    if need.scope is None:
        raise SessionRequired
    if not caller.limits.api_enabled:
        raise UpgradeRequired
    if need.scope not in key.scopes:
        raise InsufficientScope(need.scope)
    if not key.is_counted:
        limit = caller.limits.monthly_api_requests or 0
        message = f"All {limit} API requests of this month are used. {RESET_NOTE}"
        raise QuotaExceeded("api_requests", limit=limit, used=limit, message=message)
    return caller


async def _valid_key(state: AppState, secret: str, need: Need) -> UsedKey:
    """Return the key and count the request for the account and the key. Raises Unauthorized, Forbidden."""
    now, digest = state.clock.now(), hash_of(secret)
    HOLDER.set(state.credential_accounts.holder(digest))
    key = await state.database.single(
        lambda connection: admission.use_key(connection, digest, now, is_session_only=need.scope is None)
    )
    if key is None:
        raise Unauthorized(_NO_KEY)
    HOLDER.set(Holder(key.account.id))
    state.credential_accounts.learn(digest, key.account.id)
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now):
        raise Unauthorized("This API key has been revoked or has expired.")
    in_good_standing(key.account)
    return key
