"""Strict JSON of callers: no NaN, no control characters, limited nesting and counts. Large values need memory only
once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import orjson

from farm_core.errors import BadRequest
from motion.stored import CONTAINERS_MAX, LEVELS_MAX, VALUES_MAX

MEMBERS_MAX: Final = 1_000
"""Maximum members of an object or list of a request, outside documents and presets. Each member can be an error with
its own message."""

FREE_FORM: Final = frozenset({"document", "animationData"})
"""Members of a body with free content from the editor: documents and presets."""
_METADATA: Final = "metadata"
"""Member with free content of the caller, of limited size (`api/renders/rules.py`)."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_NUL: Final = re.compile("\x00")
_SUSPECT: Final = re.compile(rb"\\u00[01]|\\[bf]|\x7f")
"""Pattern in any JSON text with a control character. Other texts need no check of their values."""

_FAULTS_MAX: Final = 100
_TOLD_LENGTH: Final = 200
_Path = tuple[Any, str | int]
"""Path of a value: its object or list (None for the body's own), and its name or index there. Full paths would be
copied for each value: half a second for 250 kB of nested lists."""


class RawObject:
    """JSON text of a checked object that is not parsed again."""

    # Not a dataclass: pydantic would describe it in the OpenAPI document.
    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text


def text_of(value: dict[str, Any] | RawObject) -> bytes:
    """Return the JSON text of an object."""
    return value.text if isinstance(value, RawObject) else orjson.dumps(value)


def parsed(data: bytes) -> Any:
    """Return the value of JSON text. Raises json.JSONDecodeError, and BadRequest for valid JSON that the farm does
    not accept.

    It does not check control characters: `refuse_control_characters` does, because it knows the fields.
    """
    check_counts(data)
    value = orjson.loads(data)
    _written(value, sort=False)
    return value


def check_counts(data: bytes) -> None:
    """Raise BadRequest for text with too many objects, arrays or members, before parsing: `[],` takes fifty times its
    size."""
    if len(data) > CONTAINERS_MAX and data.count(b"{") + data.count(b"[") > CONTAINERS_MAX:
        raise BadRequest(f"The JSON holds more than {CONTAINERS_MAX} objects and lists.")
    if len(data) > VALUES_MAX and data.count(b",") > VALUES_MAX:
        raise BadRequest(f"The JSON holds more than {VALUES_MAX} values.")


def storable(value: Any) -> bytes:
    """Return the value as JSON text with sorted names. Raises BadRequest for valid JSON that the farm cannot store."""
    data = _written(value, sort=True)
    if b"\\u0000" in data and next(_faults([value], _NUL, None), None) is not None:
        raise BadRequest("The JSON holds a NUL character (\\u0000), which no field can hold.")
    return data


def character_fault(text: str) -> str | None:
    """Return the reason why no field can hold the text: a control character other than tabs and line breaks. Return
    None if it can."""
    found = _CONTROL.search(text)
    return None if found is None else _fault_of(found)


def refuse_control_characters(body: Any) -> None:
    """Raise BadRequest that names all fields with a control character other than tabs and line breaks.

    Documents and presets may contain them, except NUL. The other rules for a render's inputs check those values
    (`api/renders/rules.py`).
    """
    faults = list(islice(_body_faults(body), _FAULTS_MAX))
    if faults:
        errors = [{"field": field, "message": message} for field, message in faults]
        raise BadRequest([f"{field}: {message}" for field, message in faults], errors=errors)


def refuse_too_many_members(body: Any) -> None:
    """Raise BadRequest for a body with more than MEMBERS_MAX members in an object or list, except in documents and
    presets."""
    if isinstance(body, dict):
        body = {name: one for name, one in body.items() if name not in FREE_FORM}
    waiting: list[tuple[_Path | None, Any]] = [(None, body)] if isinstance(body, dict | list) else []
    while waiting:
        path, value = waiting.pop()
        if len(value) > MEMBERS_MAX:
            field, kind = _told(path) or "body", "fields" if isinstance(value, dict) else "items"
            message = f"must have at most {MEMBERS_MAX} {kind}"
            raise BadRequest([f"{field}: {message}"], errors=[{"field": field, "message": message}])
        members = value.items() if isinstance(value, dict) else enumerate(value)
        waiting += [((path, name), one) for name, one in members if isinstance(one, dict | list) and name != _METADATA]


def _written(value: Any, *, sort: bool) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort else None)
    except TypeError:
        raise BadRequest(f"The JSON is nested deeper than {LEVELS_MAX} levels, or holds half a character.") from None


def _body_faults(body: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(body, dict):
        body = {"body": body}
    if not _SUSPECT.search(orjson.dumps(body)):
        return
    yield from _faults({name: one for name, one in body.items() if name not in FREE_FORM}, _CONTROL, None)
    free = {name: one for name, one in body.items() if name in FREE_FORM}
    if free and b"\\u0000" in orjson.dumps(free):
        yield from _faults(free, _NUL, None)


def _faults(value: Any, characters: re.Pattern[str], path: _Path | None) -> Iterator[tuple[str, str]]:
    """Yield path and fault of each text or name with a forbidden character. The values of inputs are skipped."""
    named = isinstance(value, dict)
    for name, one in value.items() if isinstance(value, dict) else enumerate(value):
        for text in (name, one) if named else (one,):
            if isinstance(text, str) and (found := characters.search(text)):
                yield _told((path, name)), _fault_of(found)
        if isinstance(one, dict | list) and not _is_inputs((path, name), one):
            yield from _faults(one, characters, (path, name))


def _is_inputs(path: _Path, value: Any) -> bool:
    """Return True for the inputs of a render, a still or a row of a batch."""
    owner, name = path
    return name == "inputs" and isinstance(value, dict) and (owner is None or owner[0] == (None, "rows"))


def _told(path: _Path | None) -> str:
    parts: list[str] = []
    while path is not None:
        path, name = path
        parts.append(str(name)[:_TOLD_LENGTH])
    return ".".join(reversed(parts))[:_TOLD_LENGTH]


def _fault_of(found: re.Match[str]) -> str:
    name = "a NUL character (U+0000)" if found[0] == "\x00" else f"the control character U+{ord(found[0]):04X}"
    return f"holds {name}, which no field can hold"
