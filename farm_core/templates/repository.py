"""Templates in the database."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import load_only
from sqlmodel import col

from farm_core.errors import Conflict
from farm_core.templates.models import Template, TemplateVersion

ORDER: Final = (col(Template.created_at).desc(), col(Template.id).desc())
_GALLERY: Final = (
    Template.id, Template.name, Template.width, Template.height, Template.fps, Template.duration_seconds, Template.created_at
)  # fmt: skip
_SHOWN: Final = (*_GALLERY, Template.description, Template.inputs, Template.version, Template.updated_at)
SHOWN: Final = load_only(*cast(Any, _SHOWN), raiseload=True)
"""Option for the API's lists that loads only public columns. Write targets can have megabytes."""

GALLERY: Final = load_only(*cast(Any, _GALLERY), raiseload=True)
"""Option for lists that show no inputs."""

UNDELETE_TIME: Final = timedelta(minutes=30)
"""Time for which a deleted template can be restored. Retention spares its rows and its document for an hour."""

RESTORABLE_MAX: Final = 10
"""Number of newest former versions that a template keeps without renders that wait for them."""

FORMER_VERSIONS_MAX: Final = 100
"""Maximum number of former versions that a template keeps for waiting renders."""

_VERSIONED: Final = ("inputs", "targets", "composition_id", "duration_seconds", "document_key")
"""Fields of a template that a former version keeps."""
_OF_JOBS: Final = ("width", "height", "fps")
"""Fields of a template that each job copies."""

NEWEST_VERSION_FIRST: Final = (col(TemplateVersion.version).desc(),)

_OWNED: Final = select(Template).where(
    col(Template.id) == bindparam("id"),
    col(Template.account_id) == bindparam("account_id"),
    col(Template.deleted_at).is_(None),
)


def of_account(account_id: str) -> Select[Template]:
    """Return the account's templates that are not deleted."""
    return select(Template).where(col(Template.account_id) == account_id, col(Template.deleted_at).is_(None))


async def owned(session: AsyncSession, account_id: str, template_id: str) -> Template | None:
    """Return the account's template with this id, unless it is deleted."""
    found: Template | None = await session.scalar(_OWNED, {"id": template_id, "account_id": account_id})
    return found


async def version_of(session: AsyncSession, newest: Template, version: int) -> Template:
    """Return the template with the content of a former version, or unchanged if that version is not kept."""
    kept = None if version == newest.version else await session.get(TemplateVersion, (newest.id, version))
    if kept is None:
        return newest
    sized = _OF_JOBS if kept.width is not None else ()
    return Template(**newest.model_dump() | {name: getattr(kept, name) for name in ("version", *_VERSIONED, *sized)})


async def replace(session: AsyncSession, new: Template) -> tuple[Template, list[dict[str, Any]]] | None:
    """Replace the content of the account's template that has the id of `new`. Return the stored template, and the
    inputs that it had before.

    Jobs that were created before keep the former version. The template keeps its id, creation time, and name,
    description and project unless `new` has others. Return None if there is no such template. Raises Conflict.
    """
    row = await session.scalar(_OWNED.with_for_update(key_share=True), {"id": new.id, "account_id": new.account_id})
    if row is None:
        return None
    former = {name: getattr(row, name) for name in (*_VERSIONED, *_OF_JOBS)}
    if any(getattr(row, name) != getattr(new, name) for name in (*_VERSIONED, *_OF_JOBS)):
        counted = select(func.count()).where(col(TemplateVersion.template_id) == row.id)
        if int(await session.scalar(counted) or 0) >= FORMER_VERSIONS_MAX:
            raise Conflict(
                f"This template keeps {FORMER_VERSIONS_MAX} former versions for waiting renders. A version is deleted about "
                "two hours after its replacement, once renders from before have ended. Replace the template again then."
            )
        kept = TemplateVersion(
            template_id=row.id,
            version=row.version,
            account_id=row.account_id,
            replaced_at=new.updated_at,
            restorable=True,
            **former,
        )
        session.add(kept)
        row.version += 1
        await session.flush()
        await _forget_oldest(session, row.id)
    for name in (*_VERSIONED, *_OF_JOBS, "updated_at"):
        setattr(row, name, getattr(new, name))
    row.name = new.name or row.name
    row.description = row.description if new.description is None else new.description
    row.project_id = row.project_id if new.project_id is None else new.project_id
    return row, former["inputs"]


async def _forget_oldest(session: AsyncSession, template_id: str) -> None:
    """Keep all but the `RESTORABLE_MAX` newest restorable versions only for the renders that need them."""
    of_template = (col(TemplateVersion.template_id) == template_id, col(TemplateVersion.restorable).is_(True))
    newest = (
        select(col(TemplateVersion.version)).where(*of_template).order_by(*NEWEST_VERSION_FIRST).limit(RESTORABLE_MAX)
    )
    older = update(TemplateVersion).where(*of_template, col(TemplateVersion.version).not_in(newest))
    await session.execute(older.values(restorable=False), execution_options={"synchronize_session": False})


def restorable(account_id: str, template_id: str, version: int | None = None) -> Select[TemplateVersion]:
    """Return the former versions of the account's template that can be restored, or only this one of them."""
    owned = select(TemplateVersion).where(
        col(TemplateVersion.template_id) == template_id,
        col(TemplateVersion.account_id) == account_id,
        col(TemplateVersion.restorable).is_(True),
    )
    return owned if version is None else owned.where(col(TemplateVersion.version) == version)


async def restore(
    session: AsyncSession, account_id: str, template_id: str, version: int, now: datetime
) -> tuple[Template, list[dict[str, Any]]] | None:
    """Make a new version with the content of a former one, as `replace` does. Return None if it is not there."""
    locked = _OWNED.with_for_update(key_share=True)  # templates are locked before their versions, as `replace` does
    if await session.scalar(locked, {"id": template_id, "account_id": account_id}) is None:
        return None
    wanted = restorable(account_id, template_id, version).with_for_update()  # or retention could delete it meanwhile
    former = await session.scalar(wanted)
    if former is None:
        return None
    content = {name: getattr(former, name) for name in (*_VERSIONED, *_OF_JOBS)}
    new = Template(id=template_id, account_id=account_id, name="", created_at=now, updated_at=now, **content)
    return await replace(session, new)


async def forget_version(session: AsyncSession, account_id: str, template_id: str, version: int) -> bool:
    """Keep a former version only for the renders that need it. Return True if it was restorable."""
    row = await session.scalar(restorable(account_id, template_id, version).with_for_update())
    if row is not None:
        row.restorable = False
    return row is not None


async def delete(session: AsyncSession, account_id: str, template_id: str, now: datetime) -> bool:
    """Delete the template. Jobs can use it until they end. Return True if it existed."""
    statement = (
        update(Template)
        .where(
            col(Template.id) == template_id, col(Template.account_id) == account_id, col(Template.deleted_at).is_(None)
        )
        .values(deleted_at=now)
    )
    return (await session.execute(statement.returning(col(Template.id)))).first() is not None


def deleted(template_id: str, now: datetime) -> ColumnElement[bool]:
    """Return the condition of a deleted template that can be restored."""
    return and_(col(Template.id) == template_id, col(Template.deleted_at) > now - UNDELETE_TIME)


async def undelete(session: AsyncSession, account_id: str, template_id: str, now: datetime) -> bool:
    """Restore a template that was deleted less than `UNDELETE_TIME` ago. Return True if it was."""
    statement = update(Template).where(deleted(template_id, now), col(Template.account_id) == account_id)
    changed = statement.values(deleted_at=None).returning(col(Template.id))
    return (await session.execute(changed)).first() is not None
