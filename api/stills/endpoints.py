"""`/v1/templates/{id}/still` and `/v1/renders/{id}/thumbnail`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from api.dependencies import AppStateOf, CallerOf, Origin
from api.disconnects import while_connected
from api.documentation import answers
from api.route import needs, public_router
from api.stills import service
from api.stills.schemas import (
    PICTURE,
    FormatQuery,
    FrameQuery,
    InputsQuery,
    SpriteQuery,
    StillRequest,
    TimeQuery,
    WidthQuery,
    queried_inputs,
)
from farm_core.accounts.scopes import Scope
from farm_core.stills import Still, StillOptions

router = public_router("", "extension")
_TEMPLATES, _RENDERS = Scope.templates_read, Scope.renders_read


@router.get(
    "/templates/{id}/still",
    openapi_extra=needs(_TEMPLATES, conditional=True),
    response_class=Response,
    responses={**PICTURE, **answers(404)},
)
async def get_template_still(
    request: Request,
    state: AppStateOf,
    caller: CallerOf,
    origin: Origin,
    id: str,
    time: TimeQuery = None,
    frame: FrameQuery = None,
    width: WidthQuery = None,
    format: FormatQuery = "png",
    inputs: InputsQuery = None,
) -> Response:
    """Draw a frame of a template. Without inputs it is shown as published; without time and frame, the frame at a third of the duration."""
    options = StillOptions(time, frame, width, format)
    drawing = service.of_template(state, caller, id, queried_inputs(inputs), options, origin)
    return _picture(await while_connected(request, drawing))


@router.post(
    "/templates/{id}/still",
    openapi_extra=needs(_TEMPLATES),
    response_class=Response,
    responses={**PICTURE, **answers(404)},
)
async def create_template_still(
    request: Request, state: AppStateOf, caller: CallerOf, origin: Origin, id: str, body: StillRequest
) -> Response:
    """Draw a frame of a template with inputs, which follow the rules of a render. It costs no minutes."""
    options = StillOptions(body.time, body.frame, body.width, body.format)
    drawing = service.of_template(state, caller, id, body.inputs, options, origin)
    return _picture(await while_connected(request, drawing))


@router.get(
    "/renders/{id}/thumbnail",
    openapi_extra=needs(_RENDERS, conditional=True),
    response_class=Response,
    responses={**PICTURE, **answers(404, 409)},
)
async def get_render_thumbnail(
    request: Request,
    state: AppStateOf,
    caller: CallerOf,
    id: str,
    time: TimeQuery = None,
    width: WidthQuery = None,
    format: FormatQuery = "jpeg",
    sprite: SpriteQuery = False,
) -> Response:
    """Return a frame of a completed render, or a contact sheet."""
    drawing = service.of_render(state, caller, id, StillOptions(time, None, width, format, sprite))
    return _picture(await while_connected(request, drawing))


def _picture(still: Still) -> Response:
    return Response(still.picture, media_type=still.media_type, headers={"Cache-Control": "private, no-cache"})
