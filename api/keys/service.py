"""Making, listing and revoking keys."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from api.app_state import AppState
from api.auth import Caller
from api.dependencies import Page
from api.errors import BodyFaults
from api.ids import checked_id
from api.keys.schemas import NAME_LENGTH_MAX, KeyRequest, KeySummary, NewKey
from api.pagination import listed
from api.shapes import Listed
from farm_core.accounts import repository
from farm_core.accounts.keys import PREFIX_LENGTH, hash_of, new_secret
from farm_core.accounts.models import ApiKey
from farm_core.accounts.plans import limits_of
from farm_core.errors import KeyLimitReached, NotFound, UpgradeRequired
from farm_core.ids import new_id


async def create(state: AppState, caller: Caller, wanted: KeyRequest, key_id: str | None = None) -> NewKey:
    """Create a key. The account is locked, so that its cap of active keys is exact.

    A key with the given id that was never used is replaced: its secret was lost with the answer.
    """
    return await state.database.transaction(lambda session: _create(session, state, caller, wanted, key_id))


async def _create(
    session: AsyncSession, state: AppState, caller: Caller, wanted: KeyRequest, key_id: str | None
) -> NewKey:
    now = state.clock.now()
    account = await repository.locked_account(session, caller.account.id)
    limits = limits_of(account)
    if not limits.api_enabled:
        raise UpgradeRequired
    if wanted.expires_at is not None and wanted.expires_at <= now:
        raise BodyFaults([("expiresAt", "must be in the future")])
    if key_id is not None and not await repository.free_key_id(session, account.id, key_id):
        key_id = None
    cap = limits.max_active_api_keys
    if cap is not None and await repository.active_keys(session, account.id, now) >= cap:
        raise KeyLimitReached(cap)
    secret = new_secret()
    key = ApiKey(
        id=key_id or new_id("key"), account_id=account.id, name=wanted.name.strip()[:NAME_LENGTH_MAX] or "API key",
        prefix=secret[:PREFIX_LENGTH], secret_hash=hash_of(secret), scopes=list(dict.fromkeys(wanted.scopes)),
        created_at=now, expires_at=wanted.expires_at,
    )  # fmt: skip
    session.add(key)
    return NewKey(**summary(key).model_dump(by_alias=False), secret=secret)


async def page(session: AsyncSession, caller: Caller, asked: Page) -> Listed[KeySummary]:
    """Return the account's keys, including revoked ones, newest first."""
    statement = select(ApiKey).where(col(ApiKey.account_id) == caller.account.id)
    return await listed(session, statement, (col(ApiKey.created_at).desc(), col(ApiKey.id).desc()), asked, summary)


async def revoke(session: AsyncSession, state: AppState, caller: Caller, key_id: str) -> None:
    """Revoke the key. Raises NotFound."""
    if not await repository.revoke_key(session, caller.account.id, checked_id(key_id, "key"), state.clock.now()):
        raise NotFound("There is no such key.")


def summary(key: ApiKey) -> KeySummary:
    """Return the public record of a key."""
    return KeySummary.model_validate(key.model_dump(exclude={"account_id", "secret_hash"}))
