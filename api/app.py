"""The app: its dependencies, its middleware in order, its routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi_offline import FastAPIOffline
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse

from api.animations.endpoints import router as animations
from api.app_state import AppState
from api.assets.endpoints import router as assets
from api.batches.endpoints import router as batches
from api.documentation import DOCUMENT, add_documentation
from api.errors import add_error_handlers
from api.files.endpoints import router as files
from api.first_page import router as first_page
from api.health.endpoints import router as health
from api.json import JSONResponse
from api.keys.endpoints import router as keys
from api.middleware.api_keys import KeysOnlyInV1
from api.middleware.bodies import BodyLimit
from api.middleware.boundary import ErrorBoundary
from api.middleware.origins import OtherOrigins
from api.middleware.rate import RequestRate
from api.middleware.running import RunningRequests
from api.middleware.telemetry import Telemetry
from api.middleware.turns import RequestTurns
from api.renders.endpoints import router as renders
from api.route import operation_id
from api.stills.endpoints import router as stills
from api.templates.endpoints import router as templates
from api.usage.endpoints import router as usage
from console.app import create_console
from farm_core import redis
from farm_core.accounts.tokens import TokenReader
from farm_core.clock import Clock, FollowingClock
from farm_core.concurrency_limit import ConcurrencyLimit
from farm_core.db.database import Database
from farm_core.db.postgres_clock import keep_following
from farm_core.db.shares import CredentialAccounts
from farm_core.net.resolver import AccountLookups, Resolver, system_resolver
from farm_core.progress.changes import ChangePublisher
from farm_core.progress.reader import ProgressReader
from farm_core.rates import RateLimiter
from farm_core.sandbox import Sandbox
from farm_core.secret import farm_secret
from farm_core.settings import Settings
from farm_core.stills.exchange import StillExchange
from farm_core.storage.choice import storage_of
from farm_core.storage.links import Links
from farm_core.turns import TURNS_PER_ACCOUNT

POOL_CONNECTIONS: Final = 12
LARGE_BODIES: Final = 2
UPLOADS: Final = 8
"""Most concurrent large bodies (in memory) and uploads (on disk) of an account in one process."""
SLOT_SECONDS: Final = 60.0
"""Time that a request waits for a slot before it is refused."""
REQUESTS_WAITING: Final = 1_000
"""Requests of an account that are handled or wait for a turn. Further ones are refused."""
ENDING_SECONDS: Final = 5.0
"""Time that requests which the server has cancelled get to end, before the connections that they use are closed."""
BULK_SECONDS: Final = 15.0
"""Time that a page waits for another action on all renders that match. Each of them can read all renders of the account."""

PUBLIC: Final = (keys, templates, renders, assets, usage, animations, stills, batches)
"""Routers under `/api/v1`."""

MIDDLEWARE: Final = (ErrorBoundary, RequestTurns, RequestRate, KeysOnlyInV1, BodyLimit)
"""Middleware of every request, outermost first. RunningRequests, Telemetry and CORS enclose it."""


def app_state_from(settings: Settings, clock: Clock | None = None, resolve: Resolver = system_resolver) -> AppState:
    """Build the app's state from the settings. `database_url` and `redis_url` must be set."""
    assert settings.database_url is not None and settings.redis_url is not None
    secret = farm_secret(settings)
    clock = clock or FollowingClock()
    links = Links(secret, clock)
    client = redis.connect(settings.redis_url)
    database = Database(
        settings.database_url, POOL_CONNECTIONS, ping=False, statement_seconds=settings.statement_seconds_max
    )
    return AppState(
        settings=settings,
        clock=clock,
        database=database,
        redis=client,
        rates=RateLimiter(client),
        stills=StillExchange(settings.redis_url),
        storage=storage_of(settings, links),
        links=links,
        tokens=TokenReader(secret, settings.jwt_jwks_url, settings.jwt_audience, settings.jwt_issuer),
        credential_accounts=CredentialAccounts(),
        lookups=AccountLookups(resolve),
        progress=ProgressReader(client, database),
        changes=ChangePublisher(client),
        sandbox=Sandbox(is_confined=settings.drawing_sandbox),
        large_bodies=ConcurrencyLimit(LARGE_BODIES, SLOT_SECONDS, "Too many large requests of this account at once."),
        uploads=ConcurrencyLimit(UPLOADS, SLOT_SECONDS, "Too many uploads of this account at once."),
        turns=ConcurrencyLimit(TURNS_PER_ACCOUNT, SLOT_SECONDS, requests_max=REQUESTS_WAITING),
        bulk_actions=ConcurrencyLimit(1, BULK_SECONDS, "Another action on many renders of this account is running."),
    )


def create_app(state: AppState) -> FastAPI:
    """Return the app of a state, which the app closes when it ends."""
    requests = set[asyncio.Task[None]]()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        state.sandbox.warm()
        following = asyncio.create_task(keep_following(state.database, state.clock), name="clock")
        yield
        following.cancel()
        await asyncio.wait({following, *requests}, timeout=ENDING_SECONDS)
        await state.changes.close()
        state.sandbox.close()
        await state.redis.aclose()
        await state.stills.close()
        await state.database.close()

    app = FastAPIOffline(  # the page's scripts are served from here, so that the page works without internet access
        title="Video render automation",
        openapi_url=DOCUMENT,
        docs_url="/api/docs",
        redoc_url=None,
        static_url="/api/docs/static",
        swagger_ui_oauth2_redirect_url="/api/docs/oauth2-redirect",
        lifespan=lifespan,
        default_response_class=JSONResponse,
        generate_unique_id_function=operation_id,
        redirect_slashes=False,
        strict_content_type=False,
        middleware=[
            Middleware(RunningRequests, requests),
            Middleware(Telemetry),
            *_cors(state.settings),
            *(Middleware(layer) for layer in MIDDLEWARE),
        ],
    )
    for page in app.routes:
        if isinstance(page, APIRoute) and page.methods:  # the documentation, whose routes are no HeadRoute
            page.methods.add("HEAD")
    app.state.dependencies = state
    add_error_handlers(app)
    app.router.routes += [route for router in PUBLIC for route in router.routes]
    app.include_router(first_page)
    app.include_router(health)
    app.include_router(files)
    add_documentation(app, state.settings.accepted_formats)
    app.mount("/console", create_console(state))
    app.add_api_route("/console", to_console, include_in_schema=False)
    return app


async def to_console() -> RedirectResponse:
    """Redirect to the console's first page."""
    return RedirectResponse("/console/")


def _cors(settings: Settings) -> list[Middleware]:
    """Allow browsers of the allowed origins to call the API, without cookies."""
    if not settings.allowed_origins:
        return []
    return [Middleware(OtherOrigins, origins=settings.allowed_origins)]
