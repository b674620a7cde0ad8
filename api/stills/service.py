"""Stills of templates and of finished renders."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlmodel import col

from api.app_state import AppState
from api.auth import Caller
from api.ids import checked_id, found
from api.renders.media import uploads_of, with_upload_paths
from api.renders.rules import faults_of_inputs
from farm_core.errors import Conflict, InvalidInputs
from farm_core.jobs.models import Job
from farm_core.jobs.status import JobStatus
from farm_core.stills import Still, StillOptions, request_still, subject
from farm_core.templates import repository as templates
from farm_core.templates.models import Template


async def of_template(
    state: AppState, caller: Caller, template_id: str, inputs: Any, options: StillOptions, origin: str
) -> Still:
    """Return a frame of the account's template. Without inputs, required media are left empty.

    Raises NotFound, InvalidInputs with the faults of a render's inputs, and what `request_still` raises.
    """
    account_id = caller.account.id
    async with state.database.reading() as reading:
        row = await templates.owned(reading, account_id, checked_id(template_id, "template"))
        template = found(row, "template")
        uploads = await uploads_of(state, reading, account_id, origin, [inputs])
    if inputs is None:
        return await request_still(state, subject.of_template(template, {}, origin), options)
    faults = await faults_of_inputs(state, account_id, template, inputs, uploads)
    if faults:
        raise InvalidInputs(faults)
    own_inputs = with_upload_paths(template, inputs, uploads)
    return await request_still(state, subject.of_template(template, own_inputs, origin), options)


async def of_render(state: AppState, caller: Caller, job_id: str, options: StillOptions) -> Still:
    """Return a frame, or a contact sheet, of the account's completed render.

    Raises NotFound, Conflict for a render that is not completed, and what `request_still` raises.
    """
    wanted = select(Job, Template).join(Template, col(Template.id) == col(Job.template_id))
    own = (col(Job.id) == checked_id(job_id, "render"), col(Job.account_id) == caller.account.id)
    async with state.database.reading() as reading:
        job, template = found((await reading.execute(wanted.where(*own))).first(), "render")
    frozen = subject.of_job(job, template)
    if job.status != JobStatus.completed or frozen is None:
        raise Conflict("The render is not completed, so there is no picture of it.", status=job.status)
    return await request_still(state, frozen, options)
