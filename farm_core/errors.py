"""One class per row of the interface's code table, and one for each status without a code.

A FarmError carries what the error envelope shows; `extras` appear at the top level of the body. Messages are for callers:
no SQL, no path, no host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from farm_core.sizes import in_words


class FarmError(Exception):
    """A failure that callers see."""

    status: ClassVar[int] = 500
    code: ClassVar[str | None] = None

    def __init__(self, message: str | Sequence[str], **extras: object) -> None:
        super().__init__(message)
        self.message = message if isinstance(message, str) else list(message)
        self.extras: Mapping[str, object] = extras

    @property
    def text(self) -> str:
        """Return the message as one text."""
        return self.message if isinstance(self.message, str) else " ".join(self.message)


class BadRequest(FarmError):
    """The request cannot be understood or breaks a rule."""

    status = 400


class InvalidInputs(BadRequest):
    """Fields or inputs break a rule. `errors` lists every `field` with its `message`."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        super().__init__("Invalid inputs.", errors=[{"field": field, "message": message} for field, message in faults])


class UnrenderableAssets(BadRequest):
    """Media of a template cannot be fetched. `layers` lists each `layer` with its `reason`, at most 1,000 of them."""

    code = "unrenderable_assets"
    NAMED_MAX: ClassVar[int] = 1000

    def __init__(self, layers: Sequence[tuple[str, str]]) -> None:
        rest = f" The first {self.NAMED_MAX:,} of {len(layers):,} are listed." if len(layers) > self.NAMED_MAX else ""
        super().__init__(
            f"Some layers show media that the render service cannot fetch.{rest}",
            layers=[{"layer": layer, "reason": reason} for layer, reason in layers[: self.NAMED_MAX]],
        )


class NothingToExpose(BadRequest):
    """An imported project has no media layers."""

    code = "nothing_to_expose"

    def __init__(self) -> None:
        super().__init__(
            "The project has no media layers, so there is nothing to expose as an input. Publish it with POST /v1/templates "
            "or `./farm template add FILE`, which make inputs of texts, colours and numbers."
        )


class Unauthorized(FarmError):
    """A credential is missing, unknown, revoked or expired."""

    status = 401

    def __init__(
        self,
        message: str = "A credential is required: the header `Authorization: Bearer <API key or session token>` or "
        "`X-API-Key: <API key>`.",
    ) -> None:
        super().__init__(message)


class Forbidden(FarmError):
    """The credential does not allow this."""

    status = 403


class SessionRequired(Forbidden):
    """An API key called a session-only route."""

    code = "session_required"

    def __init__(self) -> None:
        super().__init__("API keys cannot manage keys. Sign in and use a session token.")


class InsufficientScope(Forbidden):
    """The key lacks the scope that `required` names."""

    code = "insufficient_scope"

    def __init__(self, required: str) -> None:
        super().__init__(f"This key lacks the scope {required}.", required=required)


class UpgradeRequired(Forbidden):
    """The plan does not include API access."""

    code = "upgrade_required"

    def __init__(self) -> None:
        super().__init__("This plan does not include API access. Change the plan to use API keys and to render.")


class KeyLimitReached(Forbidden):
    """The account has `limit` active keys already, as many as its plan allows."""

    code = "key_limit_reached"

    def __init__(self, limit: int) -> None:
        super().__init__(f"This plan allows {limit} active API keys. Revoke one to create another.", limit=limit)


class QuotaExceeded(Forbidden):
    """A quota is used up. `kind` is `render_minutes`, `api_requests` or `storage_bytes`; `limit` and `used` have the amounts."""

    code = "quota_exceeded"

    def __init__(self, kind: str, limit: float, used: float, message: str = "The monthly quota is reached.") -> None:
        super().__init__(message, kind=kind, limit=limit, used=used)


class NotFound(FarmError):
    """The resource does not exist, or belongs to another account."""

    status = 404


class Conflict(FarmError):
    """The state of the resource does not allow this, such as a download before the render is completed."""

    status = 409


class IdempotencyConflict(Conflict):
    """The Idempotency-Key was used with another request body."""

    code = "idempotency_conflict"

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key was used with another request body. Send a new key with each new request."
        )


class PayloadTooLarge(FarmError):
    """The request body is over the limit."""

    status = 413


class UploadTooLarge(PayloadTooLarge):
    """A file of `bytes` exceeds the `limit` of the plan."""

    code = "upload_too_large"

    def __init__(self, limit: int, size: int) -> None:
        given, allowed = in_words(size), in_words(limit)
        if given == allowed:
            given, allowed = f"{size:,} bytes", f"{limit:,}"
        super().__init__(f"The file has {given}; this plan allows {allowed}.", limit=limit, bytes=size)


class RateLimited(FarmError):
    """Too many requests. Try again after `retryAfterSeconds`."""

    status = 429
    code = "rate_limit_exceeded"

    def __init__(self, retry_after_seconds: int, message: str) -> None:
        super().__init__(message, retryAfterSeconds=retry_after_seconds)


class Unavailable(FarmError):
    """A component of the farm does not answer. Try again later."""

    status = 503

    def __init__(self, message: str = "The service is not available right now. Try again.") -> None:
        super().__init__(message)


class DatabaseTooSlow(Unavailable):
    """A statement of the request took longer than STATEMENT_SECONDS_MAX. A client that repeats it at once slows down others."""

    RETRY_SECONDS: ClassVar[int] = 30

    def __init__(self) -> None:
        super().__init__(
            "The database took too long for this request. Ask for less (a smaller page, a shorter period, no text search), or try "
            "again later. If it stays, tell the operator."
        )
