"""Documents of jobs with their inputs applied. Runs in the sandbox: JSON in, JSON out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, TypedDict, cast

import orjson

from motion import template
from motion.errors import DocumentError
from motion.notices import of_document
from motion.schema.stored import Document
from motion.template import InputField, Target


class Freezing(TypedDict):
    """A job's wish for its document."""

    fields: Sequence[dict[str, Any]]
    values: dict[str, str | float]
    composition_id: str | None
    has_sound: bool


def frozen(source: str, target: str, wishes: Sequence[Freezing]) -> list[dict[str, Any]]:
    """Write the source's document once for each job, with its inputs applied, one after the other to the file `target`.

    Return for each job the `bytes` of its document, the `sources` that its rendering asks for, and its `notices`, or why it is
    `refused`.
    """
    document = cast(Document, orjson.loads(Path(source).read_bytes()))
    with Path(target).open("wb") as file:
        return [_frozen(document, wish, file) for wish in wishes]


def _frozen(document: Document, wish: Freezing, file: BinaryIO) -> dict[str, Any]:
    """Write canonical JSON, so that equal documents have equal bytes."""
    fields = [InputField(**{**field, "target": Target(**field["target"])}) for field in wish["fields"]]
    try:
        applied = template.apply(document, fields, wish["values"])
        sources = template.media_sources(applied, wish["composition_id"], with_sound=wish["has_sound"])
        notices = () if wish["has_sound"] else of_document(applied)
    except DocumentError as refusal:
        return {"refused": refusal.message}
    size = file.write(orjson.dumps(cast(dict[str, Any], applied), option=orjson.OPT_SORT_KEYS))
    return {"bytes": size, "sources": sorted(sources), "notices": [asdict(notice) for notice in notices]}
