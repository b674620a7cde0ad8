"""`/v1/assets`."""

from __future__ import annotations

from fastapi import Request

from api.assets import service
from api.assets.schemas import UPLOAD_FORM, UploadRecord
from api.dependencies import AppStateOf, CallerOf, Origin, Work
from api.documentation import answers
from api.route import needs, public_router
from api.uploads import received
from farm_core.accounts.scopes import Scope

router = public_router("/assets", "assets")


@router.post("", status_code=201, openapi_extra=needs(Scope.renders_write, body=UPLOAD_FORM), responses=answers())
async def upload_asset(
    request: Request, work: Work, state: AppStateOf, caller: CallerOf, origin: Origin
) -> UploadRecord:
    """Upload a picture, video or sound for use as an input. It is deleted after 24 hours."""
    async with received(request, caller.account.id, caller.limits.max_upload_bytes) as upload:
        return await service.store(work, state, caller, upload, origin)
