"""Freeze the documents of jobs: apply the inputs to the template's document, and store the result under its content
hash."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Final

from farm_core.ids import new_id
from farm_core.jobs.claims import ClaimedJob
from farm_core.sandbox import Refused
from farm_core.storage.port import ObjectMissing
from farm_core.threads import in_threads
from motion.notices import Notice
from motion.template import InputField
from scheduler.dependencies import Dependencies
from scheduler.group_commit import GroupCommit
from scheduler.sandboxed_freeze import FreezeRequest, FreezeResult, freeze

CALL_JOBS_MAX: Final = 32
CALL_BYTES: Final = 1_000_000
"""Limit of the documents that one sandbox call writes, in bytes. A call has ten seconds of processor time; if it
exceeds a limit, each job gets its own call."""


@dataclass(frozen=True, slots=True)
class FrozenDocument:
    """Stored document with inputs applied: key, size, `sources` that it names, each with the name of its first layer,
    and notices of what its video leaves out."""

    key: str
    bytes: int
    sources: Mapping[str, str]
    notices: tuple[Notice, ...]


@dataclass(slots=True, eq=False)
class _WaitingJob:
    """Job that waits for its document. `outcome` is the document, or the reason why it was refused."""

    job: ClaimedJob
    fields: Sequence[InputField]
    values: dict[str, str | float]
    outcome: FrozenDocument | str = ""


class Freezer:
    """Freeze documents. Waiting jobs with the same account and template share one call of the sandbox."""

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies = dependencies
        self._groups: dict[tuple[str, str], GroupCommit[_WaitingJob]] = {}

    async def freeze(
        self, job: ClaimedJob, fields: Sequence[InputField], values: dict[str, str | float]
    ) -> FrozenDocument:
        """Return the job's frozen document. Raises Refused, Exhausted, StorageUnavailable."""
        waiting, key = _WaitingJob(job, fields, values), (job.account_id, job.template_document_key)
        group = self._groups.setdefault(key, GroupCommit(partial(self._freeze_all, *key)))
        try:
            await group.add(waiting)
        finally:
            if group.idle and self._groups.get(key) is group:
                del self._groups[key]
        if isinstance(waiting.outcome, str):
            raise Refused(waiting.outcome)
        return waiting.outcome

    async def drain(self) -> None:
        """Wait until every waiting job has its document or a refusal."""
        await asyncio.gather(*(group.drain() for group in self._groups.values()))

    async def _freeze_all(self, account_id: str, template_document_key: str, jobs: Sequence[_WaitingJob]) -> None:
        source = self.dependencies.scratch / f"{new_id('template')}.json"
        target = source.with_suffix(".frozen")
        try:
            size = await asyncio.to_thread(self._download, template_document_key, source)
            at_once = max(1, min(CALL_JOBS_MAX, CALL_BYTES // max(1, size)))
            for first in range(0, len(jobs), at_once):
                await self._freeze_together(account_id, source, target, jobs[first : first + at_once])
        finally:
            for path in (source, target):
                path.unlink(missing_ok=True)

    def _download(self, key: str, path: Path) -> int:
        """Write an object to a file; return its size."""
        return path.write_bytes(self.dependencies.storage.get_bytes(key))

    async def _freeze_together(self, account_id: str, source: Path, target: Path, jobs: Sequence[_WaitingJob]) -> None:
        """Freeze the documents of several jobs with one call of the sandbox, which writes them to `target` in order."""
        requests = [_request(job) for job in jobs]
        results = await self.dependencies.sandbox.call(account_id, freeze, str(source), str(target), requests)
        sizes = [result.get("bytes", 0) for result in results]
        places = list(zip(accumulate(sizes, initial=0), sizes, strict=False))
        keys = await in_threads(partial(self._store, target), places)
        for job, result, key, size in zip(jobs, results, keys, sizes, strict=True):
            job.outcome = result["refused"] if "refused" in result else _document(result, key, size)

    def _store(self, path: Path, place: tuple[int, int]) -> str:
        """Store the document at a place of a file (offset and size); return its key. Refused jobs have no document."""
        offset, size = place
        with path.open("rb") as file:
            file.seek(offset)
            document = file.read(size)
        key = f"frozen/{hashlib.sha256(document).hexdigest()}.json"
        if document and not is_fresh(self.dependencies, key):
            self.dependencies.storage.put_bytes(key, document, "application/json")
        return key


def _request(waiting: _WaitingJob) -> FreezeRequest:
    return FreezeRequest(
        fields=[asdict(field) for field in waiting.fields], values=waiting.values,
        composition_id=waiting.job.composition_id, has_sound=waiting.job.has_sound,
    )  # fmt: skip


def _document(result: FreezeResult, key: str, size: int) -> FrozenDocument:
    notices = tuple(Notice(**one) for one in result["notices"])
    return FrozenDocument(key, size, result["sources"], notices)


def is_fresh(dependencies: Dependencies, key: str) -> bool:
    """Return True if the object exists and stays long enough for its job to be frozen.

    An old object without a job that refers to it can be deleted at any time.
    """
    try:
        age = dependencies.clock.now() - dependencies.storage.describe(key).modified_at
    except ObjectMissing:
        return False
    return age < timedelta(days=dependencies.settings.result_days / 2)
