"""`/v1/renders`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header
from pydantic import WithJsonSchema
from starlette.responses import RedirectResponse

from api.dependencies import AppStateOf, CallerOf, Origin, PageOf, Reading
from api.documentation import answers
from api.renders import service, validation
from api.renders.rules import KEY_CHARACTERS, KEY_PATTERN
from api.renders.schemas import JobRecord, JobState, RenderRequest, Validation
from api.route import needs, public_router
from api.shapes import Listed
from farm_core.accounts.scopes import Scope
from farm_core.jobs.models import Job
from farm_core.jobs.status import JobStatus

router = public_router("/renders", "renders")
_READ, _WRITE = Scope.renders_read, Scope.renders_write
_FILE = {"type": "string", "format": "binary", "contentMediaType": "video/mp4"}
_REDIRECT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The MP4, for clients that follow the redirect.", "content": {"video/mp4": {"schema": _FILE}}},
    302: {
        "description": "Where the MP4 is.",
        "headers": {"Location": {"description": "The MP4's address.", "schema": {"type": "string"}}},
    },
}

# The services check the key, to name its fault with all others.
IdempotencyKey = Annotated[
    Annotated[str, WithJsonSchema({"type": "string", "pattern": KEY_PATTERN})] | None,
    Header(
        alias="Idempotency-Key", description=f"{KEY_CHARACTERS}; a repeat creates nothing and returns the original."
    ),
]


@router.post("", status_code=201, openapi_extra=needs(_WRITE), responses=answers(404, 409))
async def create_render(
    state: AppStateOf,
    caller: CallerOf,
    origin: Origin,
    body: RenderRequest,
    idempotency_key: IdempotencyKey = None,
) -> JobState:
    """Queue a render and reserve its minutes."""
    return _status(await service.create(state, caller, body, idempotency_key, origin))


@router.post("/validate", openapi_extra=needs(_WRITE), responses=answers(404), tags=["extension"])
async def validate_render(state: AppStateOf, caller: CallerOf, origin: Origin, body: RenderRequest) -> Validation:
    """Return the faults of a render, its minutes, expected time and warnings. Nothing is queued."""
    return await validation.validate(state, caller, body, origin)


@router.get("", openapi_extra=needs(_READ, conditional=True), responses=answers())
async def list_renders(
    work: Reading, state: AppStateOf, caller: CallerOf, origin: Origin, page: PageOf
) -> Listed[JobRecord]:
    """List the account's renders, newest first."""
    return await service.page(work, state, caller, page, origin)


@router.get("/{id}", openapi_extra=needs(_READ), responses=answers(404))
async def get_render(state: AppStateOf, caller: CallerOf, origin: Origin, id: str) -> JobRecord:
    """Return one render."""
    return await service.shown(state, caller, id, origin)


@router.post("/{id}/cancel", openapi_extra=needs(_WRITE), responses=answers(404))
async def cancel_render(state: AppStateOf, caller: CallerOf, id: str) -> JobState:
    """Cancel a render unless it has ended. The answer has its current status."""
    return _status(await service.cancel(state, caller, id))


@router.get(
    "/{id}/download",
    status_code=302,
    response_class=RedirectResponse,
    openapi_extra=needs(_READ),
    responses={**_REDIRECT, **answers(404, 409)},
)
async def download_render(
    work: Reading, state: AppStateOf, caller: CallerOf, origin: Origin, id: str
) -> RedirectResponse:
    """Redirect to the MP4 of a completed render."""
    return RedirectResponse(await service.download(work, state, caller, id, origin), status_code=302)


def _status(job: Job) -> JobState:
    return JobState(job_id=job.id, status=JobStatus(job.status))
