"""Conditional requests (RFC 9110, 13.1.2)."""

from __future__ import annotations

from starlette.datastructures import Headers


def is_known(headers: Headers, tag: str) -> bool:
    """Return True if `If-None-Match` lists the entity tag, strong or weak, or is `*`."""
    listed = [part.strip().removeprefix("W/") for part in headers.get("if-none-match", "").split(",")]
    return tag in listed or "*" in listed
