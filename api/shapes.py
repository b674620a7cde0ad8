"""What schemas share: camelCase names outside, moments in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema
from pydantic.alias_generators import to_camel

Item = TypeVar("Item")


class Shape(BaseModel):
    """A schema of the interface."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True)


class Asked(Shape):
    """A schema of what callers send: fields have the interface's names, and no others."""

    model_config = ConfigDict(populate_by_name=False)


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def whole(number: float) -> float | int:
    """The number, without a fraction where it has none."""
    return int(number) if number == int(number) else number


Moment = Annotated[datetime, PlainSerializer(iso, return_type=str)]


Number = Annotated[
    float, PlainSerializer(whole, return_type=Any), WithJsonSchema({"type": "number"}, mode="serialization")
]
"""A number that is written without a fraction where it has none."""


class Listed(Shape, Generic[Item]):
    """A page of a list."""

    items: list[Item]
    total: int = Field(ge=0, description="How many there are in all.")
    limit: int = Field(ge=1, le=100)
    offset: int = Field(ge=0)


class Deleted(Shape):
    """What was asked for is gone."""

    deleted: bool = True
