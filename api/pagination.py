"""Pages of lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from api.dependencies import Page
from api.shapes import Listed
from farm_core.errors import NotFound

Row = TypeVar("Row")
Item = TypeVar("Item")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


async def listed(
    session: AsyncSession,
    statement: Select[Any],
    order: tuple[Any, ...],
    page: Page,
    shaped: Callable[[Any], Item],
    total: int | None = None,
) -> Listed[Item]:
    """The page of what the statement selects, and how many that is in all; they are counted unless `total` says so."""
    if total is None:
        total = int(await session.scalar(select(func.count()).select_from(statement.order_by(None).subquery())) or 0)
    rows = await session.scalars(statement.order_by(*order).limit(page.limit).offset(page.offset))
    return Listed(items=[shaped(row) for row in rows], total=total, limit=page.limit, offset=page.offset)


def found(row: Row | None, what: str) -> Row:
    """The row; raises NotFound, in words that do not tell a missing row from someone else's."""
    if row is None:
        raise NotFound(f"There is no such {what}.")
    return row


def checked_id(text: str, what: str) -> str:
    """An identifier fit for a query; raises NotFound for what can name nothing."""
    if not _ID.fullmatch(text):
        raise NotFound(f"There is no such {what}.")
    return text
