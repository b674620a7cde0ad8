"""The statements that every request begins with: whose credential it is, and counting it. Each is one trip to Postgres."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.accounts.models import Account
from farm_core.usage.period import period_of

_ACCOUNT: Final = ", ".join(f"accounts.{name}" for name in Account.model_fields)

_USED_KEY: Final = text(
    f"""
    SELECT api_keys.id AS key_id, api_keys.scopes, api_keys.expires_at, api_keys.revoked_at, {_ACCOUNT}
    FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
    WHERE api_keys.secret_hash = :secret_hash
    """  # noqa: S608 - the columns are the table's own
)
_USED_ACCOUNT: Final = text(f"SELECT {_ACCOUNT} FROM accounts WHERE id = :id")  # noqa: S608

# The insert, or the update that it becomes, takes place only where the limit leaves room; it locks the month's row, so of
# any number of concurrent requests exactly as many are counted as the limit leaves. Its commit does not wait for the disk: all
# requests of an account pass this one row, and would queue up for it. Counts of the last moments before a crash of Postgres
# itself may be lost (those of renders and minutes are not).
_COUNT: Final = text(
    """
    WITH quickly AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'off', true)
    ), counted AS (
        INSERT INTO usage (account_id, period, api_requests) SELECT :account_id, :period, 1 FROM quickly
        ON CONFLICT (account_id, period) DO UPDATE SET api_requests = usage.api_requests + 1
        WHERE CAST(:most AS bigint) IS NULL OR usage.api_requests < :most
        RETURNING account_id
    )
    UPDATE api_keys SET request_count = request_count + 1, last_used_at = :now
    FROM counted WHERE api_keys.id = :key_id
    RETURNING api_keys.id
    """
)


@dataclass(frozen=True, slots=True)
class UsedKey:
    """A key that was presented, and whose it is."""

    id: str
    scopes: frozenset[str]
    expires_at: datetime | None
    revoked_at: datetime | None
    account: Account


async def used_key(connection: AsyncConnection, secret_hash: str) -> UsedKey | None:
    """The key with this hash, and its account."""
    row = (await connection.execute(_USED_KEY, {"secret_hash": secret_hash})).mappings().first()
    if row is None:
        return None
    return UsedKey(row["key_id"], frozenset(row["scopes"]), row["expires_at"], row["revoked_at"], _account_of(row))


async def used_account(connection: AsyncConnection, account_id: str) -> Account | None:
    """The account with this id."""
    row = (await connection.execute(_USED_ACCOUNT, {"id": account_id})).mappings().first()
    return None if row is None else _account_of(row)


async def count_use(connection: AsyncConnection, key: UsedKey, at: datetime, limit: int | None) -> bool:
    """Counts a request for the key and for its account's month, unless the month's limit is reached; says whether it did."""
    if limit is not None and limit < 1:
        return False
    values = {"account_id": key.account.id, "period": period_of(at), "most": limit, "now": at, "key_id": key.id}
    return (await connection.execute(_COUNT, values)).first() is not None


def _account_of(row: RowMapping) -> Account:
    return Account(**{name: row[name] for name in Account.model_fields})
