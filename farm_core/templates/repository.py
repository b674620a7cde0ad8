"""Templates in the database."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import Select, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import load_only
from sqlmodel import col

from farm_core.templates.models import Template

ORDER: Final = (col(Template.created_at).desc(), col(Template.id).desc())
_GALLERY: Final = (
    Template.id, Template.name, Template.width, Template.height, Template.fps, Template.duration_seconds, Template.created_at
)  # fmt: skip
_SHOWN: Final = (*_GALLERY, Template.description, Template.inputs, Template.updated_at)
SHOWN: Final = load_only(*cast(Any, _SHOWN), raiseload=True)
"""Option for the API's lists that loads only public columns. Write targets can have megabytes."""

GALLERY: Final = load_only(*cast(Any, _GALLERY), raiseload=True)
"""Option for lists that show no inputs."""

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
