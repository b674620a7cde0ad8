"""Pages of lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from api.dependencies import Page
from api.shapes import Listed

Item = TypeVar("Item")


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
