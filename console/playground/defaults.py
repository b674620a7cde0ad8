"""Default values of a template's inputs, from its document. Runs in the sandbox with JSON arguments and results."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from motion import template as templates


def shown_fields(source: str, composition_id: str | None) -> list[dict[str, Any]]:
    """Return the fields of the JSON document `source`: target, and default if it is a number or a non-empty text.

    Raises DocumentError.
    """
    document = orjson.loads(Path(source).read_bytes())
    fields = [
        *templates.authored_fields(document, composition_id),
        *templates.discover(document, composition_id, include_text=True).fields,
    ]
    return [
        {"target": asdict(field.target), "default": field.default}
        for field in fields
        if isinstance(field.default, str | int | float) and field.default != ""
    ]
