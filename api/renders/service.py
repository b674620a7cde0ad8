"""Creating, showing, cancelling and downloading renders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

import orjson
from sqlalchemy import Select, bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from api.app_state import AppState
from api.auth import Caller
from api.dependencies import Page
from api.ids import checked_id, found, is_id
from api.renders.media import uploads_of, with_upload_paths
from api.renders.output import output_of
from api.renders.rules import faults_of, key_faults
from api.renders.schemas import JobRecord, JobWarning, RenderRequest
from api.shapes import Listed, Shape
from farm_core.accounts import repository as accounts
from farm_core.accounts.models import Account
from farm_core.accounts.plans import limits_of
from farm_core.errors import (
    Conflict,
    IdempotencyConflict,
    InvalidInputs,
    QuotaExceeded,
    UpgradeRequired,
)
from farm_core.formats import OUTPUT_FORMATS, file_name
from farm_core.ids import new_id
from farm_core.jobs import repository
from farm_core.jobs.links import link_expiry, video_url
from farm_core.jobs.models import Job
from farm_core.jobs.repository import ShownJob
from farm_core.jobs.status import JobStatus
from farm_core.progress.changes import changed
from farm_core.telemetry import traces
from farm_core.templates import repository as templates
from farm_core.templates.models import Template
from farm_core.usage import repository as usage
from farm_core.usage.period import MS_PER_MINUTE, RESET_NOTE
from farm_core.usage.stored import FREE_BYTES, check_storage_quota, json_bytes
from motion.timing import frame_count

_SHOWN: Final = select(*repository.SHOWN).where(
    col(Job.id) == bindparam("job_id"), col(Job.account_id) == bindparam("account_id")
)

_NEWEST: Final = (col(Job.created_at).desc(), col(Job.id).desc())


class SharedRequest(Protocol):
    """Fields of a request that all its renders have."""

    output: Any
    callback_url: Any
    priority: Any


async def create(
    state: AppState,
    caller: Caller,
    wanted: RenderRequest,
    idempotency_key: str | None,
    origin: str,
) -> Job:
    """Create a queued job, or return the one that an equal request with the same key created before.

    Check in order: the plan, a repeated request, all faults of the request, the template, the rate, then under the
    account's lock the plan and quota again.
    """
    if not caller.limits.api_enabled:
        raise UpgradeRequired
    asked_hash = request_hash(wanted)
    malformed = key_faults(idempotency_key)
    # The connection is returned before host names are resolved: a slow name server must not hold it.
    async with state.database.reading() as reading:
        repeated = await _repeat(reading, caller, None if malformed else idempotency_key, asked_hash)
        if repeated is not None:
            return repeated
        template = await requested_template(reading, caller, wanted.template_id)
        uploads = await uploads_of(state, reading, caller.account.id, origin, [wanted.inputs])
    faults = [*malformed, *await faults_of(state, caller.account, template, wanted, uploads)]
    if faults:
        raise InvalidInputs(faults)
    template = found(template, "template")
    limit = state.settings.automation_renders_per_minute
    await state.rates.require(
        f"renders:{caller.account.id}", limit, f"At most {limit} renders a minute may be created."
    )
    job = job_of(state, caller, template, wanted, with_upload_paths(template, wanted.inputs, uploads), origin)
    job.idempotency_key, job.request_hash = idempotency_key, asked_hash
    return await state.database.transaction(lambda session: _reserve(session, state, caller, job))


async def owned(session: AsyncSession, caller: Caller, job_id: str) -> Job:
    """Return the account's job. Raises NotFound."""
    statement = _of_account(caller).where(col(Job.id) == checked_id(job_id, "render"))
    return found(await session.scalar(statement), "render")


async def shown(state: AppState, caller: Caller, job_id: str, origin: str) -> JobRecord:
    """Return the public record of the account's job by one statement, because clients poll it. Raises NotFound."""
    values = {"job_id": checked_id(job_id, "render"), "account_id": caller.account.id}
    row = (await state.database.single(lambda connection: connection.execute(_SHOWN, values))).first()
    job = cast(ShownJob, found(row, "render"))
    return record(state, job, await state.progress.percents([job]), origin)


async def page(session: AsyncSession, state: AppState, caller: Caller, asked: Page, origin: str) -> Listed[JobRecord]:
    """Return the account's jobs, newest first."""
    total = await repository.count_of_account(session, caller.account.id)
    own = select(col(Job.id)).where(repository.is_of_account(caller.account.id)).order_by(*_NEWEST)
    # The ids come from the index alone: rows that are skipped are not read.
    ids = own.limit(asked.limit).offset(asked.offset).subquery()
    rows = select(*repository.SHOWN).where(col(Job.id).in_(select(ids.c.id))).order_by(*_NEWEST)
    jobs = cast(Sequence[ShownJob], (await session.execute(rows)).all())
    percents = await state.progress.percents(jobs)
    items = [record(state, job, percents, origin) for job in jobs]
    return Listed(items=items, total=total, limit=asked.limit, offset=asked.offset)


async def cancel(state: AppState, caller: Caller, job_id: str) -> Job:
    """Cancel the job unless it has ended, and return it. Raises NotFound."""

    async def cancel_if_open(session: AsyncSession) -> Job:
        job = await owned(session, caller, job_id)
        percent = await state.progress.percent(job.id)
        if await repository.cancel(session, job.id, percent):
            state.changes.publish_after_commit(session, [changed(job.id, job.account_id, JobStatus.cancelled, percent)])
        await session.refresh(job)
        return job

    return await state.database.transaction(cancel_if_open)


async def download(session: AsyncSession, state: AppState, caller: Caller, job_id: str, origin: str) -> str:
    """Return the address of a completed job's MP4. Raises NotFound, or Conflict with the job's status."""
    job = await owned(session, caller, job_id)
    if job.status != JobStatus.completed or job.video_key is None:
        raise Conflict(_why_not(job), status=job.status)
    now = state.clock.now()
    expires_at = link_expiry(state.settings, now, job.finished_at or now)
    return video_url(state.storage, job.id, job.video_key, origin, expires_at)


def record(state: AppState, job: ShownJob, percents: Mapping[str, float], origin: str) -> JobRecord:
    """Return the public record of a job. `percents`: its progress (`ProgressReader.percents`).

    The video's link is always the farm's own and repeats for some minutes, so that unchanged lists are unchanged.
    """
    link = None
    if job.video_key is not None:
        now = state.clock.now()
        expires_at = link_expiry(state.settings, now, job.finished_at or now)
        link = state.links.url(origin, job.video_key, expires_at, file_name(job.id, job.video_key))
    return JobRecord(
        job_id=job.id, status=JobStatus(job.status), progress=round(percents[job.id], 1), video_url=link, error=job.error,
        created_at=job.created_at, warnings=[JobWarning(**one) for one in job.warnings or ()], metadata=job.meta,
    )  # fmt: skip


def _of_account(caller: Caller) -> Select[Job]:
    return select(Job).where(col(Job.account_id) == caller.account.id)


def request_hash(wanted: Shape) -> str:
    """Return a digest of a request as it was sent."""
    asked = wanted.model_dump(by_alias=True, exclude_unset=True)
    return hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest()


async def _repeat(session: AsyncSession, caller: Caller, key: str | None, request_hash: str) -> Job | None:
    if key is None:
        return None
    earlier = await repository.with_key(session, caller.account.id, key)
    if earlier is not None and earlier.request_hash != request_hash:
        raise IdempotencyConflict
    return earlier


async def requested_template(session: AsyncSession, caller: Caller, template_id: Any) -> Template | None:
    """Return the account's template, or None if there is none: other faults of the request are reported first."""
    if not isinstance(template_id, str) or not is_id(template_id):
        return None
    return await templates.owned(session, caller.account.id, template_id)


def job_of(
    state: AppState, caller: Caller, template: Template, wanted: RenderRequest, inputs: dict[str, Any], origin: str
) -> Job:
    """Return a new job for a request without faults."""
    shared = shared_fields(state, caller, template, wanted, origin)
    return Job(**shared, id=new_id("job"), inputs=inputs, meta=wanted.metadata, created_at=state.clock.now())


def shared_fields(
    state: AppState, caller: Caller, template: Template, wanted: SharedRequest, origin: str
) -> dict[str, Any]:
    """Return the fields in which all new jobs of a request without faults are equal."""
    output, _ = output_of(state, template, wanted.output)
    trace = traces.current()
    return {
        "account_id": caller.account.id, "template_id": template.id, "template_version": template.version,
        "width": output.width, "height": output.height, "fps": output.fps, "format": output.format, "transparent": output.transparent,
        "has_sound": state.settings.render_audio and OUTPUT_FORMATS[output.format].has_sound,
        "frame_count": frame_count(template.duration_seconds, output.fps),
        "reserved_ms": round(template.duration_seconds * 1000), "callback_url": wanted.callback_url, "origin": origin,
        "request_hash": "", "priority": caller.account.job_priority if wanted.priority is None else wanted.priority, "request_id": trace.request_id,
        "traceparent": trace.traceparent,
    }  # fmt: skip


async def _reserve(session: AsyncSession, state: AppState, caller: Caller, job: Job) -> Job:
    """Store the job under the account's lock if its minutes fit.

    Of concurrent creations exactly those that fit succeed.
    """
    account = await accounts.locked_account(session, caller.account.id)
    job.created_at = state.clock.now()
    repeated = await _repeat(session, caller, job.idempotency_key, job.request_hash)
    if repeated is not None:
        return repeated
    await respect_quota(session, state, account, job.reserved_ms, json_bytes(job.inputs, job.meta))
    return await repository.create(session, job)


async def respect_quota(
    session: AsyncSession, state: AppState, account: Account, reserved_ms: int, input_bytes: int
) -> None:
    """Check the render time and the storage that are left for new jobs. Raises UpgradeRequired or QuotaExceeded.

    The caller holds the account's lock.
    """
    limits = limits_of(account)
    if not limits.api_enabled:
        raise UpgradeRequired
    # A full account creates no jobs, however small.
    counted_bytes = input_bytes if input_bytes > FREE_BYTES else 1
    await check_storage_quota(session, account.id, limits.max_storage_bytes, counted_bytes)
    minutes = await usage.minutes(session, account.id, state.clock.now())
    used_ms = minutes.rendered_ms + minutes.reserved_ms
    quota = limits.monthly_render_minutes
    if quota is not None and used_ms + reserved_ms > round(quota * MS_PER_MINUTE):
        used, needed = used_ms / MS_PER_MINUTE, reserved_ms / MS_PER_MINUTE
        message = f"This takes {needed:.4g} render minutes; {used:.4g} of this month's {quota:g} are used or reserved. {RESET_NOTE}"
        raise QuotaExceeded("render_minutes", limit=quota, used=used, message=message)


def _why_not(job: Job) -> str:
    if job.status == JobStatus.failed:
        return job.error or "The render failed."
    if job.status == JobStatus.cancelled:
        return "The render was cancelled."
    return "The render is not completed yet."
