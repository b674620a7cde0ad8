"""Freezes a job: fetches its media, applies its inputs, and stores both under the hashes of their content.

After this, rendering needs nothing but storage.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from farm_core.assets.inspection import kind_at
from farm_core.assets.kinds import ENDINGS
from farm_core.jobs.claims import ClaimedJob, FrozenJob
from farm_core.sandbox import Exhausted, Refused
from farm_core.storage.port import ObjectMissing
from farm_core.templates.manifest import NO_TARGET, joined
from farm_core.usage.stored import FULL
from motion import template
from motion.notices import Notice
from scheduler.dependencies import Dependencies
from scheduler.freezing import frozen
from scheduler.media import MediaUnavailable, fetched_media

FETCH_ATTEMPTS: Final = 3
FETCHES_AT_ONCE: Final = 4
SOURCES_MAX: Final = 200
BYTES_MAX: Final = 2_000_000_000
"""Limit of the bytes of all media of a job."""

INGEST_SECONDS: Final = 300
_MEDIA_KINDS: Final = ("image", "media")


class IngestFailed(Exception):
    """The job cannot be rendered; the message can be shown to callers."""


@dataclass(slots=True)
class _Budget:
    """Sources and bytes that a job can still fetch."""

    sources: int = SOURCES_MAX
    bytes: int = BYTES_MAX

    def take_sources(self, count: int) -> None:
        """Count sources. Raises IngestFailed above SOURCES_MAX."""
        self.sources -= count
        if self.sources < 0:
            raise IngestFailed(f"It shows more than {SOURCES_MAX} different media; a render can fetch no more.")

    def take_bytes(self, count: int) -> None:
        """Count bytes. Raises IngestFailed above BYTES_MAX."""
        self.bytes -= count
        if self.bytes < 0:
            raise IngestFailed(f"Its media hold more than {BYTES_MAX // 1_000_000} MB; a render can fetch no more.")


@dataclass(frozen=True, slots=True)
class _Kept:
    key: str
    counted_bytes: int
    stored_bytes: int


async def ingest(dependencies: Dependencies, job: ClaimedJob) -> FrozenJob:
    """Fetches, applies, stores. Raises IngestFailed; whatever else is raised is worth another attempt."""
    try:
        async with asyncio.timeout(INGEST_SECONDS) as deadline:
            return await _ingested(dependencies, job)
    except TimeoutError:
        if not deadline.expired():
            raise
        raise IngestFailed(f"Its media took longer than {INGEST_SECONDS} s to arrive.") from None


def _check_room(job: ClaimedJob) -> None:
    """Raise IngestFailed where the account's storage is full: media and results would make it fuller."""
    if job.storage_limit is not None and job.stored_bytes >= job.storage_limit:
        raise IngestFailed(FULL)


async def _ingested(dependencies: Dependencies, job: ClaimedJob) -> FrozenJob:
    _check_room(job)
    fields = [field for field in joined(job.template_inputs, job.template_targets) if field.target != NO_TARGET]
    declared = {field.id for field in fields}
    values: dict[str, str | float] = {
        field.id: field.default for field in fields if field.kind in _MEDIA_KINDS and field.default is not None
    }
    values |= {name: value for name, value in job.inputs.items() if value is not None and name in declared}
    given = {field.id: str(values[field.id]) for field in fields if field.kind in _MEDIA_KINDS and field.id in values}
    budget = _Budget()
    kept = await _fetched(dependencies, job, {source: f"input {name!r}" for name, source in given.items()}, budget)
    named = {name: f"/files/{kept[source].key}" for name, source in given.items()}
    with tempfile.TemporaryDirectory(dir=dependencies.scratch) as folder:
        source, target = Path(folder, "document.json"), Path(folder, "frozen.json")
        await asyncio.to_thread(dependencies.storage.get_file, job.template_document_key, source)
        declared_fields = [asdict(field) for field in fields]
        call = (str(source), str(target), declared_fields, {**values, **named}, job.composition_id, job.has_sound)
        try:
            found = await dependencies.sandbox.call(job.account_id, frozen, *call)
        except (Refused, Exhausted) as error:
            raise IngestFailed(str(error)) from error
        rest = set(found["sources"]) - set(named.values())
        fetchable = {source: "a layer" for source in sorted(rest) if template.source_fault(source) is None}
        others = await _fetched(dependencies, job, fetchable, budget)
        key, size = await asyncio.to_thread(_store_document, dependencies, target)
    media = {name: kept[given[field]].key for field, name in named.items()}
    media |= {source: held.key for source, held in others.items()}
    notices = tuple(Notice(**one) for one in found["notices"])
    every = [*kept.values(), *others.values()]
    stored = {key: size} | {held.key: held.stored_bytes for held in every}
    return FrozenJob(job, key, media, sum(held.counted_bytes for held in every), notices, stored)


async def _fetched(
    dependencies: Dependencies, job: ClaimedJob, sources: Mapping[str, str], budget: _Budget
) -> dict[str, _Kept]:
    """Return the stored media of each source.

    `sources` gives each one's purpose. Raises IngestFailed above the budget.
    """
    budget.take_sources(len(sources))
    gate = asyncio.Semaphore(FETCHES_AT_ONCE)

    async def one(source: str, purpose: str) -> tuple[str, _Kept]:
        async with gate:
            kept = await _fetch_and_keep(dependencies, job, source, purpose)
            budget.take_bytes(kept.counted_bytes)
            return source, kept

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
                key, size = await _store_media(dependencies, job, media.path, purpose)
                return _Kept(key, media.counted_bytes, size)
        except MediaUnavailable as error:
            if error.lasting or attempt == FETCH_ATTEMPTS:
                raise IngestFailed(f"The media of {purpose} could not be fetched: {error}") from error
            await asyncio.sleep(0.5 * attempt)
    raise AssertionError("the last attempt returns or raises")


async def _store_media(dependencies: Dependencies, job: ClaimedJob, path: Path, purpose: str) -> tuple[str, int]:
    try:
        kind = await dependencies.sandbox.call(job.account_id, kind_at, str(path), None)
    except (Refused, Exhausted) as fault:
        raise IngestFailed(f"The media of {purpose} cannot be used. {fault}") from fault
    return await asyncio.to_thread(_put_media, dependencies, path, ENDINGS[kind])


def _put_media(dependencies: Dependencies, path: Path, ending: str) -> tuple[str, int]:
    with path.open("rb") as file:
        key = f"media/{hashlib.file_digest(file, 'sha256').hexdigest()}.{ending}"
    if not _is_fresh(dependencies, key):
        dependencies.storage.put_file(key, path)
    return key, path.stat().st_size


def _store_document(dependencies: Dependencies, path: Path) -> tuple[str, int]:
    with path.open("rb") as file:
        key = f"frozen/{hashlib.file_digest(file, 'sha256').hexdigest()}.json"
    if not _is_fresh(dependencies, key):
        dependencies.storage.put_file(key, path, "application/json")
    return key, path.stat().st_size


def _is_fresh(dependencies: Dependencies, key: str) -> bool:
    """Return True if the object exists and will until its job is frozen.

    An old object that no job names yet can be deleted at any moment.
    """
    try:
        age = dependencies.clock.now() - dependencies.storage.describe(key).modified_at
    except ObjectMissing:
        return False
    return age < timedelta(days=dependencies.settings.result_days / 2)
