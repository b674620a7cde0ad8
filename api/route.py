"""Routes of `/v1`: they admit the caller before they read the body, and support conditional requests for lists."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from json import JSONDecodeError
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel
from starlette.routing import Match
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from api import large_bodies
from api.app_state import app_state_of
from api.auth import Need, admit
from api.conditional import is_known
from api.json import JSONRequest, JSONResponse
from farm_core.accounts.scopes import Scope
from farm_core.errors import BadRequest
from farm_core.large_json import syntax_fault

_NEED: Final = "x-required-scope"
_CONDITIONAL: Final = "x-conditional"
_SESSION: Final = "session"


def needs(scope: Scope | None, *, conditional: bool = False, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a route's requirements as its part of the OpenAPI document, where `FarmRoute` reads them.

    `conditional`: answers have an ETag. `body`: description of the request body, if the framework cannot derive it.
    """
    bearer: list[dict[str, list[str]]] = [{"session": []}]
    keys: list[dict[str, list[str]]] = [] if scope is None else [{"bearerKey": [scope]}, {"headerKey": [scope]}]
    extra: dict[str, Any] = {"security": [*keys, *bearer], _NEED: scope or _SESSION}
    if conditional:
        extra[_CONDITIONAL] = True
    if body is not None:
        extra["requestBody"] = body
    return extra


class HeadRoute(APIRoute):
    """Route that answers HEAD like GET (RFC 9110, 9.3.2). The server leaves the body out."""

    def matches(self, scope: Connection) -> tuple[Match, Connection]:
        """Return the match of the request."""
        return super().matches(_as_get(scope))

    async def handle(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Handle the request."""
        await super().handle(_as_get(scope), receive, send)


class FarmRoute(HeadRoute):
    """Admit the caller (`request.state.caller`) by the declared needs, then read the body strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the route's handler, with admission before and conditional answers after it."""
        handle = super().get_route_handler()
        declared = self.openapi_extra or {}
        scope = declared[_NEED]
        need = Need(None if scope == _SESSION else Scope(scope))
        reads_json = self.body_field is not None
        may_be_empty = self.body_field is not None and not self.body_field.field_info.is_required()

        async def handler(request: Request) -> Response:
            caller = request.state.caller = await admit(request, need)
            strict = JSONRequest(request.scope, request.receive)
            account_id = caller.account.id
            slot = large_bodies.slot(app_state_of(request), account_id, request) if reads_json else nullcontext()
            async with slot:
                if reads_json:
                    await _read_json(strict, account_id, may_be_empty=may_be_empty)
                response = await handle(strict)
            return _conditional(request, response) if _CONDITIONAL in declared else response

        return handler


def operation_id(route: APIRoute) -> str:
    """Return the operation's name in generated clients, made from its function's name (`createRender`)."""
    return to_camel(route.name)


def public_router(prefix: str, tag: str) -> APIRouter:
    """Return a router under `/api/v1` with complete routes, which the app adds unchanged.

    `include_router` would make every route again for each app, in 0.4 s of processor time.
    """
    return APIRouter(
        prefix=f"/api/v1{prefix}",
        tags=[tag],
        route_class=FarmRoute,
        default_response_class=JSONResponse,
        generate_unique_id_function=operation_id,
        strict_content_type=False,
    )


def _as_get(scope: Connection) -> Connection:
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope


async def _read_json(request: JSONRequest, account_id: str, *, may_be_empty: bool) -> None:
    """Read the body as JSON, for the framework to find. Raises BadRequest."""
    media_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    is_json = media_type == "application/json" or media_type.endswith("+json")
    is_announced = "transfer-encoding" in request.headers or request.headers.get("content-length", "0") != "0"
    # Refuse before reading the body: other types have other limits.
    if not is_json and (is_announced or not may_be_empty):
        raise BadRequest(
            f"The request body must be application/json, not {media_type[:100] or 'an empty Content-Type'}."
        )
    if not (body := await request.body()):
        if may_be_empty:
            return
        raise BadRequest("The request body is empty. This route takes a JSON object.")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise BadRequest("Compressed request bodies are not supported. Send the JSON without Content-Encoding.")
    try:
        if large_bodies.is_large(body):
            request.take(await large_bodies.value_of(app_state_of(request), account_id, body))
        await request.json()
    except JSONDecodeError as error:
        raise syntax_fault(error) from None


def _conditional(request: Request, response: Response) -> Response:
    """Add an ETag to the answer, or return 304 if the caller has it already."""
    if response.status_code != 200:
        return response
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if is_known(request.headers, tag):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return response
