"""Posters and frames, drawn by a render worker on request and cached by the browser."""

from __future__ import annotations

import asyncio
import hashlib
import math
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from api.app_state import AppState, origin_of
from api.conditional import is_known
from api.disconnects import while_connected
from farm_core.errors import BadRequest, FarmError
from farm_core.jobs.models import Job
from farm_core.stills import StillOptions, of_job, of_template, request_still
from farm_core.stills.options import CONTACT_FRAMES, PIXELS_MAX, SIDE_MAX, WIDTH_MIN
from farm_core.stills.subject import StillSubject, composition_of
from farm_core.templates.models import Template

POSTER_WIDTH: Final = 480
FRAME_WIDTH: Final = 240
FILMSTRIP_FRAMES: Final = 6
DRAFT_WIDTH: Final = 320
WAIT_SECONDS: Final = 5.0
"""Longest wait for a decorative picture. It does not limit contact sheets, which a person has requested."""
CACHE_SECONDS: Final = 7 * 24 * 3600
"""Time for which a browser shows a frame of a frozen document without a request. A template can be replaced, so its
pictures are requested each time and answered by their ETag."""
_LATER_WIDTH: Final = 16
"""Width of the placeholder for a pending picture. `static/pictures.js` requests pictures of this width again."""
_NEVER_WIDTH: Final = 160
_PLACEHOLDER: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 {height}" width="{width}" height="{rows}">'
    '<rect width="160" height="{height}" fill="#8881"/><g fill="none" stroke="#8886" stroke-width="2" stroke-linejoin="round">'
    '<g transform="translate(80 {middle})"><rect x="-14" y="-11" width="28" height="22" rx="3"/><circle cx="-6" cy="-4" r="2"/>'
    '<path d="M-12 9l9-9 5 5 4-4 7 7"/></g></g></svg>'
)


def filmstrip_times(duration_seconds: float) -> list[float]:
    """Return the times of a filmstrip's frames in seconds, each in the middle of an equal part."""
    return [round(duration_seconds * (2 * index + 1) / (2 * FILMSTRIP_FRAMES), 3) for index in range(FILMSTRIP_FRAMES)]


def poster_time(duration_seconds: float) -> float:
    """Return the time of a poster in seconds: half of the duration, when most texts are visible."""
    return duration_seconds / 2


def fitting_width(subject: StillSubject, width: float, frames: int = 1) -> int:
    """Return the largest width, at most `width` px, at which a picture of this many frames has an allowed size."""
    shape = subject.width / subject.height
    return max(WIDTH_MIN, int(min(width, SIDE_MAX, SIDE_MAX * shape, math.sqrt(PIXELS_MAX * shape / frames))))


def draft_options(subject: StillSubject) -> StillOptions:
    """Return the options of a contact sheet of a whole template, which `static/sheets.js` plays."""
    width = fitting_width(subject, DRAFT_WIDTH, CONTACT_FRAMES)
    return StillOptions(width=width, format="jpeg", contact_sheet=True)


async def of_render(
    request: Request,
    state: AppState,
    job: Job,
    template: Template,
    time: float | None = None,
    width: int = POSTER_WIDTH,
) -> Response:
    """Return a frame of a render from its frozen document, or from its template and inputs if it is not frozen yet.

    `time` is in seconds, by default that of a poster. If the document or its media are gone, return a frame of the template.
    """
    subject = of_job(job, template) or of_template(template, job.inputs, job.origin)
    duration_seconds = composition_of(job, template)[1]
    time = poster_time(duration_seconds) if time is None else min(max(time, 0.0), duration_seconds)
    return await _answer(
        request, state, subject, _frame_at(time, fitting_width(subject, width)), of_template(template, {}, job.origin)
    )


async def of_gallery(request: Request, state: AppState, template: Template) -> Response:
    """Return the poster of a template with its default inputs."""
    subject = of_template(template, {}, origin_of(request))
    return await _answer(
        request, state, subject, _frame_at(poster_time(template.duration_seconds), fitting_width(subject, POSTER_WIDTH))
    )


async def draft_of(request: Request, state: AppState, template: Template) -> Response:
    """Return a contact sheet of a template with its default inputs. Pages play it as a draft."""
    subject = of_template(template, {}, origin_of(request))
    return await _answer(request, state, subject, draft_options(subject))


async def _answer(
    request: Request, state: AppState, subject: StillSubject, options: StillOptions, instead: StillSubject | None = None
) -> Response:
    """Return the frame, which the browser caches, or an uncached placeholder if no worker draws it in time."""
    tag = f'"{hashlib.sha256(f"{subject} {options}".encode()).hexdigest()[:32]}"'
    headers = {
        "ETag": tag,
        "Cache-Control": f"private, max-age={CACHE_SECONDS}" if subject.frozen else "private, no-cache",
    }
    if is_known(request.headers, tag):
        return Response(status_code=304, headers=headers)
    try:
        async with asyncio.timeout(None if options.contact_sheet else WAIT_SECONDS):
            still = await while_connected(request, request_still(state, subject, options))
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
    """Return a placeholder with the subject's aspect ratio, so that the page's layout stays when the frame arrives."""
    height = 160 * subject.height / subject.width
    picture = _PLACEHOLDER.format(width=width, height=height, rows=width * height / 160, middle=height / 2)
    return Response(picture, media_type="image/svg+xml", headers={"Cache-Control": "no-store"})
