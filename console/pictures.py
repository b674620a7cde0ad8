"""Posters and frames: drawn by a render worker on request, kept by the browser."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from api.app_state import AppState, origin_of
from api.conditional import is_known
from console.renders.detail import Detail
from farm_core.errors import BadRequest, FarmError
from farm_core.stills import StillOptions, of_job, of_template, request_still
from farm_core.stills.service import Still
from farm_core.stills.subject import StillSubject
from farm_core.templates.models import Template

POSTER_WIDTH: Final = 480
FRAME_WIDTH: Final = 240
FILMSTRIP_FRAMES: Final = 6
DRAFT: Final = StillOptions(width=320, format="jpeg", contact_sheet=True)
"""Contact sheet of a whole template. `static/sheets.js` plays it."""
WAIT_SECONDS: Final = 5.0
"""A page does not wait longer for a picture that only decorates it. A contact sheet is asked for by a person."""
CACHE_SECONDS: Final = 7 * 24 * 3600
_LATER_WIDTH: Final = 16
"""Width of the placeholder for a picture that can still come. `static/pictures.js` asks again for pictures as wide as this."""
_NEVER_WIDTH: Final = 160
_PLACEHOLDER: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 {height}" width="{width}" height="{rows}">'
    '<rect width="160" height="{height}" fill="#8881"/><g fill="none" stroke="#8886" stroke-width="2" stroke-linejoin="round">'
    '<g transform="translate(80 {middle})"><rect x="-14" y="-11" width="28" height="22" rx="3"/><circle cx="-6" cy="-4" r="2"/>'
    '<path d="M-12 9l9-9 5 5 4-4 7 7"/></g></g></svg>'
)


def filmstrip_times(duration_seconds: float) -> list[float]:
    """Return the moments of a filmstrip, each in the middle of its part."""
    return [round(duration_seconds * (2 * index + 1) / (2 * FILMSTRIP_FRAMES), 3) for index in range(FILMSTRIP_FRAMES)]


def poster_time(duration_seconds: float) -> float:
    """Return the moment of a poster, in seconds: at half of the duration most texts have arrived and none has left."""
    return duration_seconds / 2


async def of_render(
    request: Request, state: AppState, detail: Detail, time: float, width: int = POSTER_WIDTH
) -> Response:
    """Answer with a frame of a render as it was frozen, or of its template with its inputs before that.

    A render that cannot be drawn any more, because its media or its document are gone, is shown by its template.
    """
    subject = of_job(detail.job, detail.template)
    if subject is None:
        subject = of_template(detail.template, detail.job.inputs, detail.job.origin)
    instead = of_template(detail.template, {}, detail.job.origin)
    options = _frame_at(min(max(time, 0.0), detail.template.duration_seconds), width)
    return await _answer(request, state, subject, options, instead)


async def of_gallery(request: Request, state: AppState, template: Template) -> Response:
    """Answer with the poster of a template without inputs."""
    subject = of_template(template, {}, origin_of(request))
    return await _answer(request, state, subject, _frame_at(poster_time(template.duration_seconds), POSTER_WIDTH))


async def draft_of(request: Request, state: AppState, template: Template) -> Response:
    """Answer with a contact sheet of a template without inputs, which pages play as its draft."""
    subject = of_template(template, {}, origin_of(request))
    return await _answer(request, state, subject, DRAFT)


async def preview(
    request: Request, state: AppState, template: Template, inputs: Mapping[str, Any], time: float, width: int
) -> Still:
    """Draw a frame of a template with inputs that were checked. Raises what `request_still` raises."""
    options = StillOptions(time=min(max(time, 0.0), template.duration_seconds), width=width, format="jpeg")
    return await request_still(state, of_template(template, inputs, origin_of(request)), options)


async def _answer(
    request: Request, state: AppState, subject: StillSubject, options: StillOptions, instead: StillSubject | None = None
) -> Response:
    """Return the frame, which the browser keeps; a placeholder that it does not keep while no worker draws it."""
    tag = f'"{hashlib.sha256(f"{subject} {options}".encode()).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": f"private, max-age={CACHE_SECONDS}"}
    if is_known(request.headers, tag):
        return Response(status_code=304, headers=headers)
    try:
        async with asyncio.timeout(None if options.contact_sheet else WAIT_SECONDS):
            still = await request_still(state, subject, options)
    except BadRequest:
        if instead is None:
            return _placeholder(_NEVER_WIDTH, subject)
        return await _answer(request, state, instead, options)
    except (FarmError, TimeoutError):
        return _placeholder(_LATER_WIDTH, subject)
    return Response(still.picture, media_type=still.media_type, headers=headers)


def _frame_at(time: float, width: int) -> StillOptions:
    return StillOptions(time=time, width=width, format="jpeg")


def _placeholder(width: int, subject: StillSubject) -> Response:
    """Answer with a picture of the subject's shape, so that nothing on the page moves when the frame comes."""
    height = 160 * subject.height / subject.width
    picture = _PLACEHOLDER.format(width=width, height=height, rows=width * height / 160, middle=height / 2)
    return Response(picture, media_type="image/svg+xml", headers={"Cache-Control": "no-store"})
