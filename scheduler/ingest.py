"""Ingest a job: fetch its media, apply its inputs, and store both under their content hashes.

Rendering then reads only from storage.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from farm_core.assets.inspection import kind_at
from farm_core.assets.kinds import ENDINGS, input_fault
from farm_core.jobs.claims import ClaimedJob, FrozenJob
from farm_core.sandbox import Exhausted, Refused
from farm_core.storage.links import PATH_PREFIX
from farm_core.templates.manifest import NO_TARGET, joined
from farm_core.usage.stored import FULL
from motion import template
from motion.template import LABEL_SHOWN_MAX, InputField
from motion.timing import frame_count
from scheduler.dependencies import Dependencies
from scheduler.freezer import Freezer, is_fresh
from scheduler.media import MediaUnavailable, fetched_media
from scheduler.sandboxed_freeze import SOURCES_MAX, TOO_MANY_SOURCES

FETCH_ATTEMPTS: Final = 3
FETCHES_AT_ONCE: Final = 4
BYTES_MAX: Final = 2_000_000_000
"""Maximum size of all media of a job, in bytes."""

INGEST_SECONDS: Final = 300
_NO_GATE: Final = nullcontext()


class IngestFailed(Exception):
    """The job cannot be rendered; the message can be shown to callers."""


@dataclass(slots=True)
class _Budget:
    """Sources, bytes and seconds that remain for a job's media. A gate limits the fetches of each account."""

    seconds: float
    gate: AbstractAsyncContextManager[Any]
    sources: int
    bytes: int

    def take_sources(self, count: int) -> None:
        """Count sources. Raises IngestFailed above SOURCES_MAX."""
        self.sources -= count
        if self.sources < 0:
            raise IngestFailed(TOO_MANY_SOURCES)

    def take_bytes(self, count: int) -> None:
        """Count bytes. Raises IngestFailed above BYTES_MAX."""
        self.bytes -= count
        if self.bytes < 0:
            raise IngestFailed(f"Its media hold more than {BYTES_MAX // 1_000_000} MB; a render can fetch no more.")

    @asynccontextmanager
    async def time(self) -> AsyncIterator[None]:
        """Count the seconds of a block, except the wait at the gate. Raises IngestFailed above INGEST_SECONDS."""
        async with self.gate:
            began = asyncio.get_running_loop().time()
            try:
                async with asyncio.timeout(self.seconds) as deadline:
                    yield
            except TimeoutError:
                if not deadline.expired():
                    raise
                raise IngestFailed(f"Its media took longer than {INGEST_SECONDS} s to arrive.") from None
            self.seconds -= asyncio.get_running_loop().time() - began


@dataclass(frozen=True, slots=True)
class _StoredMedia:
    """Stored media file: storage key, bytes that count towards the account's month, and size in storage."""

    key: str
    counted_bytes: int
    stored_bytes: int


async def ingest(
    dependencies: Dependencies,
    freezer: Freezer,
    job: ClaimedJob,
    gate: AbstractAsyncContextManager[Any] = _NO_GATE,
) -> FrozenJob:
    """Fetch the media behind the `gate`, apply the inputs, and store the results.

    Raises IngestFailed if another attempt would fail too. After any other error, another attempt can succeed.
    """
    _check_room(job)
    fields = [field for field in joined(job.template_inputs, job.template_targets) if field.target != NO_TARGET]
    values = _values_of(job, fields)
    given = {
        field.id: str(values[field.id]) for field in fields if field.kind in template.MEDIA_KINDS and field.id in values
    }
    budget = _Budget(INGEST_SECONDS, gate, SOURCES_MAX, BYTES_MAX)
    shown = {field.id: field.shown_name for field in fields}
    purposes = {source: shown[name] for name, source in given.items()}
    of_inputs = await _fetch_all(dependencies, job, purposes, budget)
    _check_kinds(job, {field: of_inputs[given[field.id]].key for field in fields if field.id in given})
    named = {name: f"/files/{of_inputs[source].key}" for name, source in given.items()}
    try:
        document = await freezer.freeze(job, fields, {**values, **named})
    except (Refused, Exhausted) as error:
        raise IngestFailed(str(error)) from error
    of_document = sorted(document.sources.keys() - set(named.values()))
    fetchable = {source: _layer(document.sources[source]) for source in of_document}
    of_layers = await _fetch_all(dependencies, job, fetchable, budget)
    media = {name: of_inputs[given[field]].key for field, name in named.items()}
    media |= {source: stored.key for source, stored in of_layers.items()}
    fetched = [*of_inputs.values(), *of_layers.values()]
    stored = {document.key: document.bytes} | {one.key: one.stored_bytes for one in fetched}
    return FrozenJob(job, document.key, media, sum(one.counted_bytes for one in fetched), document.notices, stored)


def _values_of(job: ClaimedJob, fields: Sequence[InputField]) -> dict[str, str | float]:
    """Return the job's values for the inputs of the template, with the defaults of missing media inputs."""
    declared = {field.id for field in fields}
    values: dict[str, str | float] = {
        field.id: field.default for field in fields if field.kind in template.MEDIA_KINDS and field.default is not None
    }
    values |= {name: value for name, value in job.inputs.items() if value is not None and name in declared}
    return values


def _layer(name: str) -> str:
    """Return how messages name a layer."""
    return f"layer “{name[:LABEL_SHOWN_MAX]}”" if name.strip() else "a layer without a name"


def _check_kinds(job: ClaimedJob, keys: Mapping[InputField, str]) -> None:
    """Raise IngestFailed if the caller gave an input media of a type that it does not take. `keys`: storage keys of the media.

    Defaults are the template's own media, which can be of any type.
    """
    for field, key in keys.items():
        if job.inputs.get(field.id) is not None and (fault := input_fault(field.kind, key)):
            raise IngestFailed(f"The media of {field.shown_name} cannot be used: it {fault}.")


def _check_room(job: ClaimedJob) -> None:
    """Raise IngestFailed if the account's storage is full."""
    if job.storage_limit is not None and job.stored_bytes >= job.storage_limit:
        raise IngestFailed(FULL)


def check_version(job: ClaimedJob) -> None:
    """Raise IngestFailed if the job's version of the template is gone, and its inputs or length do not fit the newest.
    This happens if a job is created again later.
    """
    if not job.version_is_gone:
        return
    values = {name: _as_address(job, value) for name, value in job.inputs.items()}
    fields = joined(job.template_inputs, job.template_targets)
    faults = [f"input {one.field!r} {one.message}" for one in template.validate(fields, values)]
    if (frames := frame_count(job.duration_seconds, job.fps)) != job.frame_count:
        faults.append(f"it has {frames} frames, not {job.frame_count}")
    if faults:
        raise IngestFailed(f"The template was replaced by a new version: {', '.join(faults[:20])}.")


def _as_address(job: ClaimedJob, value: Any) -> Any:
    """Return the address of an upload that the API stored as a path. Return any other value as it is."""
    return f"{job.origin}{value}" if isinstance(value, str) and value.startswith(PATH_PREFIX) else value


async def _fetch_all(
    dependencies: Dependencies, job: ClaimedJob, sources: Mapping[str, str], budget: _Budget
) -> dict[str, _StoredMedia]:
    """Return the stored media of each source.

    `sources` maps each source to its purpose. Raises IngestFailed above the budget.
    """
    if not sources:
        return {}
    budget.take_sources(len(sources))
    slots = asyncio.Semaphore(FETCHES_AT_ONCE)

    async def one(source: str, purpose: str) -> tuple[str, _StoredMedia]:
        async with slots:
            stored = await _fetch_and_store(dependencies, job, source, purpose)
            budget.take_bytes(stored.counted_bytes)
            return source, stored

    try:
        async with budget.time(), asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(source, purpose)) for source, purpose in sources.items()]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures
    return dict(task.result() for task in tasks)


async def _fetch_and_store(dependencies: Dependencies, job: ClaimedJob, source: str, purpose: str) -> _StoredMedia:
    for attempt in range(1, FETCH_ATTEMPTS + 1):
        try:
            async with fetched_media(dependencies, job, source) as media:
                key, size = await _store_media(dependencies, job, media.path, purpose)
                return _StoredMedia(key, media.counted_bytes, size)
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
    if not is_fresh(dependencies, key):
        dependencies.storage.put_file(key, path)
    return key, path.stat().st_size
