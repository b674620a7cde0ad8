"""The document of a job with its inputs applied. Runs in the sandbox: JSON in, JSON out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import orjson

from motion import template
from motion.notices import of_document
from motion.schema.stored import Document
from motion.template import InputField, Target


def frozen(
    source: str,
    target: str,
    stored: list[dict[str, Any]],
    values: dict[str, str | float],
    composition_id: str | None,
    has_sound: bool = False,
) -> dict[str, Any]:
    """Write the document with its inputs applied; return the `sources` that its rendering asks for and its `notices`.

    The file holds canonical JSON, so that equal documents have equal bytes. Raises DocumentError.
    """
    document = cast(Document, orjson.loads(Path(source).read_bytes()))
    fields = [InputField(**{**field, "target": Target(**field["target"])}) for field in stored]
    document = template.apply(document, fields, values)
    sources = template.media_sources(document, composition_id, with_sound=has_sound)
    Path(target).write_bytes(orjson.dumps(cast(dict[str, Any], document), option=orjson.OPT_SORT_KEYS))
    notices = () if has_sound else of_document(document)
    return {"sources": sorted(sources), "notices": [asdict(notice) for notice in notices]}
