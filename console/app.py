"""App of the console, which the API mounts at `/console`."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from api.app_state import AppState
from console import errors
from console.access.endpoints import router as access
from console.account.endpoints import router as account
from console.accounts.endpoints import router as accounts
from console.audit.endpoints import router as audit
from console.batch.endpoints import router as batch
from console.farm_state.snapshots import Snapshots
from console.guard import SecurityMiddleware
from console.library.endpoints import router as templates
from console.library.history import router as former_versions
from console.library.imports import router as imports
from console.live.endpoints import router as live
from console.live.hub import Hub
from console.overview.endpoints import router as overview
from console.pages import STATIC, stylesheet
from console.playground.endpoints import router as playground
from console.renders.actions import router as render_actions
from console.renders.endpoints import router as renders
from console.renders.selection import router as selection
from console.renders.tables import router as tables
from console.workers.endpoints import router as workers
from farm_core.errors import FarmError

ROUTERS: Final = (
    access,
    overview,
    render_actions,
    selection,
    tables,
    renders,
    imports,
    former_versions,
    templates,
    playground,
    batch,
    workers,
    account,
    accounts,
    audit,
    live,
)


def create_console(state: AppState) -> FastAPI:
    """Return the console app, which shares the API's state. Mount it at `/console`."""
    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=[Middleware(SecurityMiddleware)],
    )
    app.state.dependencies = state
    app.state.hub = Hub(state.redis)
    app.state.snapshots = Snapshots(state)
    app.add_exception_handler(errors.SignInNeeded, errors.to_sign_in)
    for kind in (FarmError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, errors.shown)
    # `include_router` would build every route again, which takes 0.1 s of processor time.
    app.router.routes += [route for router in ROUTERS for route in router.routes]
    # Pages themselves stay as they are: the size of a compressed page that repeats what was asked reveals its CSRF token.
    app.router.routes.append(Route("/static/{version}/console.css", GZipMiddleware(_stylesheet)))
    app.mount("/static/{version}", GZipMiddleware(StaticFiles(directory=STATIC)), name="static")
    return app


async def _stylesheet(scope: Scope, receive: Receive, send: Send) -> None:
    await Response(stylesheet(), media_type="text/css")(scope, receive, send)
