"""Byte ranges (RFC 9110, 14)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes [start, end)."""

    start: int
    end: int


class Unsatisfiable(Exception):
    """The range is outside the object."""


def span_of(header: str | None, size: int) -> Span | None:
    """Return the part named by a Range header. None means the whole object: there is no header, several ranges, or a
    malformed one.
    """
    match = _RANGE.fullmatch((header or "").strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1 if last else size)
        if last and int(last) < int(first):
            return None
    if start >= end:
        raise Unsatisfiable
    return Span(start, end)
