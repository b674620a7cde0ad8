"""`/v1/batches`."""

from __future__ import annotations

from api.batches import service
from api.batches.schemas import BatchCancelled, BatchRecord, BatchRequest
from api.dependencies import AppStateOf, CallerOf, Origin, PageOf
from api.documentation import answers
from api.renders.endpoints import IdempotencyKey
from api.route import needs, public_router
from farm_core.accounts.scopes import Scope

router = public_router("/batches", "extension")
_READ, _WRITE = Scope.renders_read, Scope.renders_write


@router.post("", status_code=201, openapi_extra=needs(_WRITE), responses=answers(404, 409))
async def create_batch(
    state: AppStateOf,
    caller: CallerOf,
    origin: Origin,
    body: BatchRequest,
    idempotency_key: IdempotencyKey = None,
) -> BatchRecord:
    """Create a render for each row: for all rows, or with `partial` for rows without faults."""
    return await service.create(state, caller, body, idempotency_key, origin)


@router.get("/{id}", openapi_extra=needs(_READ, conditional=True), responses=answers(404))
async def get_batch(state: AppStateOf, caller: CallerOf, origin: Origin, page: PageOf, id: str) -> BatchRecord:
    """Return a batch with its totals and a page of its rows."""
    return await service.get(state, caller, id, page, origin)


@router.post("/{id}/cancel", openapi_extra=needs(_WRITE), responses=answers(404))
async def cancel_batch(state: AppStateOf, caller: CallerOf, id: str) -> BatchCancelled:
    """Cancel the renders of a batch that have not ended."""
    return await service.cancel(state, caller, id)
