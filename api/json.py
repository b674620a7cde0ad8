"""JSON in and out: strict (no NaN, no NUL characters, bounded nesting), and quick."""

from __future__ import annotations

import json
from typing import Any, Final

import orjson
from starlette import responses
from starlette.requests import Request

from farm_core.errors import BadRequest

DEPTH_MAX: Final = 254
"""As deep as orjson writes."""


class JSONResponse(responses.JSONResponse):
    """An answer in JSON."""

    def render(self, content: Any) -> bytes:
        """The body's bytes."""
        return orjson.dumps(content)


class JSONRequest(Request):
    """A request whose body is read strictly."""

    async def json(self) -> Any:
        """The body's value; raises json.JSONDecodeError, or BadRequest for what JSON allows and the farm does not."""
        if not hasattr(self, "_json"):
            self._json = parsed(await self.body())
        return self._json


def parsed(data: bytes) -> Any:
    """The value of JSON text. Raises json.JSONDecodeError, and BadRequest as `storable` does."""
    value = orjson.loads(data)
    storable(value)
    return value


def storable(value: Any) -> bytes:
    """The value as JSON, its names in order; raises BadRequest for what JSON allows and the farm cannot keep."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        raise BadRequest(f"The JSON is nested deeper than {DEPTH_MAX} levels, or holds half a character.") from None
    if b"\\u0000" in data and _holds_nul(value):
        raise BadRequest("The JSON holds a NUL character (\\u0000), which no field can hold.")
    return data


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any("\x00" in name or _holds_nul(one) for name, one in value.items())
    return isinstance(value, list) and any(map(_holds_nul, value))


JSONDecodeError = json.JSONDecodeError
