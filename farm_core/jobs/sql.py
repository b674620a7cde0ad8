"""The named statements of `queries.sql`, loaded once."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

Transaction = AsyncSession | AsyncConnection
"""Object that runs statements. A bare connection costs less than a session."""

_NAME: Final = re.compile(r"^-- (\w+) --$", re.MULTILINE)


@cache
def statement(name: str) -> TextClause:
    """Return the statement of that name. Raises KeyError."""
    return text(_statements()[name])


def names() -> frozenset[str]:
    """Return the names of all statements."""
    return frozenset(_statements())


@cache
def _statements() -> dict[str, str]:
    _, *parts = _NAME.split(Path(__file__).with_name("queries.sql").read_text(encoding="utf-8"))
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
