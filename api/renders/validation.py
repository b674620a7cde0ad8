"""Cost and faults of a render before it is created."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import BigInteger, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from api.app_state import AppState
from api.auth import Caller
from api.documentation import Fault
from api.ids import found
from api.renders.media import uploads_of
from api.renders.output import output_of
from api.renders.rules import faults_of
from api.renders.schemas import JobWarning, RenderRequest, Validation
from api.renders.service import requested_template
from api.renders.undrawn import undrawn
from farm_core.formats import OUTPUT_FORMATS
from farm_core.jobs import notices
from farm_core.jobs.models import Job
from farm_core.jobs.repository import is_of_account
from farm_core.jobs.status import JobStatus
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from farm_core.usage import repository as usage
from farm_core.usage.period import MS_PER_MINUTE
from motion.notices import Notice
from motion.timing import frame_count

RECENT_JOBS: Final = 200
LOOKED_AT: Final = 1_000
"""Number of the account's newest jobs that are searched: behind a longer queue the expected time is unknown."""


async def validate(state: AppState, caller: Caller, wanted: RenderRequest, origin: str) -> Validation:
    """Return every fault, the minutes, expected time and warnings of a render, without queueing it.

    Raises NotFound, RateLimited.
    """
    await state.rates.require(f"validations:{caller.account.id}", state.settings.stills_per_minute)
    now = state.clock.now()
    async with state.database.reading() as reading:
        template = await requested_template(reading, caller, wanted.template_id)
        uploads = await uploads_of(state, reading, caller.account.id, origin, [wanted.inputs])
        minutes = await usage.minutes(reading, caller.account.id, now)
        seconds_per_pixel = await _seconds_per_pixel(reading, caller, template)
    faults = await faults_of(state, caller.account, template, wanted, uploads)
    if not faults:
        template = found(template, "template")
    refused, warnings = (None, []) if template is None else await _examined(state, template, wanted)
    if refused is not None:
        faults = [*faults, ("templateId", refused)]
    needed = 0.0 if template is None else template.duration_seconds / 60
    quota, used = caller.limits.monthly_render_minutes, (minutes.rendered_ms + minutes.reserved_ms) / MS_PER_MINUTE
    return Validation(
        valid=not faults,
        errors=[Fault(field=field, message=message) for field, message in faults],
        render_minutes=round(needed, 4),
        remaining_minutes=None if quota is None else max(0.0, round(quota - used, 4)),
        expected_seconds=None if template is None or faults else _expected(state, template, wanted, seconds_per_pixel),
        warnings=warnings,
    )


async def _seconds_per_pixel(session: AsyncSession, caller: Caller, template: Template | None) -> float | None:
    """Return the seconds per pixel of a frame in the account's last renders, of this template if there are any."""
    columns = (Job.template_id, Job.render_duration_ms, Job.frame_count, Job.width, Job.height, Job.status)
    own_jobs = select(*cast(Any, columns)).where(is_of_account(caller.account.id))
    newest = own_jobs.order_by(col(Job.created_at).desc(), col(Job.id).desc()).limit(LOOKED_AT).subquery()
    recent = select(newest).where(newest.c.status == JobStatus.completed).limit(RECENT_JOBS).subquery()
    pixels = func.sum(recent.c.frame_count.cast(BigInteger) * recent.c.width * recent.c.height)  # beyond 32 bits
    totals = select(recent.c.template_id, func.sum(recent.c.render_duration_ms), pixels).group_by(recent.c.template_id)
    rows = {row[0]: (float(row[1] or 0), float(row[2])) for row in await session.execute(totals)}
    own = rows.get(template.id) if template is not None else None
    milliseconds, count = own or (sum(row[0] for row in rows.values()), sum(row[1] for row in rows.values()))
    return milliseconds / 1000 / count if count else None


def _expected(
    state: AppState, template: Template, wanted: RenderRequest, seconds_per_pixel: float | None
) -> float | None:
    output, _ = output_of(state, template, wanted.output)
    frames = frame_count(template.duration_seconds, output.fps)
    return None if seconds_per_pixel is None else round(seconds_per_pixel * frames * output.width * output.height, 1)


async def _examined(state: AppState, template: Template, wanted: RenderRequest) -> tuple[str | None, list[JobWarning]]:
    """Return why the template cannot be drawn, or None, and the warnings that are known without drawing."""
    with tempfile.NamedTemporaryFile(prefix="farm-validation-") as document:
        await asyncio.to_thread(state.storage.get_file, template.document_key, Path(document.name))
        values = wanted.inputs if isinstance(wanted.inputs, dict) else {}
        given = [asdict(field) for field in fields_of(template) if values.get(field.id) is not None]
        made = await state.sandbox.call(template.account_id, undrawn, document.name, template.composition_id, given)
    listed = made["notices"]
    output, faults = output_of(state, template, wanted.output)
    if not faults and state.settings.render_audio and OUTPUT_FORMATS[output.format].has_sound:
        listed = [one for one in listed if one["code"] != "sound_not_rendered"]
    return made["refused"], [JobWarning(**one) for one in notices.records(Notice(**one) for one in listed)]
