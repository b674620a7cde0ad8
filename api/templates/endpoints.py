"""`/v1/templates`."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le
from fastapi import Path, Request

from api.dependencies import AppStateOf, CallerOf, PageOf, Reading, Work
from api.documentation import answers
from api.route import needs, public_router
from api.shapes import DECIMAL, Deleted, Listed
from api.templates import service
from api.templates.schemas import (
    IMPORT_FORM,
    VERSION_MAX,
    ImportedTemplate,
    ReplacementRequest,
    TemplateRecord,
    TemplateRequest,
    VersionRecord,
)
from api.uploads import received
from farm_core.accounts.scopes import Scope

router = public_router("/templates", "templates")
_READ, _WRITE = Scope.templates_read, Scope.templates_write
Version = Annotated[int, Ge(1), Le(VERSION_MAX), DECIMAL, Path()]


@router.get("", openapi_extra=needs(_READ, conditional=True), responses=answers())
async def list_templates(work: Reading, caller: CallerOf, page: PageOf) -> Listed[TemplateRecord]:
    """List the account's templates, newest first."""
    return await service.page(work, caller, page)


@router.post("/import", status_code=201, openapi_extra=needs(_WRITE, body=IMPORT_FORM), responses=answers())
async def import_template(request: Request, work: Work, state: AppStateOf, caller: CallerOf) -> ImportedTemplate:
    """Create a template from a `.motion` project, zipped or as a legacy single file. Every layer with a source becomes an input."""
    async with received(request, caller.account.id, caller.limits.max_upload_bytes) as upload:
        return await service.import_bundle(work, state, caller, upload)


@router.post("", status_code=201, openapi_extra=needs(_WRITE), responses=answers())
async def publish_template(work: Work, state: AppStateOf, caller: CallerOf, body: TemplateRequest) -> TemplateRecord:
    """Create a template from the editor's document."""
    return await service.publish(work, state, caller, body)


@router.get("/{id}", openapi_extra=needs(_READ), responses=answers(404))
async def get_template(work: Reading, caller: CallerOf, id: str) -> TemplateRecord:
    """Return one template."""
    return await service.get(work, caller, id)


@router.put("/{id}", openapi_extra=needs(_WRITE), responses=answers(404, 409), tags=["extension"])
async def replace_template(
    work: Work, state: AppStateOf, caller: CallerOf, id: str, body: ReplacementRequest
) -> ImportedTemplate:
    """Replace a template by a new version, from the editor's document. Renders that were accepted keep the former version.

    The warnings name inputs that are gone, newly required or of another kind.
    """
    former = await service.owned(state, caller, id)
    return await service.publish_version(work, state, caller, body, former)


@router.put(
    "/{id}/import", openapi_extra=needs(_WRITE, body=IMPORT_FORM), responses=answers(404, 409), tags=["extension"]
)
async def replace_template_by_import(
    request: Request, work: Work, state: AppStateOf, caller: CallerOf, id: str
) -> ImportedTemplate:
    """Replace a template by a new version, from a `.motion` project. Fields that are left out stay as they are, and so
    do chosen labels and left-out inputs. `includeText=true` exposes all texts.

    Renders that were accepted keep the former version. The warnings name inputs that are gone, newly required or of another kind.
    """
    former = await service.owned(state, caller, id)
    async with received(request, caller.account.id, caller.limits.max_upload_bytes) as upload:
        return await service.import_bundle(work, state, caller, upload, former=former)


@router.get("/{id}/versions", openapi_extra=needs(_READ, conditional=True), responses=answers(404), tags=["extension"])
async def list_template_versions(work: Reading, caller: CallerOf, id: str, page: PageOf) -> Listed[VersionRecord]:
    """List the former versions of a template that can be restored, newest first."""
    return await service.former_versions(work, caller, id, page)


@router.post(
    "/{id}/versions/{version}/restore", openapi_extra=needs(_WRITE), responses=answers(404, 409), tags=["extension"]
)
async def restore_template_version(
    work: Work, state: AppStateOf, caller: CallerOf, id: str, version: Version
) -> ImportedTemplate:
    """Make a new version of a template with the content of a former one. The template keeps its name and description."""
    return await service.restore(work, state, caller, id, version)


@router.delete("/{id}/versions/{version}", openapi_extra=needs(_WRITE), responses=answers(404), tags=["extension"])
async def delete_template_version(work: Work, caller: CallerOf, id: str, version: Version) -> Deleted:
    """Delete a former version of a template. Renders that were accepted with it continue."""
    await service.forget_version(work, caller, id, version)
    return Deleted()


@router.delete("/{id}", openapi_extra=needs(_WRITE), responses=answers(404))
async def delete_template(work: Work, state: AppStateOf, caller: CallerOf, id: str) -> Deleted:
    """Delete a template. Renders that were accepted continue."""
    await service.delete(work, state, caller, id)
    return Deleted()
