"""JSON in and out: strict (no NaN, no NUL characters, bounded nesting), and quick."""

from __future__ import annotations

import json
from typing import Any, Final

import orjson
from starlette import responses
from starlette.requests import Request

from farm_core.errors import BadRequest

DEPTH_MAX: Final = 200
_NOT_HELD = "The body holds a NUL character (\\u0000), which no field can hold."


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
    """The value of JSON text. Raises json.JSONDecodeError and BadRequest."""
    if _depth(data) > DEPTH_MAX:
        raise BadRequest(f"The body is nested deeper than {DEPTH_MAX} levels.")
    value = orjson.loads(data)
    if b"\\u0000" in data and _holds_nul(value):
        raise BadRequest(_NOT_HELD)
    return value


def _depth(data: bytes) -> int:
    """How deeply brackets nest; those inside strings count too where a cheap look cannot rule deep nesting out."""
    if data.count(b"[") + data.count(b"{") <= DEPTH_MAX:
        return 0
    depth = deepest = 0
    in_string = escaped = False
    for byte in data:
        if in_string:
            in_string = escaped or byte != 0x22
            escaped = not escaped and byte == 0x5C
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any("\x00" in name or _holds_nul(one) for name, one in value.items())
    return isinstance(value, list) and any(map(_holds_nul, value))


JSONDecodeError = json.JSONDecodeError
