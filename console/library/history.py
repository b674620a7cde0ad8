"""Former versions of a template, and their restoration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import RedirectResponse, Response

from api.dependencies import AppStateOf, Work
from api.templates import service, versions
from api.templates.schemas import VERSION_MAX
from console.viewer import ChangerOf
from farm_core.audit.log import record
from farm_core.templates import manifest, repository
from farm_core.templates.models import Template, TemplateVersion

router = APIRouter(prefix="/templates")
Version = Annotated[int, Path(ge=1, le=VERSION_MAX)]


@dataclass(frozen=True, slots=True)
class FormerVersion:
    """A version that can be restored, and what its restoration changes for requests."""

    row: TemplateVersion
    changes: list[str]


async def former_versions(session: AsyncSession, template: Template) -> list[FormerVersion]:
    """Return the newest versions that the template had before."""
    statement = repository.restorable(template.account_id, template.id).order_by(*repository.NEWEST_VERSION_FIRST)
    rows = await session.scalars(statement.limit(repository.RESTORABLE_MAX))
    return [
        FormerVersion(row, versions.changes(template.inputs, manifest.joined(row.inputs, row.targets))) for row in rows
    ]


@router.post("/{template_id}/versions/{version}/restore")
async def restore(viewer: ChangerOf, state: AppStateOf, work: Work, template_id: str, version: Version) -> Response:
    """Make a new version of the template with the content of a former one."""
    made = await service.restore(work, state, viewer.caller, template_id, version)
    await record(work, viewer.actor, "restore template", f"template {made.id}", {"name": made.name, "version": version})
    return RedirectResponse(f"/console/templates/{made.id}", 303)


@router.post("/{template_id}/versions/{version}/delete")
async def delete(viewer: ChangerOf, work: Work, template_id: str, version: Version) -> Response:
    """Delete a former version. Renders that were accepted with it continue."""
    await service.forget_version(work, viewer.caller, template_id, version)
    await record(work, viewer.actor, "delete template version", f"template {template_id}", {"version": version})
    return RedirectResponse(f"/console/templates/{template_id}", 303)
