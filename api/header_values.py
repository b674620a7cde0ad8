"""Header values with parameters, such as `multipart/form-data; boundary=x` (RFC 9110, 5.6.6), read in linear time."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from farm_core.errors import BadRequest

VALUE_LENGTH_MAX: Final = 1024
_PARAMETER: Final = re.compile(
    r";[ \t]*+(?:([!#$%&'*+.^_`|~0-9A-Za-z-]++)[ \t]*+=[ \t]*+(?:\"((?:[^\"\\]|\\.)*+)\"|([^;\"]*+)))?[^;]*+"
)
_ESCAPE: Final = re.compile(r"\\(.)")


def parameters(value: str) -> tuple[str, dict[str, str]]:
    """Return the value before the first semicolon in lower case, and its parameters by lower-case name.

    The first of repeated parameters counts. `name*=UTF-8''...` (RFC 8187) counts as `name`. Raises BadRequest for
    values over 1 kB.
    """
    if len(value) > VALUE_LENGTH_MAX:
        raise BadRequest(f"A header's value is longer than {VALUE_LENGTH_MAX} characters.")
    bare, semicolon, rest = value.partition(";")
    found: dict[str, str] = {}
    for name, quoted, plain in _PARAMETER.findall(semicolon + rest):
        if name:
            key, text = _decoded(name.lower(), _ESCAPE.sub(r"\1", quoted) or plain.strip())
            found.setdefault(key, text)
    return bare.strip().lower(), found


def _decoded(name: str, text: str) -> tuple[str, str]:
    if not name.endswith("*"):
        return name, text
    charset, _, encoded = text.partition("''")
    if charset.lower() not in ("utf-8", "iso-8859-1"):
        return name, text
    return name[:-1], unquote(encoded, charset, "replace")
