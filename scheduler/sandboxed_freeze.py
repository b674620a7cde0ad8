"""Apply the inputs of jobs to a template's document. Runs in the sandbox; arguments and results are JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Final, NotRequired, TypedDict, cast

import orjson

from motion import template
from motion.errors import DocumentError
from motion.notices import of_document, of_sources
from motion.stored import Document
from motion.template import InputField, Target

SOURCES_MAX: Final = 200
TOO_MANY_SOURCES: Final = f"It shows more than {SOURCES_MAX} different media; a render can fetch no more."


class FreezeRequest(TypedDict):
    """Inputs of a job, and the parts of the document that its video needs."""

    fields: Sequence[dict[str, Any]]
    values: dict[str, str | float]
    composition_id: str | None
    has_sound: bool


class FreezeResult(TypedDict):
    """Frozen document of a job: size, sources to fetch with names of their layers, notices; or the reason why it is `refused`."""

    refused: NotRequired[str]
    bytes: NotRequired[int]
    sources: NotRequired[dict[str, str]]
    notices: NotRequired[list[dict[str, Any]]]


def freeze(source: str, target: str, requests: Sequence[FreezeRequest]) -> list[FreezeResult]:
    """Apply the inputs of each request to the document in `source`. Append the documents to the file `target`, in
    order."""
    document = cast(Document, orjson.loads(Path(source).read_bytes()))
    with Path(target).open("wb") as file:
        return [_write(document, request, file) for request in requests]


def _write(document: Document, request: FreezeRequest, file: BinaryIO) -> FreezeResult:
    """Write canonical JSON, so that equal documents have equal bytes."""
    fields = [InputField(**{**field, "target": Target(**field["target"])}) for field in request["fields"]]
    try:
        applied = template.apply(document, fields, request["values"])
        named = template.media_sources(applied, request["composition_id"], with_sound=request["has_sound"])
        sources = {source: name for source, name in named.items() if template.source_fault(source) is None}
        if len(sources) > SOURCES_MAX + len(request["values"]):  # the scheduler counts those that are not inputs
            return {"refused": TOO_MANY_SOURCES}
        notices = () if request["has_sound"] else of_document(applied)
        if any(field.kind in template.MEDIA_KINDS and field.id not in request["values"] for field in fields):
            notices += of_sources(applied, request["composition_id"])
    except DocumentError as refusal:
        return {"refused": refusal.message}
    size = file.write(orjson.dumps(cast(dict[str, Any], applied), option=orjson.OPT_SORT_KEYS))
    return {"bytes": size, "sources": sources, "notices": [asdict(notice) for notice in notices]}
