"""Errors in the API's envelope."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from api.json import JSONResponse
from api.shapes import field_hints, unknown_field
from farm_core.db.database import is_read_only, was_ended, was_too_slow
from farm_core.errors import BadRequest, DatabaseTooSlow, FarmError, RateLimited, Unauthorized, Unavailable
from farm_core.storage.disk_space import machine_fault
from farm_core.storage.port import StorageUnavailable
from motion.hints import Hints

_NAMES: Final = {413: "Payload Too Large", 416: "Range Not Satisfiable", 422: "Unprocessable Content"}
_MESSAGES: Final = {404: "There is no such route. /api/docs lists all routes."}
GENERIC: Final = "Something went wrong on our side. Try again; if it stays, tell the operator the requestId."
_FAULTS: Final = {
    "missing": "is required",
    "dict_type": "must be an object",
    "model_attributes_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be more than {gt:.15g}",
    "greater_than_equal": "must be at least {ge:.15g}",
    "less_than_equal": "must be at most {le:.15g}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length} items",
}
"""Messages by the framework's fault type. The framework's own messages use Python terms."""

_NUL_STATES: Final = (None, "22021", "22P05")
"""Errors for NUL characters: the driver refuses them in texts, Postgres in JSON."""


def envelope(scope: Scope, error: FarmError, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response to a failure."""
    body: dict[str, Any] = {
        "statusCode": error.status,
        "message": error.message,
        "error": status_name(error.status),
        "requestId": scope.get("state", {}).get("request_id", ""),
        "path": scope["path"],
    }
    if error.code is not None:
        body["code"] = error.code
    return JSONResponse(
        body | dict(error.extras), status_code=error.status, headers={**_headers(error), **(headers or {})}
    )


def status_name(status: int) -> str:
    """Return the status in words."""
    return _NAMES.get(status) or HTTPStatus(status).phrase


def translated(error: Exception) -> FarmError:
    """Return the public error for an unexpected failure, without anything internal."""
    if isinstance(error, FarmError):
        return error
    if was_too_slow(error):
        return DatabaseTooSlow()
    away = OperationalError | InterfaceError | PoolTimeout | StorageUnavailable | ConnectionError | TimeoutError
    if isinstance(error, away) or machine_fault(error) is not None or is_read_only(error) or was_ended(error):
        return Unavailable()
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return Unavailable()
    if isinstance(error, DataError) and getattr(error.orig, "sqlstate", None) in _NUL_STATES:
        return BadRequest("The request holds a NUL character, which no field can hold.")
    return FarmError(GENERIC)


class BodyFaults(FarmError):
    """A request that breaks its schema: every fault at once."""

    status = 400

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        errors = [{"field": field, "message": message} for field, message in faults]
        super().__init__([f"{field}: {message}" for field, message in faults], errors=errors)


class StatusError(FarmError):
    """A failure that only has a status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status  # type: ignore[misc]


def add_error_handlers(app: FastAPI) -> None:
    """Route every failure that the framework raises to the envelope."""
    app.add_exception_handler(FarmError, _farm_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)


async def _farm_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, FarmError)
    return envelope(request.scope, error)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    hints = field_hints(_known_fields(request))
    return envelope(request.scope, BodyFaults([_fault(one, hints) for one in error.errors()]))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = _MESSAGES.get(error.status_code, str(error.detail))
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods(request))
        message = f"This route has no method {request.method}. Its methods are {headers['Allow']}."
    return envelope(request.scope, StatusError(error.status_code, message), headers)


def _methods(request: Request) -> list[str]:
    """Return every method of the path. The framework knows only the methods of the first route."""
    path = request.url.path
    for template, methods in request.app.openapi()["paths"].items():
        if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), path):
            known = {method.upper() for method in methods}
            return sorted(known | {"HEAD"} if "GET" in known else known)
    return ["GET", "HEAD"]


def _known_fields(request: Request) -> list[str]:
    """Return the fields of the route's body; empty without a body."""
    body = getattr(request.scope.get("route"), "body_field", None)
    fields = getattr(body.field_info.annotation, "model_fields", {}) if body is not None else {}
    return [field.alias or name for name, field in fields.items()]


def _fault(one: Mapping[str, Any], hints: Hints) -> tuple[str, str]:
    if one["type"] == "json_invalid":
        return "body", "is not valid JSON"
    where = [str(part) for part in one["loc"]]
    if one["type"] == "extra_forbidden":
        return ".".join(where[1:]), unknown_field(where[-1], hints)
    known_fault = _FAULTS.get(one["type"])
    message = known_fault.format(**one.get("ctx", {})) if known_fault else str(one["msg"]).removeprefix("Value error, ")
    return ".".join(where[1:]) or where[0], message


def _headers(error: FarmError) -> dict[str, str]:
    return {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthorized) else retry_after(error)


def retry_after(error: FarmError) -> dict[str, str]:
    """Return the header with the seconds until another try, empty if the error names none."""
    if isinstance(error, RateLimited):
        return {"Retry-After": str(error.extras["retryAfterSeconds"])}
    if isinstance(error, DatabaseTooSlow):
        return {"Retry-After": str(error.RETRY_SECONDS)}
    return {"Retry-After": "1"} if error.status == 503 else {}
