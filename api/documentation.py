"""The OpenAPI document: what every route may answer, and how callers sign in."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import Field

from api.errors import status_name
from api.shapes import Shape

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


class Fault(Shape):
    """One field that breaks a rule."""

    field: str
    message: str


class UnfetchableLayer(Shape):
    """A layer whose media cannot be fetched."""

    layer: str
    reason: str


class ErrorBody(Shape):
    """Every failure. Fields of single codes stand beside the others."""

    status_code: int = Field(description="Equals the HTTP status.")
    message: str | list[str] = Field(description="For people; not stable.")
    error: str = Field(description="The status in words.")
    request_id: str = Field(description="The id of this request in the logs.")
    path: str = Field(description="The route that failed.")
    code: str | None = Field(None, description="Stable, for programs.")
    detail: Any | None = Field(None, description="Further structure.")
    errors: list[Fault] | None = Field(None, description="Of validation failures.")
    required: str | None = Field(None, description="Of insufficient_scope.")
    limit: float | None = Field(None, description="Of key_limit_reached, quota_exceeded, upload_too_large.")
    kind: str | None = Field(None, description="Of quota_exceeded: render_minutes or api_requests.")
    used: float | None = Field(None, description="Of quota_exceeded.")
    retry_after_seconds: int | None = Field(None, description="Of rate_limit_exceeded.")
    layers: list[UnfetchableLayer] | None = Field(None, description="Of unrenderable_assets.")
    bytes: int | None = Field(None, description="Of upload_too_large.")
    status: str | None = Field(None, description="Of a download that is not there: the job's status.")


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """A route's failures: those named, and those that every route of `/v1` has."""
    return {status: _failure(status) for status in sorted({*statuses, 400, 401, 403, 413, 429, 500, 503})}


def _failure(status: int) -> dict[str, Any]:
    example = {
        "statusCode": status, "message": _MEANINGS[status], "error": status_name(status),
        "requestId": "req_5f0c9b1e", "path": "/api/v1/renders",
    }  # fmt: skip
    headers = _REQUEST_ID | (_RETRY_AFTER if status in (429, 503) else {})
    content = {"application/json": {"example": example}}
    return {"model": ErrorBody, "description": _MEANINGS[status], "headers": headers, "content": content}


def add_documentation(app: FastAPI) -> None:
    """Makes the app serve a document that says what it does, no more and no less."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(
        title="Video render automation", version="1.0.0", description=_DESCRIPTION, routes=app.routes,
        openapi_version="3.1.0",
    )  # fmt: skip
    made["components"]["securitySchemes"] = _SCHEMES
    for path in made["paths"].values():
        for operation in path.values():
            _complete(operation)
    for unused in ("HTTPValidationError", "ValidationError"):
        made["components"]["schemas"].pop(unused, None)
    return made


def _complete(operation: dict[str, Any]) -> None:
    """Takes out what the framework supposes and the farm never answers; adds headers and conditional answers."""
    operation["responses"].pop("422", None)
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
