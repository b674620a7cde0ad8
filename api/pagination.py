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
) -> Listed[Item]:
    """Return the page of the statement's rows, with their total."""
    total = int(await session.scalar(select(func.count()).select_from(statement.order_by(None).subquery())) or 0)
    rows = await session.scalars(statement.order_by(*order).limit(page.limit).offset(page.offset))
    return Listed(items=[shaped(row) for row in rows], total=total, limit=page.limit, offset=page.offset)


def found(row: Row | None, what: str) -> Row:
    """Return the row. Raises NotFound with the same words for a missing row and another account's."""
    if row is None:
        raise NotFound(f"There is no such {what}.")
    return row


def checked_id(text: str, what: str) -> str:
    """Return the identifier. Raises NotFound for a text that cannot be an identifier."""
    if not is_id(text):
        raise NotFound(f"There is no such {what}.")
    return text


def is_id(text: str) -> bool:
    """Return True if the text can be an identifier."""
    return _ID.fullmatch(text) is not None
