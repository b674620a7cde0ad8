"""`/api/health`, `/api/ready` and `/metrics`: without credentials."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy import text

from api.app_state import AppState
from api.dependencies import AppStateOf
from api.health import measures
from api.json import JSONResponse
from api.route import HeadRoute
from api.shapes import Shape
from farm_core.jobs.workers import live_workers
from farm_core.redis import CHECK_KEY
from farm_core.storage.disk_space import check_temporary_room
from farm_core.telemetry.logs import logger
from farm_core.telemetry.metrics import exposition

router = APIRouter(tags=["health"], route_class=HeadRoute)
CHECK_SECONDS = 3.0
log = logger("api.health")


class Health(Shape):
    """The process answers."""

    status: str = "ok"


class Readiness(Shape):
    """State of each dependency of requests."""

    ready: bool
    checks: dict[str, bool]


@router.get("/api/health")
async def health() -> Health:
    """Return 200 while the process answers."""
    return Health()


@router.get("/api/ready", responses={503: {"model": Readiness, "description": "Something is missing; see `checks`."}})
async def ready(state: AppStateOf) -> Readiness:
    """Ready: Postgres, Redis and storage answer, Redis takes writes, storage and temporary files have room, and at least one worker is there."""
    checks = {
        "postgres": _postgres(state),
        "redis": _redis(state),
        "storage": _storage(state),
        "workers": _workers(state),
    }
    results = await asyncio.gather(*(_passes(check) for check in checks.values()))
    outcome = Readiness(ready=all(results), checks=dict(zip(checks, results, strict=True)))
    if outcome.ready:
        return outcome
    return JSONResponse(outcome.model_dump(), status_code=503)  # type: ignore[return-value]


@router.get("/metrics", include_in_schema=False)
async def metrics(state: AppStateOf) -> Response:
    """Prometheus metrics of this process, the queue and the stores."""
    stores = asyncio.gather(_passes(measures.queue(state)), _passes(_storage(state)))
    _, storage_up = await stores
    measures.storage(state.settings, up=storage_up)
    return Response(exposition(), media_type=CONTENT_TYPE_LATEST)


async def _passes(check: Awaitable[bool]) -> bool:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await check
    except Exception as error:  # each part fails in ways of its own
        log.warning("a check failed", error=str(error))
        return False


async def _postgres(state: AppState) -> bool:
    answer = await state.database.single(lambda connection: connection.execute(text("SELECT 1")))
    return bool(answer.scalar() == 1)


async def _redis(state: AppState) -> bool:
    return bool(await state.redis.set(CHECK_KEY, 1, ex=60))


async def _storage(state: AppState) -> bool:
    await asyncio.to_thread(state.storage.check)
    await asyncio.to_thread(check_temporary_room)
    return True


async def _workers(state: AppState) -> bool:
    async with state.database.reading() as session:
        return bool(await live_workers(session, state.clock.now()))
