"""`/` and `/api`: redirects for people who open them in a browser."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse

from api.route import HeadRoute

router = APIRouter(include_in_schema=False, route_class=HeadRoute)
DOCUMENTATION: Final = "/api/docs"
CONSOLE: Final = "/console"


@router.get("/")
async def first_page(request: Request) -> RedirectResponse:
    """Redirect to the console, or to the API's page if there is no console."""
    has_console = any(getattr(route, "path", "").startswith(CONSOLE) for route in request.app.routes)
    return RedirectResponse(CONSOLE if has_console else DOCUMENTATION)


@router.get("/api")
async def api_page() -> RedirectResponse:
    """Redirect to the API's page."""
    return RedirectResponse(DOCUMENTATION)
