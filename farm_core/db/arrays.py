"""Lists of texts and numbers in Postgres's text format. psycopg checks each item by itself, which takes up to fifty
times as long."""

from __future__ import annotations

from types import NoneType
from typing import Any, Final

from psycopg.abc import Buffer, DumperKey
from psycopg.adapt import PyFormat
from psycopg.types.array import ListDumper

_NUMBERS: Final = frozenset({int, float, NoneType})
_PLAIN: Final = _NUMBERS | {str}


class PlainListDumper(ListDumper):
    """psycopg dumper of lists, faster for lists of numbers, of ASCII texts, and None. Postgres reads the same value.

    Postgres learns the type of such a list from the statement. psycopg names the smallest type that holds the numbers,
    and prepares the statement anew for each combination of types.
    """

    def get_key(self, obj: list[Any], format: PyFormat) -> DumperKey:
        """Return one key, and so one dumper without a type, for all plain lists."""
        return self.cls if _PLAIN.issuperset(map(type, obj)) else super().get_key(obj, format)

    def dump(self, obj: list[Any]) -> Buffer | None:
        """Return the list in Postgres's text format."""
        if obj and _NUMBERS.issuperset(map(type, obj)):
            return b"{" + ",".join(["NULL" if item is None else repr(item) for item in obj]).encode() + b"}"
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
