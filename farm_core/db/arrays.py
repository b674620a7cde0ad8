"""Lists of texts in Postgres's text format. psycopg checks each text by itself, which takes up to fifty times as
long."""

from __future__ import annotations

from typing import Any

from psycopg.abc import Buffer
from psycopg.types.array import ListDumper


class TextListDumper(ListDumper):
    """psycopg dumper of lists, faster for lists of ASCII texts and None, such as ids and JSON. Postgres reads the
    same value."""

    def dump(self, obj: list[Any]) -> Buffer | None:
        """Return the list in Postgres's text format."""
        if obj and (items := _plain(obj) or _quoted(obj)) is not None and items.isascii() and "\0" not in items:
            return b"{" + items.encode() + b"}"
        return super().dump(obj)


def _plain(items: list[Any]) -> str | None:
    """Return the texts with quotes and commas around them, or None if an item is not a text or needs an escape."""
    if type(items[0]) is not str:
        return None
    try:
        joined = '","'.join(items)
    except TypeError:  # a list with other items, such as None
        return None
    quotes_between = 2 * (len(items) - 1)
    return f'"{joined}"' if joined.count('"') == quotes_between and "\\" not in joined else None


def _quoted(items: list[Any]) -> str | None:
    """Return the texts with escapes, and None as NULL. Return None if there are other items."""
    if not all(item is None or type(item) is str for item in items):
        return None
    return ",".join(["NULL" if item is None else _escaped(item) for item in items])


def _escaped(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
