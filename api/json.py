"""Strict JSON requests and fast JSON responses."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Any

import orjson
from starlette import responses
from starlette.requests import Request

from farm_core.strict_json import parsed, refuse_control_characters, refuse_too_many_members


class JSONResponse(responses.JSONResponse):
    """An answer in JSON."""

    def render(self, content: Any) -> bytes:
        """Return the body's bytes."""
        return orjson.dumps(content)


class JSONRequest(Request):
    """A request whose body is read strictly."""

    def take(self, value: Any) -> None:
        """Set the body's value, which the caller has already parsed and checked."""
        self._json = value

    async def json(self) -> Any:
        """Return the body's value.

        Raises json.JSONDecodeError, or BadRequest for values that JSON allows and the farm does not.
        """
        if not hasattr(self, "_json"):
            self._json = strict_value(await self.body())
        return self._json


def strict_value(data: bytes) -> Any:
    """Return the value of a caller's JSON.

    Raises json.JSONDecodeError, or BadRequest for values that JSON allows and the farm does not.
    """
    value = parsed(data.removeprefix(BOM_UTF8))
    refuse_too_many_members(value)
    refuse_control_characters(value)
    return value
