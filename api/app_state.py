"""Dependencies of the API, made once by the app and reached from requests."""

from __future__ import annotations

from dataclasses import dataclass

from redis.asyncio import Redis
from starlette.requests import HTTPConnection

from farm_core.accounts.tokens import TokenReader
from farm_core.clock import Clock
from farm_core.concurrency_limit import ConcurrencyLimit
from farm_core.db.database import Database
from farm_core.db.shares import CredentialAccounts
from farm_core.net.resolver import AccountLookups
from farm_core.progress.changes import ChangePublisher
from farm_core.progress.reader import ProgressReader
from farm_core.rates import RateLimiter
from farm_core.sandbox import Sandbox
from farm_core.settings import Settings
from farm_core.stills.exchange import StillExchange
from farm_core.storage.links import Links
from farm_core.storage.port import Storage


@dataclass(frozen=True, slots=True)
class AppState:
    """Clients and settings that requests use."""

    settings: Settings
    clock: Clock
    database: Database
    redis: Redis
    rates: RateLimiter
    stills: StillExchange
    storage: Storage
    links: Links
    tokens: TokenReader
    credential_accounts: CredentialAccounts
    lookups: AccountLookups
    progress: ProgressReader
    changes: ChangePublisher
    sandbox: Sandbox
    large_bodies: ConcurrencyLimit
    uploads: ConcurrencyLimit
    turns: ConcurrencyLimit
    bulk_actions: ConcurrencyLimit


def app_state_of(request: HTTPConnection) -> AppState:
    """Return the state of this request's app."""
    state: AppState = request.app.state.dependencies
    return state


def origin_of(request: HTTPConnection) -> str:
    """Return the origin of the farm's URLs: the public one of the settings, else the origin of the request."""
    configured = app_state_of(request).settings.public_origin
    return configured.rstrip("/") if configured else f"{request.url.scheme}://{request.url.netloc}"
