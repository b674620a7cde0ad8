"""`/v1/animations`: keyframe presets."""

from __future__ import annotations

import orjson
from fastapi import Response

from api.animations.schemas import PresetRecord, PresetRequest, PresetRow
from api.dependencies import AppStateOf, CallerOf, PageOf, Reading, Work
from api.documentation import answers
from api.ids import checked_id, found
from api.json import JSONResponse
from api.pagination import listed
from api.route import needs, public_router
from api.shapes import Deleted, Listed
from farm_core.accounts.scopes import Scope
from farm_core.errors import NotFound
from farm_core.presets import repository
from farm_core.presets.models import Preset
from farm_core.presets.repository import WITHOUT_DATA
from farm_core.strict_json import text_of
from farm_core.usage.stored import charge, check_reserve, forget

router = public_router("/animations", "animations")
_READ, _WRITE = Scope.templates_read, Scope.templates_write


@router.get("", openapi_extra=needs(_READ, conditional=True), responses=answers())
async def list_presets(work: Reading, caller: CallerOf, page: PageOf) -> Listed[PresetRow]:
    """List the account's presets by name, without their payload."""
    statement = repository.of_account(caller.account.id).options(WITHOUT_DATA)
    return await listed(work, statement, repository.ORDER, page, _row)


@router.get("/{id}", response_model=PresetRecord, openapi_extra=needs(_READ), responses=answers(404))
async def get_preset(work: Reading, caller: CallerOf, id: str) -> Response:
    """Return one preset."""
    preset = await repository.owned(work, caller.account.id, checked_id(id, "animation preset"))
    return _answer(found(preset, "animation preset"), 200)


@router.post("", status_code=201, response_model=PresetRecord, openapi_extra=needs(_WRITE), responses=answers())
async def put_preset(work: Work, state: AppStateOf, caller: CallerOf, body: PresetRequest) -> Response:
    """Publish a preset. It replaces one of the same name, whose version is increased by one."""
    data = text_of(body.animation_data)
    await check_reserve(work, state.storage, caller.account.id, len(data))
    preset = await repository.upsert(work, caller.account.id, body.name, data.decode(), state.clock.now())
    await charge(work, caller.account.id, repository.stored_key(preset.id), len(data), caller.limits.max_storage_bytes)
    return _answer(preset, 201)


@router.delete("/{id}", openapi_extra=needs(_WRITE), responses=answers(404))
async def delete_preset(work: Work, caller: CallerOf, id: str) -> Deleted:
    """Delete a preset."""
    if not await repository.remove(work, caller.account.id, checked_id(id, "animation preset")):
        raise NotFound("There is no such animation preset.")
    await forget(work, caller.account.id, repository.stored_key(id))
    return Deleted()


def _row(preset: Preset) -> PresetRow:
    return PresetRow.model_validate(preset.model_dump(exclude={"account_id", "animation_data"}))


def _answer(preset: Preset, status: int) -> Response:
    """Return a preset's record. Its data is passed on as text, because it can have megabytes."""
    row = _row(preset).model_dump(mode="json")
    return JSONResponse({**row, "animationData": orjson.Fragment(preset.animation_data)}, status)
