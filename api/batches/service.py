"""Creating, showing and cancelling batches."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from api.app_state import AppState
from api.auth import Caller
from api.batches.schemas import BatchCancelled, BatchItem, BatchRecord, BatchRequest, BatchRow, BatchTotals
from api.dependencies import LIMIT_DEFAULT, Page
from api.ids import checked_id, found
from api.renders import rules
from api.renders import service as renders
from api.renders.media import Uploads, uploads_of, with_upload_paths
from api.renders.output import output_of
from api.shapes import Faults
from farm_core.accounts import repository as accounts
from farm_core.batches import repository
from farm_core.batches.models import Batch
from farm_core.errors import IdempotencyConflict, InvalidInputs, UpgradeRequired
from farm_core.ids import new_id
from farm_core.jobs.repository import NewJob, ShownJob
from farm_core.templates.models import Template
from farm_core.usage.stored import FREE_BYTES, json_bytes

FAULTS_MAX: Final = 5_000
"""Most faults that an answer names."""

_FIRST_PAGE = Page(LIMIT_DEFAULT, 0)
Refusals = list[dict[str, Any]]
"""Index, faults and metadata of each refused row, in the form of `Batch.refused`."""


@dataclass(frozen=True, slots=True)
class _Requested:
    """A request with the template and the uploads that its rows refer to."""

    batch: BatchRequest
    template: Template | None
    uploads: Uploads


async def create(
    state: AppState, caller: Caller, wanted: BatchRequest, idempotency_key: str | None, origin: str,
    known: Mapping[int, Faults] = MappingProxyType({}),
) -> BatchRecord:  # fmt: skip
    """Queue a render for each row, or return the batch that an equal request with the same key made before.

    `known` maps indexes of rows to faults that the caller has found: these rows are refused.

    Raises NotFound, InvalidInputs with every fault of every row, RateLimited, QuotaExceeded, UpgradeRequired.
    """
    if not caller.limits.api_enabled:
        raise UpgradeRequired
    request_hash = renders.request_hash(wanted)
    malformed = rules.key_faults(idempotency_key)
    async with state.database.reading() as reading:
        repeated = await _repeat(reading, caller, None if malformed else idempotency_key, request_hash)
        if repeated is not None:
            return await _record(state, repeated, _FIRST_PAGE, origin)
        template = await renders.requested_template(reading, caller, wanted.template_id)
        inputs = [row.inputs for row in wanted.rows]
        uploads = await uploads_of(state, reading, caller.account.id, origin, inputs)
    limit = state.settings.batches_per_minute  # refused batches count too: their rows are checked
    await state.rates.require(
        f"batches:{caller.account.id}", limit, f"At most {limit} batches a minute may be created."
    )
    requested = _Requested(wanted, template, uploads)
    refused = await _refusals(state, caller, requested, malformed, known)
    template = found(template, "template")
    now = state.clock.now()
    batch = Batch(
        id=new_id("batch"), account_id=caller.account.id, template_id=template.id, idempotency_key=idempotency_key,
        request_hash=request_hash, row_count=len(wanted.rows), refused=refused, created_at=now,
    )  # fmt: skip
    shared = renders.shared_fields(state, caller, template, wanted, origin)
    jobs = await _jobs(state, template, requested, batch, shared)
    stored = await state.database.transaction(lambda session: _store(session, state, caller, batch, jobs))
    return await _record(state, stored, _FIRST_PAGE, origin)


async def get(state: AppState, caller: Caller, batch_id: str, page: Page, origin: str) -> BatchRecord:
    """Return a batch of the account with a page of its rows. Raises NotFound."""
    async with state.database.reading() as reading:
        batch = await repository.owned(reading, caller.account.id, checked_id(batch_id, "batch"))
    return await _record(state, found(batch, "batch"), page, origin)


async def cancel(state: AppState, caller: Caller, batch_id: str) -> BatchCancelled:
    """Cancel the renders that have not ended. Raises NotFound."""
    wanted = checked_id(batch_id, "batch")

    async def cancel_open_jobs(session: AsyncSession) -> int:
        batch = found(await repository.owned(session, caller.account.id, wanted), "batch")
        return await repository.cancel(session, batch.id)

    return BatchCancelled(batch_id=wanted, cancelled=await state.database.transaction(cancel_open_jobs))


async def _repeat(session: AsyncSession, caller: Caller, key: str | None, request_hash: str) -> Batch | None:
    earlier = None if key is None else await repository.with_key(session, caller.account.id, key)
    if earlier is not None and earlier.request_hash != request_hash:
        raise IdempotencyConflict
    return earlier


async def _refusals(
    state: AppState, caller: Caller, requested: _Requested, malformed: Faults, known: Mapping[int, Faults]
) -> Refusals:
    """Return the rows with faults. `malformed` are faults of the whole request, `known` those of rows by index.

    Raises InvalidInputs unless the request allows a part of the rows, and some have no faults. Above FAULTS_MAX faults
    the other rows are not checked and the whole batch is refused: millions of faults would delay all other callers.
    """
    wanted, template = requested.batch, requested.template
    shared = [
        *malformed,
        *output_of(state, template, wanted.output)[1],
        *await rules.callback_faults(state, caller.account.id, wanted.callback_url),
        *rules.priority_faults(wanted.priority, caller.account.job_priority),
    ]
    inputs = [row.inputs for row in wanted.rows]
    by_row = rules.input_faults(state, caller.account.id, template, inputs, requested.uploads)
    refused: Refusals = []
    hints = rules.hints_of_fields(BatchRow)
    number, index = len(shared), -1
    async for faults in by_row:
        index += 1
        row = wanted.rows[index]
        if index % rules.ROWS_AT_ONCE == 0:
            await asyncio.sleep(0)
        metadata_faults = rules.metadata_faults(row.metadata)
        if all_faults := [*known.get(index, ()), *faults, *metadata_faults, *rules.unknown_fields(row, hints)]:
            errors = [{"field": field, "message": message} for field, message in all_faults]
            refused.append({"index": index, "errors": errors, "metadata": None if metadata_faults else row.metadata})
            number += len(errors)
        if number > FAULTS_MAX:
            crowd = f"have more than {FAULTS_MAX} faults; rows after {index} were not checked"
            raise InvalidInputs([*shared, *_named(refused)[:FAULTS_MAX], ("rows", crowd)])
    if shared or (refused and (not wanted.partial or len(refused) == len(wanted.rows))):
        raise InvalidInputs([*shared, *_named(refused)])
    return refused


def _named(refused: Refusals) -> list[tuple[str, str]]:
    return [(f"rows.{one['index']}.{fault['field']}", fault["message"]) for one in refused for fault in one["errors"]]


async def _jobs(
    state: AppState, template: Template, requested: _Requested, batch: Batch, shared: NewJob
) -> list[NewJob]:
    """Return a job for each accepted row, as plain rows: a thousand ORM records take most of a second.

    `shared` are the fields that all jobs of the batch have.
    """
    refused = {one["index"] for one in batch.refused}
    jobs: list[NewJob] = []
    for index, row in enumerate(requested.batch.rows):
        if index % rules.ROWS_AT_ONCE == 0:
            await asyncio.sleep(0)
        if index in refused:
            continue
        own = {
            "id": new_id("job"), "inputs": with_upload_paths(template, row.inputs, requested.uploads), "meta": row.metadata,
            "created_at": state.clock.now(), "batch_id": batch.id, "batch_index": index,
        }  # fmt: skip
        jobs.append({**shared, **own})
    return jobs


async def _store(session: AsyncSession, state: AppState, caller: Caller, batch: Batch, jobs: Sequence[NewJob]) -> Batch:
    """Store the batch under the account's lock if the minutes of all its renders fit."""
    account = await accounts.locked_account(session, caller.account.id)
    repeated = await _repeat(session, caller, batch.idempotency_key, batch.request_hash)
    if repeated is not None:
        return repeated
    sizes = [json_bytes(job["inputs"], job["meta"]) for job in jobs]
    counted = sum(size for size in [*sizes, json_bytes(batch.refused)] if size > FREE_BYTES)
    await renders.respect_quota(session, state, account, sum(job["reserved_ms"] for job in jobs), counted)
    fresh = Batch(**batch.model_dump())  # a repeated transaction adds it again
    await repository.create(session, fresh, jobs)
    return batch


async def _record(state: AppState, batch: Batch, page: Page, origin: str) -> BatchRecord:
    async with state.database.snapshot() as reading:  # the totals must count what the items show
        totals = await repository.totals(reading, batch.id)
        jobs = await repository.jobs(reading, batch.id, page.limit, page.offset)
    percents = await state.progress.percents([*jobs, *totals.running])
    items = [_item(state, job, percents, origin) for job in jobs]
    queued = batch.row_count - len(batch.refused)
    first = max(0, page.offset - queued)
    last = max(0, page.offset + page.limit - queued)
    items += [
        BatchItem(index=one["index"], status="refused", errors=one["errors"], metadata=one.get("metadata"))
        for one in batch.refused[first:last]
    ]
    open_jobs = totals.counts["queued"] + totals.counts["processing"]
    return BatchRecord(
        batch_id=batch.id, template_id=batch.template_id, status="running" if open_jobs else "ended",
        progress=round(totals.progress(percents), 1), totals=BatchTotals(**totals.counts, refused=len(batch.refused)),
        created_at=batch.created_at, items=items, total=batch.row_count, limit=page.limit, offset=page.offset,
    )  # fmt: skip


def _item(state: AppState, job: ShownJob, percents: Mapping[str, float], origin: str) -> BatchItem:
    shown = renders.record(state, job, percents, origin)
    return BatchItem(
        index=job.batch_index or 0, status=shown.status, job_id=shown.job_id, progress=shown.progress,
        video_url=shown.video_url, error=shown.error, warnings=shown.warnings, metadata=shown.metadata,
    )  # fmt: skip
