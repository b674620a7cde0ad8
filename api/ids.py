"""Ids in requests. A missing row and a row of another account get the same 404."""

from __future__ import annotations

import re
from typing import TypeVar

from farm_core.errors import NotFound

Row = TypeVar("Row")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def found(row: Row | None, what: str) -> Row:
    """Return the row. Raises NotFound if it is None. `what`: the word for the object in the message."""
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
