"""Applies the inputs of jobs to the documents of their templates, and stores the results under the hashes of their content."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from farm_core.jobs.claims import ClaimedJob
from farm_core.sandbox import Refused
from farm_core.storage.port import ObjectMissing
from motion.notices import Notice
from motion.template import InputField
from scheduler.batch import Batch
from scheduler.dependencies import Dependencies
from scheduler.freezing import Freezing, frozen
from scheduler.threads import in_threads

CALL_JOBS_MAX: Final = 32
CALL_BYTES: Final = 1_000_000
"""Documents that one call of the sandbox writes: it has the processor time of ten seconds, and a call that exceeds a limit is made
again for each job."""


@dataclass(frozen=True, slots=True)
class FrozenDocument:
    """A stored document with inputs applied: its key, its bytes, the `sources` that it names, and what its video leaves out."""

    key: str
    bytes: int
    sources: frozenset[str]
    notices: tuple[Notice, ...]


@dataclass(slots=True, eq=False)
class _Wish:
    """A job that waits for its document, and then that document or the reason why there is none."""

    job: ClaimedJob
    fields: Sequence[InputField]
    values: dict[str, str | float]
    outcome: FrozenDocument | str = ""


class Freezer:
    """Freezes documents. Jobs of an account and a template that wait at the same time share a call of the sandbox."""

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies = dependencies
        self._batches: dict[tuple[str, str], Batch[_Wish]] = {}

    async def freeze(
        self, job: ClaimedJob, fields: Sequence[InputField], values: dict[str, str | float]
    ) -> FrozenDocument:
        """Return the job's document. Raises Refused, Exhausted, StorageUnavailable."""
        wish, place = _Wish(job, fields, values), (job.account_id, job.template_document_key)
        batch = self._batches.setdefault(place, Batch(partial(self._write, *place)))
        try:
            await batch.add(wish)
        finally:
            if batch.idle and self._batches.get(place) is batch:
                del self._batches[place]
        if isinstance(wish.outcome, str):
            raise Refused(wish.outcome)
        return wish.outcome

    async def drained(self) -> None:
        """Wait until everything that was begun has ended."""
        await asyncio.gather(*(batch.drained() for batch in self._batches.values()))

    async def _write(self, account_id: str, template_document_key: str, wishes: Sequence[_Wish]) -> None:
        with tempfile.TemporaryDirectory(dir=self.dependencies.scratch) as folder:
            source = Path(folder, "document.json")
            size = await asyncio.to_thread(self._got, template_document_key, source)
            at_once = max(1, min(CALL_JOBS_MAX, CALL_BYTES // max(1, size)))
            parts = [wishes[first : first + at_once] for first in range(0, len(wishes), at_once)]
            for part in parts:
                await self._call(account_id, source, part)

    def _got(self, key: str, path: Path) -> int:
        """Write an object to a file; return its bytes."""
        self.dependencies.storage.get_file(key, path)
        return path.stat().st_size

    async def _call(self, account_id: str, source: Path, wishes: Sequence[_Wish]) -> None:
        """Freeze the documents of some jobs by one call of the sandbox."""
        target, asked = source.with_name("frozen.json"), [_freezing(wish) for wish in wishes]
        answers: list[dict[str, Any]] = await self.dependencies.sandbox.call(
            account_id, frozen, str(source), str(target), asked
        )
        documents = await asyncio.to_thread(_cut, target, [answer.get("bytes", 0) for answer in answers])
        keys = await in_threads(self._stored, documents)
        for wish, answer, key, document in zip(wishes, answers, keys, documents, strict=True):
            wish.outcome = answer["refused"] if "refused" in answer else _document(answer, key, len(document))

    def _stored(self, document: bytes) -> str:
        """Store a document; return its key. A job without one has no bytes."""
        key = f"frozen/{hashlib.sha256(document).hexdigest()}.json"
        if document and not is_fresh(self.dependencies, key):
            self.dependencies.storage.put_bytes(key, document, "application/json")
        return key


def _cut(path: Path, sizes: Sequence[int]) -> list[bytes]:
    """Return the documents that a file holds one after the other."""
    with path.open("rb") as file:
        return [file.read(size) for size in sizes]


def _freezing(wish: _Wish) -> Freezing:
    return Freezing(
        fields=[asdict(field) for field in wish.fields], values=wish.values,
        composition_id=wish.job.composition_id, has_sound=wish.job.has_sound,
    )  # fmt: skip


def _document(answer: dict[str, Any], key: str, size: int) -> FrozenDocument:
    notices = tuple(Notice(**one) for one in answer["notices"])
    return FrozenDocument(key, size, frozenset(answer["sources"]), notices)


def is_fresh(dependencies: Dependencies, key: str) -> bool:
    """Return True if the object exists and will until its job is frozen.

    An old object that no job names yet can be deleted at any moment.
    """
    try:
        age = dependencies.clock.now() - dependencies.storage.describe(key).modified_at
    except ObjectMissing:
        return False
    return age < timedelta(days=dependencies.settings.result_days / 2)
