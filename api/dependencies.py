"""Dependencies of endpoints."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Le
from fastapi import Depends, Query, Request
from sqlalchemy.ext.asyncio import AsyncSession

from api import app_state
from api.auth import Caller
from api.shapes import DECIMAL

LIMIT_DEFAULT = 50
LIMIT_MAX = 100
_OFFSET_MAX = 2**31 - 1


async def _work(request: Request) -> AsyncIterator[AsyncSession]:
    async with app_state.app_state_of(request).database.work() as session:
        yield session


async def _reading(request: Request) -> AsyncIterator[AsyncSession]:
    async with app_state.app_state_of(request).database.reading() as session:
        yield session


async def _app_state(request: Request) -> app_state.AppState:
    return app_state.app_state_of(request)


async def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


async def _origin(request: Request) -> str:
    return app_state.origin_of(request)


@dataclass(frozen=True, slots=True)
class Page:
    """The requested part of a list."""

    limit: int
    offset: int


async def _page(
    limit: Annotated[int, Ge(1), Le(LIMIT_MAX), DECIMAL, Query(description="Page size.")] = LIMIT_DEFAULT,
    offset: Annotated[int, Ge(0), Le(_OFFSET_MAX), DECIMAL, Query(description="Number of entries to skip.")] = 0,
) -> Page:
    return Page(limit, offset)


# All are coroutines: the framework sends plain functions through a thread, which costs more than they do.
# "function" scope: the transaction is committed before the answer leaves, so that a failed commit is a failed request.
Work = Annotated[AsyncSession, Depends(_work, scope="function")]
"""Session of a transaction that can write."""
Reading = Annotated[AsyncSession, Depends(_reading, scope="function")]
"""Session for reads. Each statement sees what is committed when it runs."""
AppStateOf = Annotated[app_state.AppState, Depends(_app_state)]
CallerOf = Annotated[Caller, Depends(_caller)]
Origin = Annotated[str, Depends(_origin)]
"""Scheme and host of links in answers, such as `https://farm.example.com`."""
PageOf = Annotated[Page, Depends(_page)]
