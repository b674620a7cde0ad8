"""Shapes of API keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AwareDatetime, BeforeValidator, ConfigDict, Field, StringConstraints

from api.shapes import Body, Moment, Shape, or_null
from farm_core.accounts.scopes import DEFAULT_SCOPES, Scope

NAME_LENGTH_MAX = 80


def _moment(value: object) -> object:
    """Return the moment of an ISO 8601 text, which is in UTC if it names no offset. The framework would accept numbers too."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value.upper() if isinstance(value, str) else "")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be an ISO 8601 date and time, such as 2030-01-31T12:00:00Z") from None


_Scopes = Annotated[list[Scope], Field(max_length=64)]


class KeyRequest(Body):
    """Properties of a new key."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "CI", "scopes": ["renders:read", "renders:write"]}]}
    )

    name: Annotated[str, or_null(str)] = Field("API key", description="Truncated to 80 characters.")
    scopes: Annotated[_Scopes, or_null(_Scopes)] = Field(default_factory=lambda: list(DEFAULT_SCOPES))
    expires_at: Annotated[AwareDatetime | None, BeforeValidator(_moment)] = Field(
        None, description="A time in the future, in UTC if it has no offset. Without it the key does not expire."
    )


DEFAULT_KEY: Final = KeyRequest()
"""Every field may be left out, and so may the body."""


class KeySummary(Shape):
    """A key without its secret."""

    id: str
    name: str
    prefix: str = Field(description="The first characters of the key.")
    scopes: list[Scope]
    created_at: Moment
    last_used_at: Moment | None
    request_count: int
    expires_at: Moment | None
    revoked_at: Moment | None


class NewKey(KeySummary):
    """A new key. Its secret is shown only here."""

    secret: Annotated[str, StringConstraints(min_length=48, max_length=48)]


class Revoked(Shape):
    """The key no longer works."""

    revoked: bool = True
