"""Errors of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FieldFault:
    """One field that breaks a rule."""

    field: str
    message: str


class ApiError(Exception):
    """An error answer. `code`, if there is one, is stable. `errors` has every fault of a refused request."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        message = body.get("message", f"The server answered {status}.")
        self.status = status
        self.code: str | None = body.get("code")
        self.message = message if isinstance(message, str) else "; ".join(map(str, message))
        self.errors: Sequence[FieldFault] = tuple(
            FieldFault(fault["field"], fault["message"]) for fault in body.get("errors") or ()
        )
        self.request_id: str | None = body.get("requestId")
        self.body = body
        faults = "".join(f"\n  {fault.field}: {fault.message}" for fault in self.errors)
        # A list of messages repeats the faults.
        super().__init__(
            f"{status}: {body.get('error') if faults and message != self.message else self.message}{faults}"
        )


class NoAnswer(Exception):
    """The farm could not be reached, after all repeats."""


class RenderFailed(Exception):
    """A render that was waited for has failed or was cancelled."""

    def __init__(self, job_id: str, status: str, error: str | None) -> None:
        super().__init__(f"{job_id} ended as {status}" + (f": {error}" if error else ""))
        self.job_id = job_id
        self.status = status
        self.error = error
