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


@cache
def planned_for(name: str, parameter: str, number: int) -> TextClause:
    """Return the statement of that name with a number in place of a parameter that limits rows.

    Postgres plans such a statement once: with an unknown limit it makes a new plan at each use.
    """
    return text(re.sub(rf"(?<!:):{parameter}\b", str(number), _statements()[name]))


def names() -> frozenset[str]:
    """Return the names of all statements."""
    return frozenset(_statements())


@cache
def _statements() -> dict[str, str]:
    _, *parts = _NAME.split(Path(__file__).with_name("queries.sql").read_text(encoding="utf-8"))
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


def in_steps(number: int) -> int:
    """Return the next of 1, 2, 3, 4, 6, 8, 12, 16 ...: a limit that is larger than needed, of which there are few to plan for."""
    power = 1 << max(0, number - 1).bit_length()
    return power * 3 // 4 if power >= 4 and number <= power * 3 // 4 else power
