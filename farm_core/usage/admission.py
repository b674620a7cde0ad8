"""Statement that every request begins with: find the credential's account and count the request, in one round trip."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.accounts.models import Account
from farm_core.accounts.plans import PLANS
from farm_core.usage.period import period_of


def _sql(number: int | None) -> str:
    return "NULL" if number is None else str(number)


_ACCOUNT: Final = ", ".join(f"accounts.{name}" for name in Account.model_fields)

_PLANS: Final = ", ".join(
    f"('{name}', {limits.api_enabled}, CAST({_sql(limits.monthly_api_requests)} AS bigint))"
    for name, limits in PLANS.items()
)
_USED_ACCOUNT: Final = text(f"SELECT {_ACCOUNT} FROM accounts WHERE id = :id")  # noqa: S608

# `counted` inserts or updates the month's row only below the limit, and locks it: concurrent requests never exceed the
# limit. The commit does not wait for the disk, because all requests of an account would queue for it. A crash of
# Postgres can lose the last counts of requests, but not of renders and minutes.
_USE_KEY: Final = text(
    f"""
    WITH presented AS MATERIALIZED (
        SELECT api_keys.id AS key_id, api_keys.scopes, api_keys.expires_at, api_keys.revoked_at, {_ACCOUNT},
            CASE WHEN 'monthly_api_requests' <> ALL (accounts.unlimited)
                THEN COALESCE(accounts.monthly_api_requests, plans.monthly_api_requests) END AS most,
            api_keys.revoked_at IS NULL AND COALESCE(api_keys.expires_at > :now, true) AND accounts.suspended_at IS NULL
                AND (:session_only OR COALESCE(accounts.api_enabled, plans.api_enabled)) AS is_valid
        FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
        JOIN (VALUES {_PLANS}) AS plans (name, api_enabled, monthly_api_requests) ON plans.name = accounts.plan
        WHERE api_keys.secret_hash = :secret_hash
    ), quickly AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'off', true)
    ), counted AS (
        INSERT INTO usage (account_id, period, api_requests)
        SELECT presented.id, :period, 1 FROM presented, quickly WHERE is_valid AND COALESCE(most > 0, true)
        ON CONFLICT (account_id, period) DO UPDATE SET api_requests = usage.api_requests + 1
        WHERE (SELECT COALESCE(usage.api_requests < most, true) FROM presented)
        RETURNING account_id
    ), used AS (
        UPDATE api_keys SET request_count = request_count + 1, last_used_at = :now
        FROM counted, presented WHERE api_keys.id = presented.key_id
        RETURNING api_keys.id
    )
    SELECT presented.*, EXISTS (SELECT 1 FROM used) AS is_counted FROM presented
    """  # noqa: S608 - columns and plans are the code's own
)


@dataclass(frozen=True, slots=True)
class UsedKey:
    """An API key used by a request, and its account. `is_counted`: the request is within the month's limit."""

    id: str
    scopes: frozenset[str]
    expires_at: datetime | None
    revoked_at: datetime | None
    account: Account
    is_counted: bool


async def use_key(
    connection: AsyncConnection, secret_hash: str, at: datetime, *, is_session_only: bool
) -> UsedKey | None:
    """Return the key with this hash and its account, and count the request for both. Return None for an unknown key.

    No request is counted for a revoked or expired key, a suspended account, or above the month's limit; nor for a
    plan without API access, unless the route is `is_session_only`.
    """
    values = {"secret_hash": secret_hash, "now": at, "period": period_of(at), "session_only": is_session_only}
    row = (await connection.execute(_USE_KEY, values)).mappings().first()
    if row is None:
        return None
    return UsedKey(
        row["key_id"],
        frozenset(row["scopes"]),
        row["expires_at"],
        row["revoked_at"],
        _account_of(row),
        row["is_counted"],
    )


async def used_account(connection: AsyncConnection, account_id: str) -> Account | None:
    """Return the account with this id."""
    row = (await connection.execute(_USED_ACCOUNT, {"id": account_id})).mappings().first()
    return None if row is None else _account_of(row)


def _account_of(row: RowMapping) -> Account:
    return Account(**{name: row[name] for name in Account.model_fields})
