"""`/v1/keys`: session only."""

from __future__ import annotations

from api.dependencies import AppStateOf, CallerOf, PageOf, Reading, Work
from api.documentation import answers
from api.keys import service
from api.keys.schemas import DEFAULT_KEY, KeyRequest, KeySummary, NewKey, Revoked
from api.route import needs, public_router
from api.shapes import Listed

router = public_router("/keys", "keys")


@router.get("", openapi_extra=needs(None, conditional=True), responses=answers())
async def list_keys(work: Reading, caller: CallerOf, page: PageOf) -> Listed[KeySummary]:
    """List the account's keys, newest first."""
    return await service.page(work, caller, page)


@router.post("", status_code=201, openapi_extra=needs(None), responses=answers())
async def create_key(state: AppStateOf, caller: CallerOf, body: KeyRequest = DEFAULT_KEY) -> NewKey:
    """Create a key. The answer has its secret, which is not shown again."""
    return await service.create(state, caller, body)


@router.delete("/{id}", openapi_extra=needs(None), responses=answers(404))
async def revoke_key(work: Work, state: AppStateOf, caller: CallerOf, id: str) -> Revoked:
    """Revoke a key. Its next request is refused."""
    await service.revoke(work, state, caller, id)
    return Revoked()
