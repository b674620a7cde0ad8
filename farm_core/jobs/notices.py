"""Convert notices of a video (motion/notices.py) to their stored and public form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from motion.notices import Notice


def records(notices: Iterable[Notice]) -> list[dict[str, Any]]:
    """Return a record for each notice: code, message, and the layer if it has one."""
    return [
        {"code": one.code, "message": one.message} | ({} if one.layer is None else {"layer": one.layer})
        for one in notices
    ]


def stored(notices: Iterable[Notice]) -> str | None:
    """Return the notices as JSON, or None if there are none."""
    found = records(notices)
    return orjson.dumps(found).decode() if found else None
