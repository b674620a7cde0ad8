"""The OpenAPI document: the answers of every route, and its authentication."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from pydantic import Field
from starlette.routing import Route

from api.app_state import origin_of
from api.errors import status_name
from api.examples import FINISHED, PAGES, example_of, path_of
from api.json import JSONResponse
from api.shapes import Shape
from farm_core import formats

DOCUMENT: Final = "/api/openapi.json"
_DESCRIPTION: Final = (
    "Renders `.motion` compositions to MP4. A caller publishes or imports a template, creates renders with values for its "
    "inputs, and learns of their end by polling or by one webhook."
)
_REQUEST_ID: Final = {
    "X-Request-Id": {"description": "The id of this request in the logs.", "schema": {"type": "string"}}
}
_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
_ETAG: Final = {"ETag": {"description": "For `If-None-Match`.", "schema": {"type": "string"}}}
_SCHEMES: Final = {
    "session": {
        "type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "A session token of a signed-in user.",
    },
    "bearerKey": {"type": "http", "scheme": "bearer", "description": "An API key (`pm_live_...`) with the route's scope."},
    "headerKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key in its own header."},
}  # fmt: skip
_MEANINGS: Final = {
    400: "Malformed, or breaks a rule; every fault is listed.",
    401: "Missing, unknown, revoked or expired credential.",
    403: "Plan, scope, session-only route or quota; see `code`.",
    404: "Not there, or not on the caller's account.",
    409: "The state does not allow it.",
    413: "Too large.",
    429: "Too many requests.",
    500: "Server-side failure.",
    503: "A part of the service is away for now.",
}


_TAGS: Final = {
    "keys": "API keys of the account. Only a session token may manage them.",
    "templates": "Compositions with named inputs.",
    "renders": "Render jobs: create, follow, cancel, download.",
    "assets": "Files for inputs; they are deleted after 24 hours.",
    "usage": "Usage of the account this month, and its limits.",
    "animations": "Animation presets of the editor.",
    "health": "Health checks. They need no credential.",
    "extension": "Additions of this service to the interface.",
}
_REFERENCE: Final = "#/components/schemas/"


class Fault(Shape):
    """One field that breaks a rule."""

    field: str
    message: str


class UnfetchableLayer(Shape):
    """A layer whose media cannot be fetched."""

    layer: str
    reason: str


class ErrorBody(Shape):
    """Body of every failure. The fields of a code are beside the others."""

    status_code: int = Field(description="Equals the HTTP status.")
    message: str | list[str] = Field(description="For people; not stable.")
    error: str = Field(description="The status in words.")
    request_id: str = Field(description="The id of this request in the logs.")
    path: str = Field(description="The route that failed.")
    code: str | None = Field(None, description="Stable, for programs.")
    detail: Any = Field(None, description="Additional data.")
    errors: list[Fault] | None = Field(None, description="Of validation failures.")
    required: str | None = Field(None, description="Of insufficient_scope.")
    limit: float | None = Field(None, description="Of key_limit_reached, quota_exceeded, upload_too_large.")
    kind: str | None = Field(None, description="Of quota_exceeded: render_minutes, api_requests or storage_bytes.")
    used: float | None = Field(None, description="Of quota_exceeded.")
    retry_after_seconds: int | None = Field(None, description="Of rate_limit_exceeded.")
    layers: list[UnfetchableLayer] | None = Field(None, description="Of unrenderable_assets.")
    bytes: int | None = Field(None, description="Of upload_too_large.")
    status: str | None = Field(None, description="Status of the job whose download is refused.")


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the error answers of a route: the named ones, and the common ones of `/v1`."""
    return {status: _failure(status) for status in sorted({*statuses, 400, 401, 403, 413, 429, 500, 503})}


def _failure(status: int) -> dict[str, Any]:
    example = {
        "statusCode": status, "message": _MEANINGS[status], "error": status_name(status),
        "requestId": "req_5f0c9b1e2d7a4c6083b1f5e9",
    }  # fmt: skip
    headers = _REQUEST_ID | (_RETRY_AFTER if status in (429, 503) else {})
    content = {"application/json": {"example": example}}
    return {"model": ErrorBody, "description": _MEANINGS[status], "headers": headers, "content": content}


def add_documentation(app: FastAPI, accepted_formats: Sequence[str]) -> None:
    """Make the app serve its OpenAPI document, with the farm's origin as its server: programs that import the document as a
    file cannot know it. `accepted_formats` are the values of `output.format`."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, accepted_formats)
        return app.openapi_schema

    async def served(request: Request) -> JSONResponse:
        return JSONResponse(document() | {"servers": [{"url": origin_of(request), "description": "This farm."}]})

    app.openapi = document  # type: ignore[method-assign]
    app.router.routes.insert(0, Route(DOCUMENT, served, include_in_schema=False))  # before the framework's own


def _document(app: FastAPI, accepted_formats: Sequence[str]) -> dict[str, Any]:
    made = get_openapi(
        title=app.title, version="1.0.0", description=_DESCRIPTION, routes=app.routes,
        openapi_version="3.1.0",
        tags=[{"name": name, "description": description} for name, description in _TAGS.items()],
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        contact={"name": "The people who run this farm"},
    )  # fmt: skip
    made["components"]["securitySchemes"] = _SCHEMES
    for operations in made["paths"].values():
        for operation in operations.values():
            _complete(operation)
            if operation.setdefault("security", []) == []:
                operation["responses"]["400"] = {
                    "description": "The server cannot read the request.",
                    "headers": _REQUEST_ID,
                }
    for unused in ("HTTPValidationError", "ValidationError"):
        made["components"]["schemas"].pop(unused, None)
    _rename_pages(made)
    _hoist_output(made["components"]["schemas"], accepted_formats)
    _drop_titles(made["components"]["schemas"])
    for route in ("renders", "batches"):  # a callback, because generators take a webhook for an operation of the farm
        callback = {"{$request.body#/callbackUrl}": {"post": _webhook()}}
        made["paths"][f"/api/v1/{route}"]["post"]["callbacks"] = {"renderFinished": callback}
    for route, operations in made["paths"].items():
        for operation in operations.values():
            _add_examples(route, operation)
    return made


def _rename_pages(made: dict[str, Any]) -> None:
    """Give pages of lists readable names for generated clients."""
    schemas = made["components"]["schemas"]
    renamed = {f"Listed_{item}_": page for page, item in PAGES.items()}
    for old, new in renamed.items():
        schemas[new] = schemas.pop(old) | {"title": new}
    for node in _nodes(made):
        old = str(node.get("$ref", "")).removeprefix(_REFERENCE)
        if old in renamed:
            node["$ref"] = _REFERENCE + renamed[old]


def _hoist_output(schemas: dict[str, Any], accepted_formats: Sequence[str]) -> None:
    """Make the output of a render a schema of its own, with the formats that this farm accepts."""
    for name in ("RenderRequest", "BatchRequest"):
        output = schemas[name]["properties"]["output"]
        stored = next(option for option in output["anyOf"] if option.get("type") == "object")
        schemas["RenderOutput"] = stored | {"properties": stored["properties"] | _format_fields(accepted_formats)}
        output["anyOf"] = [{"$ref": f"{_REFERENCE}RenderOutput"}, {"type": "null"}]


def _format_fields(accepted: Sequence[str]) -> dict[str, Any]:
    """Return the fields of an output that depend on `OUTPUT_FORMATS`. With MP4 alone they are the interface's."""
    fields: dict[str, Any] = {"format": {"type": ["string", "null"], "enum": [*accepted, None]}}
    if tuple(accepted) == (formats.DEFAULT,):
        return fields
    default = formats.DEFAULT if formats.DEFAULT in accepted else accepted[0]
    with_alpha = [name for name in accepted if formats.OUTPUT_FORMATS[name].has_alpha]
    fields["format"] |= {"description": f"{default} by default. Formats other than mp4 are an extension."}
    fields["transparent"] = {
        "type": ["boolean", "null"],
        "description": "Extension: leave the background out. "
        + (f"Possible with {', '.join(with_alpha)}." if with_alpha else "None of this farm's formats can."),
    }
    return fields


def _drop_titles(schemas: dict[str, Any]) -> None:
    """Remove the titles that the framework derives from property names: client generators would turn them into types."""
    for schema in schemas.values():
        for node in _nodes(schema.get("properties", {})):
            if isinstance(node.get("title"), str):
                del node["title"]


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON value, outer objects first."""
    if isinstance(value, dict):
        yield value
        for child in list(value.values()):
            yield from _nodes(child)
    elif isinstance(value, list):
        for child in value:
            yield from _nodes(child)


def _webhook() -> dict[str, Any]:
    """Return the one event that the service sends."""
    nullable: dict[str, Any] = {"type": ["string", "null"]}
    schema = {
        "type": "object", "required": list(FINISHED), "properties": {
            "jobId": {"type": "string"}, "status": {"type": "string", "enum": ["completed", "failed", "cancelled"]},
            "videoUrl": nullable, "error": nullable, "renderDurationMs": {"type": ["number", "null"]},
        },
    }  # fmt: skip
    headers = {"X-Service-Event": "render.finished", "X-Service-Job-Id": FINISHED["jobId"]}
    return {
        "summary": "Render finished", "security": [],
        "description": "Sent once to a render's `callbackUrl` when it has completed, failed or been cancelled. It is not signed: "
        "confirm the job before acting on it. Up to three attempts; a 4xx answer is not tried again.",
        "parameters": [
            {"name": name, "in": "header", "required": True, "schema": {"type": "string"}, "example": example}
            for name, example in headers.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": FINISHED}}},
        "responses": {
            "2XX": {"description": "Delivered; the body is ignored."}, "4XX": {"description": "Refused, and not tried again."},
        },
    }  # fmt: skip


def _add_examples(route: str, operation: dict[str, Any]) -> None:
    """Add an example of every answer, and the route's path to those of failures."""
    for answer in operation["responses"].values():
        shown = answer.get("content", {}).get("application/json", {})
        name = str(shown.get("schema", {}).get("$ref", "")).removeprefix(_REFERENCE)
        example = example_of(name)
        if example is not None:
            shown.setdefault("example", example)
        elif "requestId" in shown.get("example", ()):
            shown["example"] = {**shown["example"], "path": path_of(route)}


def _complete(operation: dict[str, Any]) -> None:
    """Remove answers that the framework adds but the farm never gives. Add headers and conditional answers."""
    operation["responses"].pop("422", None)
    options = operation.get("security", [])
    scopes = {scope for option in options for needed in option.values() for scope in needed}
    if scopes:  # only OAuth has scopes that tools understand
        operation["security"] = [{scheme: [] for scheme in option} for option in operation["security"]]
        operation["x-scopes"] = sorted(scopes)
        operation["description"] += (
            f" An API key needs the scope {', '.join(f'`{scope}`' for scope in sorted(scopes))}."
        )
    for parameter in operation.get("parameters", []):
        # A header or query parameter may be left out, but it cannot be null.
        options = parameter["schema"].pop("anyOf", [])
        parameter["schema"].update(next((option for option in options if option != {"type": "null"}), {}))
    conditional = operation.pop("x-conditional", False)
    for status, answer in operation["responses"].items():
        headers = _REQUEST_ID | (_ETAG if conditional and status == "200" else {})
        answer.setdefault("headers", {}).update(headers)
    if conditional:
        operation["responses"]["304"] = {"description": "Not changed since.", "headers": _REQUEST_ID | _ETAG}
        operation.setdefault("parameters", []).append(
            {"name": "If-None-Match", "in": "header", "required": False, "schema": {"type": "string"}}
        )
