"""Base of all schemas: camelCase names outside, moments in UTC."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticKnownError, PydanticUseDefault

from farm_core.strict_json import RawObject
from motion.hints import Hints

Item = TypeVar("Item")

Faults = list[tuple[str, str]]
"""Fields of a request and what is wrong with each."""


class Shape(BaseModel):
    """A schema of the interface."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True)


class Asked(Shape):
    """A schema of a request: fields have only the names of the interface."""

    model_config = ConfigDict(populate_by_name=False)


class Body(Asked):
    """A request body: a field that it does not have is refused, with the nearest one that it has (api/errors.py)."""

    model_config = ConfigDict(extra="forbid")


def _object(value: object) -> object:
    if isinstance(value, dict | RawObject):
        return value
    raise PydanticKnownError("dict_type")


FreeForm = Annotated[dict[str, Any] | RawObject, PlainValidator(_object)]
"""An object in the editor's format. In a large body it is text."""


def _decimal(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,30}", value) is None:
        raise PydanticKnownError("int_parsing")
    return value


DECIMAL: Final = BeforeValidator(_decimal)
"""For integers of a query or a path: decimal digits. The framework also reads `5.0`, `1_0` and spaces. Bounds come before it:
the document has no `minimum` and `maximum` of bounds that come after it."""


def _default_of_null(value: object) -> object:
    if value is None:
        raise PydanticUseDefault
    return value


def or_null(accepted: Any) -> BeforeValidator:
    """Return the validator of a field that has a default: null stands for the default.

    Many tools send null for what a person left empty. `accepted`: the field's type.
    """
    return BeforeValidator(_default_of_null, json_schema_input_type=accepted | None)


def as_integer(value: object) -> object:
    """Return the integer that a number without a fraction stands for: in JSON Schema `1.0` is an integer. Others stay."""
    return int(value) if type(value) is float and value.is_integer() else value


INTEGER: Final = BeforeValidator(as_integer)
"""For integers of a body, before a strict type. Bounds come before it, as with DECIMAL."""


def field_hints(known: Iterable[str]) -> Hints:
    """Return hints for fields that a body does not have."""
    return Hints(known, 0.6)


def unknown_field(name: str, hints: Hints) -> str:
    """Return the fault of a field that a body does not have."""
    named = hints.nearest(name)
    return "is not a field of this request" + (f"; did you mean {named}?" if named else "")


def iso(moment: datetime) -> str:
    """Return the moment as ISO 8601 in UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def whole(number: float) -> float | int:
    """Return the number as an integer if it has no fraction."""
    return int(number) if number == int(number) else number


Moment = Annotated[
    datetime,
    PlainSerializer(iso, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]


Number = Annotated[
    float, PlainSerializer(whole, return_type=Any), WithJsonSchema({"type": "number"}, mode="serialization")
]
"""A number. Integers are written without a fraction."""


class Listed(Shape, Generic[Item]):
    """A page of a list."""

    items: list[Item]
    total: int = Field(ge=0, description="Number of all entries.")
    limit: int = Field(ge=1, le=100)
    offset: int = Field(ge=0)


class Deleted(Shape):
    """The object is deleted."""

    deleted: bool = True
