"""Freezes a job: fetches its media, applies its inputs, and stores both under the hashes of their content.

After this, rendering needs nothing but storage.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, cast

import orjson

from farm_core.assets.inspection import kind_of
from farm_core.assets.kinds import ENDINGS
from farm_core.errors import BadRequest
from farm_core.jobs.claims import ClaimedJob, FrozenJob
from farm_core.storage.port import ObjectMissing
from farm_core.templates.manifest import NO_TARGET, joined
from motion import template
from motion.errors import DocumentError
from motion.notices import of_document
from motion.schema.stored import Document
from scheduler.dependencies import Dependencies
from scheduler.media import MediaUnavailable, fetched_media

FETCH_ATTEMPTS: Final = 3
FETCHES_AT_ONCE: Final = 4
_MEDIA_KINDS: Final = ("image", "media")


class IngestFailed(Exception):
    """The job cannot be rendered; the message is fit for callers."""


@dataclass(frozen=True, slots=True)
class _Kept:
    key: str
    counted_bytes: int


async def ingest(dependencies: Dependencies, job: ClaimedJob) -> FrozenJob:
    """Fetches, applies, stores. Raises IngestFailed; whatever else is raised is worth another attempt."""
    stored = await asyncio.to_thread(dependencies.storage.get_bytes, job.template_document_key)
    document = cast(Document, orjson.loads(stored))
    fields = [field for field in joined(job.template_inputs, job.template_targets) if field.target != NO_TARGET]
    declared = {field.id for field in fields}
    values: dict[str, str | float] = {
        field.id: field.default for field in fields if field.kind in _MEDIA_KINDS and field.default is not None
    }
    values |= {name: value for name, value in job.inputs.items() if value is not None and name in declared}
    given = {field.id: str(values[field.id]) for field in fields if field.kind in _MEDIA_KINDS and field.id in values}
    kept = await _fetched(dependencies, job, {source: f"input {name!r}" for name, source in given.items()})
    named = {name: f"/files/{kept[source].key}" for name, source in given.items()}
    try:
        document = template.apply(document, fields, {**values, **named})
        rest = template.media_sources(document, job.composition_id) - set(named.values())
    except DocumentError as error:
        raise IngestFailed(error.message) from error
    fetchable = {source: "a layer" for source in sorted(rest) if template.source_fault(source) is None}
    others = await _fetched(dependencies, job, fetchable)
    media = {name: kept[given[field]].key for field, name in named.items()}
    media |= {source: held.key for source, held in others.items()}
    key = await asyncio.to_thread(_store_document, dependencies, document)
    return FrozenJob(
        job, key, media, sum(held.counted_bytes for held in (*kept.values(), *others.values())), of_document(document)
    )


async def _fetched(dependencies: Dependencies, job: ClaimedJob, sources: Mapping[str, str]) -> dict[str, _Kept]:
    """The stored media of each source; `sources` says of each what it is for."""
    gate = asyncio.Semaphore(FETCHES_AT_ONCE)

    async def one(source: str, purpose: str) -> tuple[str, _Kept]:
        async with gate:
            return source, await _fetch_and_keep(dependencies, job, source, purpose)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(source, purpose)) for source, purpose in sources.items()]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures
    return dict(task.result() for task in tasks)


async def _fetch_and_keep(dependencies: Dependencies, job: ClaimedJob, source: str, purpose: str) -> _Kept:
    for attempt in range(1, FETCH_ATTEMPTS + 1):
        try:
            async with fetched_media(dependencies, job, source) as media:
                key = await asyncio.to_thread(_store_media, dependencies, media.path, purpose)
                return _Kept(key, media.counted_bytes)
        except MediaUnavailable as error:
            if error.lasting or attempt == FETCH_ATTEMPTS:
                raise IngestFailed(f"The media of {purpose} could not be fetched: {error}") from error
            await asyncio.sleep(0.5 * attempt)
    raise AssertionError("the last attempt returns or raises")


def _store_media(dependencies: Dependencies, path: Path, purpose: str) -> str:
    try:
        ending = ENDINGS[kind_of(path, None)]
    except BadRequest as fault:
        raise IngestFailed(f"The media of {purpose} cannot be used. {fault}") from fault
    with path.open("rb") as file:
        key = f"media/{hashlib.file_digest(file, 'sha256').hexdigest()}.{ending}"
    if not _is_fresh(dependencies, key):
        dependencies.storage.put_file(key, path)
    return key


def _store_document(dependencies: Dependencies, document: Document) -> str:
    """Canonical JSON, so that equal documents have equal keys."""
    data: bytes = orjson.dumps(cast(dict[str, Any], document), option=orjson.OPT_SORT_KEYS)
    key = f"frozen/{hashlib.sha256(data).hexdigest()}.json"
    if not _is_fresh(dependencies, key):
        dependencies.storage.put_bytes(key, data, "application/json")
    return key


def _is_fresh(dependencies: Dependencies, key: str) -> bool:
    """Whether the object is there and will be until its job is frozen: an old one that no job names yet may go any moment."""
    try:
        age = dependencies.clock.now() - dependencies.storage.describe(key).modified_at
    except ObjectMissing:
        return False
    return age < timedelta(days=dependencies.settings.result_days / 2)
