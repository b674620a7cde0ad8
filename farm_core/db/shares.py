"""Connection pool that limits the connections of each account. Requests of an account wait for each other, not for
other accounts.

Writes of an account wait for the lock of its row, each on its own connection. Without the limit, a dozen of them
would block all other accounts.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry, PoolProxiedConnection
from sqlalchemy.util import await_only

from farm_core.concurrency_limit import ConcurrencyLimit
from farm_core.lru_dict import LruDict

CONNECTIONS_PER_ACCOUNT: Final = 3
_KEYS_MAX: Final = 10_000


@dataclass(slots=True)
class Holder:
    """One request of an account. While it has a connection, further ones need no slot: it would wait for itself."""

    account: str
    slots: int = CONNECTIONS_PER_ACCOUNT
    connections: int = 0


HOLDER: Final[ContextVar[Holder | None]] = ContextVar("holder", default=None)
"""Current request, which takes connections for its account. None: the farm's own work, which is not limited."""


class CredentialAccounts:
    """Accounts of recently used API keys and console sessions, by hash. Connections are shared by account before the
    database is asked.

    It grants no access.
    """

    def __init__(self) -> None:
        self._known: LruDict[str, str] = LruDict(_KEYS_MAX)

    def holder(self, digest: str) -> Holder:
        """Return a new request of the credential's account. An unknown credential has a single slot."""
        account = self._known.get(digest)
        return Holder(digest, slots=1) if account is None else Holder(account)

    def account(self, digest: str) -> str | None:
        """Return the account of a recently used credential."""
        return self._known.get(digest)

    def learn(self, digest: str, account: str) -> None:
        """Remember the account of a credential."""
        self._known[digest] = account


class SharedPool(AsyncAdaptedQueuePool):
    """Pool with CONNECTIONS_PER_ACCOUNT slots for each account. A request waits for a slot as long as for a full
    pool."""

    _sqla_logger_namespace = "sqlalchemy.pool.SharedPool"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._slots = ConcurrencyLimit(CONNECTIONS_PER_ACCOUNT, self.timeout())
        self._held: dict[ConnectionPoolEntry, tuple[Holder, str | None]] = {}
        """For each connection, the request that has it and the account whose slot it uses."""

    def connect(self) -> PoolProxiedConnection:
        """Return a connection. Raises RateLimited if no slot of the account becomes free in time."""
        holder = HOLDER.get()
        if holder is None:
            return super().connect()
        account = None if holder.connections else holder.account
        if account is not None:
            await_only(self._slots.acquire(account, holder.slots))
        try:
            connection = super().connect()
        except BaseException:
            if account is not None:
                self._slots.release(account)
            raise
        holder.connections += 1
        record: ConnectionPoolEntry = connection._connection_record
        self._held[record] = holder, account
        return connection

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        super()._do_return_conn(record)
        holder, account = self._held.pop(record, (None, None))
        if holder is not None:
            holder.connections -= 1
        if account is not None:
            self._slots.release(account)
