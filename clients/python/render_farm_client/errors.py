"""Errors of calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
        message = body.get("message") or f"The server answered {status}."
        self.status = status
        self.code: str | None = body.get("code")
        self.message = "; ".join(map(str, message)) if isinstance(message, list) else str(message)
        self.errors: Sequence[FieldFault] = tuple(_faults(body.get("errors")))
        self.request_id: str | None = body.get("requestId")
        self.body = body
        faults = "".join(f"\n  {fault.field}: {fault.message}" for fault in self.errors)
        # A list of messages repeats the faults.
        super().__init__(
            f"{status}: {body.get('error') if faults and message != self.message else self.message}{faults}"
        )


def _faults(stored: Any) -> Iterator[FieldFault]:
    """Yield the faults. Gateways before a farm answer with errors of other shapes."""
    for fault in stored if isinstance(stored, list) else ():
        if isinstance(fault, dict) and "field" in fault and "message" in fault:
            yield FieldFault(fault["field"], fault["message"])


class NoAnswer(Exception):
    """The farm could not be reached, after all repeats."""


class RenderFailed(Exception):
    """A render that was waited for has failed or was cancelled."""

    def __init__(self, job_id: str, status: str, error: str | None) -> None:
        super().__init__(f"{job_id} ended as {status}" + (f": {error}" if error else ""))
        self.job_id = job_id
        self.status = status
        self.error = error
