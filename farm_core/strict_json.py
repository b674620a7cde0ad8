"""JSON as callers may send it: no NaN, no NUL characters, bounded nesting and counts. Large values cost memory once only."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from farm_core.errors import BadRequest

DEPTH_MAX: Final = 254
"""Nesting depth that orjson can write."""

CONTAINERS_MAX: Final = 250_000
VALUES_MAX: Final = 2_000_000
_FREE_FORM: Final = frozenset({"document", "animationData"})
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


def parsed(data: bytes) -> Any:
    """The value of JSON text. Raises json.JSONDecodeError, and BadRequest for what JSON allows and the farm does not."""
    check_counts(data)
    value = orjson.loads(data)
    refuse_nul(value)
    return value


def check_counts(data: bytes) -> None:
    """Raises BadRequest for text with too many objects, arrays or members, before it is parsed: `[],` takes fifty times its size."""
    if len(data) > CONTAINERS_MAX and data.count(b"{") + data.count(b"[") > CONTAINERS_MAX:
        raise BadRequest(f"The JSON holds more than {CONTAINERS_MAX} objects and lists.")
    if len(data) > VALUES_MAX and data.count(b",") > VALUES_MAX:
        raise BadRequest(f"The JSON holds more than {VALUES_MAX} values.")


def refuse_nul(value: Any) -> None:
    """Raise BadRequest where a name or text holds a NUL character, or the value cannot be written."""
    storable(value, sort=False)


def storable(value: Any, *, sort: bool = True) -> bytes:
    """Return the value as JSON, its names in order; raises BadRequest for what JSON allows and the farm cannot keep."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort else None)
    except TypeError:
        raise BadRequest(f"The JSON is nested deeper than {DEPTH_MAX} levels, or holds half a character.") from None
    if b"\\u0000" in data and _holds(value, _NUL):
        raise BadRequest("The JSON holds a NUL character (\\u0000), which no field can hold.")
    return data


def refuse_control_characters(body: Any) -> None:
    """Raises BadRequest where a field of a request, or its name, holds a control character other than tabs and line breaks.

    Documents and presets are the editor's own texts and may hold them, except NUL.
    """
    held = {name: one for name, one in body.items() if name not in _FREE_FORM} if isinstance(body, dict) else body
    if _holds(held, _CONTROL):
        raise BadRequest("A field holds a control character, which no field can hold.")


_NUL: Final = re.compile("\x00")


def _holds(value: Any, characters: re.Pattern[str]) -> bool:
    if isinstance(value, str):
        return characters.search(value) is not None
    if isinstance(value, dict):
        return any(characters.search(name) or _holds(one, characters) for name, one in value.items())
    return isinstance(value, list) and any(_holds(one, characters) for one in value)
