"""Shapes of animation presets."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints, WithJsonSchema

from api.shapes import Body, FreeForm, Moment, Shape


class PresetRequest(Body):
    """A preset to publish; an existing name is replaced."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Bounce", "animationData": {"tracks": []}}]})

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    animation_data: Annotated[FreeForm, WithJsonSchema({"type": "object", "additionalProperties": True})] = Field(
        description="The preset's payload."
    )


class PresetRow(Shape):
    """A preset in a list."""

    id: str
    name: str
    version: int
    created_at: Moment
    updated_at: Moment


class PresetRecord(PresetRow):
    """A preset."""

    animation_data: dict[str, Any]
