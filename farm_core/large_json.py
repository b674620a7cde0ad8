"""Check large JSON bodies in the sandbox, because it can take a second.

Documents and presets are stored as text, so that the API does not parse them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import orjson

from farm_core.errors import BadRequest
from farm_core.strict_json import FREE_FORM, RawObject, parsed, refuse_control_characters, refuse_too_many_members

BODY: Final = "body.json"
"""Name of the body's file in the checked folder. After the check, the file lacks documents and presets."""

CONTAINERS_MAX: Final = 50_000
VALUES_MAX: Final = 500_000
"""Maximum numbers of objects and lists, and of values, outside documents and presets: a batch of 1,000 rows of 500 values."""

DEPTH_MAX: Final = 1024
"""Depth of the parser, which has no option for it."""
_TOO_DEEP: Final = "depth limit exceeded"


def check_body(folder: str) -> list[str]:
    """Check the body in the folder, move its documents and presets to their own files, and return their names.

    Raises BadRequest.
    """
    path = Path(folder, BODY)
    try:
        value = parsed(path.read_bytes())
    except json.JSONDecodeError as error:
        raise syntax_fault(error) from None
    refuse_too_many_members(value)
    refuse_control_characters(value)
    apart = [name for name in FREE_FORM if isinstance(value, dict) and isinstance(value.get(name), dict)]
    for name in apart:
        Path(folder, name).write_bytes(orjson.dumps(value.pop(name)))
    rest = orjson.dumps(value)
    if rest.count(b"{") + rest.count(b"[") > CONTAINERS_MAX or rest.count(b",") > VALUES_MAX:
        most = f"{CONTAINERS_MAX} objects and lists, or {VALUES_MAX} values"
        raise BadRequest(f"The request holds more than {most}.")
    path.write_bytes(rest)
    return apart


def checked_body(folder: str, apart: list[str]) -> Any:
    """Return the value of a checked body. Documents and presets are RawObject."""
    value = orjson.loads(Path(folder, BODY).read_bytes())
    return value | {name: RawObject(Path(folder, name).read_bytes()) for name in apart} if apart else value


def syntax_fault(error: json.JSONDecodeError) -> BadRequest:
    """Return the error for a body that is not JSON."""
    place = f"line {error.lineno}, column {error.colno}"
    if error.msg == _TOO_DEEP:
        return BadRequest(f"The JSON is nested more than {DEPTH_MAX} deep ({place}).")
    return BadRequest(f"The request body is not valid JSON in UTF-8: {error.msg} ({place}).")
