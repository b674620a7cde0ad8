"""Notices of a video (motion/notices.py) as the database and callers have them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from motion.notices import Notice


def records(notices: Iterable[Notice]) -> list[dict[str, Any]]:
    """A record for each notice: code, message, and the layer where one is named."""
    return [
        {"code": one.code, "message": one.message} | ({} if one.layer is None else {"layer": one.layer})
        for one in notices
    ]


def stored(notices: Iterable[Notice]) -> str | None:
    """Return the records as JSON, None where there are none."""
    found = records(notices)
    return orjson.dumps(found).decode() if found else None
