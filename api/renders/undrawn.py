"""Notices of a document that are known without drawing. Runs in the sandbox: JSON in, JSON out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

import orjson

from api.templates.drafts import fields_from
from motion.errors import DocumentError
from motion.notices import of_document, of_lines, of_sources


class Drawable(TypedDict):
    """Notices of a document, or the reason why it cannot be drawn."""

    refused: str | None
    notices: list[dict[str, Any]]


def undrawn(source: str, composition_id: str | None, given: list[dict[str, Any]]) -> Drawable:
    """Return the notices of the document, which `source` holds as JSON, with values for the inputs that are `given`."""
    from motion.build import build  # noqa: PLC0415 - brings NumPy, and the API only names this function

    document = orjson.loads(Path(source).read_bytes())
    try:
        lines, refused = build(document, composition_id).warnings, None
    except DocumentError as error:
        lines, refused = (), error.message
    notices = (*of_document(document), *of_sources(document, composition_id, fields_from(given)), *of_lines(lines))
    return {"refused": refused, "notices": [asdict(one) for one in notices]}
