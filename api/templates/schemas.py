"""Shapes of templates."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictBool, StringConstraints, WithJsonSchema

from api.shapes import Asked, Body, FreeForm, Moment, Number, Shape, or_null
from api.templates.drafts import FPS_MAX, INPUTS_MAX, SECONDS_MAX, SIDE_MAX
from motion.template import Kind

NAME_LENGTH_MAX = 120
DESCRIPTION_LENGTH_MAX = 500
LABEL_LENGTH_MAX = 500
VERSION_MAX = 2**31 - 1
ID_PATTERN = r"^[a-z][a-zA-Z0-9]{0,63}$"

_SHOWN_LENGTH = 80


_ID: dict[str, Any] = {"type": "string", "pattern": ID_PATTERN}


def _id(text: str) -> str:
    if not re.fullmatch(ID_PATTERN, text):
        shown = text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}..."
        raise ValueError(f"{shown!r} is not an input id: it must match /{ID_PATTERN}/")
    return text


class TemplateInput(Asked):
    """A value that can differ in each render."""

    id: Annotated[str, AfterValidator(_id), WithJsonSchema(_ID)] = Field(description="The key to send in `inputs`.")
    label: str = Field(max_length=LABEL_LENGTH_MAX)
    kind: Kind
    required: StrictBool | None = Field(None, description="True by default for `image` and `media`.")
    default: str | None = Field(None, description="Public URL of the layer's source.")


def _distinct(inputs: list[TemplateInput]) -> list[TemplateInput]:
    ids = [one.id for one in inputs]
    repeated = sorted({id_ for id_ in ids if ids.count(id_) > 1})
    if repeated:
        raise ValueError(f"Input ids must differ; repeated: {', '.join(repeated)}")
    return inputs


_DOCUMENT: dict[str, Any] = {
    "type": "object",
    "description": "The full editor document snapshot.",
    "required": ["scene"],
    "properties": {
        "scene": {
            "type": "object",
            "required": ["nodes"],
            "properties": {"nodes": {"type": "array", "items": {}}},  # what is no record is skipped
        }
    },
}


_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Content(Body):
    description: str | None = Field(None, description="Truncated to 500 characters.")
    document: Annotated[FreeForm, WithJsonSchema(_DOCUMENT)]
    inputs: Annotated[list[TemplateInput], AfterValidator(_distinct)] = Field(max_length=INPUTS_MAX)
    width: Annotated[float, Field(gt=0, le=SIDE_MAX, allow_inf_nan=False, strict=True)]
    height: Annotated[float, Field(gt=0, le=SIDE_MAX, allow_inf_nan=False, strict=True)]
    fps: Annotated[float, Field(gt=0, le=FPS_MAX, allow_inf_nan=False, strict=True)]
    duration_seconds: Annotated[float, Field(gt=0, le=SECONDS_MAX, allow_inf_nan=False, strict=True)]
    project_id: str | None = Field(None, max_length=200)


class TemplateRequest(_Content):
    """A template to publish."""

    name: _Name = Field(description="Truncated to 120 characters.")


class ReplacementRequest(_Content):
    """A new version of a template."""

    name: _Name | None = Field(None, description="Truncated to 120 characters. Left out, the template keeps its name.")
    keep_choices: Annotated[StrictBool, or_null(StrictBool)] = Field(
        False,
        description="Keep labels that differ from the former document, and leave out inputs that the former version left out.",
    )


class ShownInput(Shape):
    """An input of a stored template."""

    id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    label: str
    kind: Kind
    required: bool
    default: str | None = Field(None, exclude_if=lambda value: value is None)


class TemplateRecord(Shape):
    """A template, without the write targets of its inputs."""

    id: str
    name: str
    description: str | None
    width: Number
    height: Number
    fps: Number
    duration_seconds: Number
    inputs: list[ShownInput]
    version: int = Field(
        1,
        exclude_if=lambda value: value == 1,
        description="Extension: the number of versions, once the template has been replaced.",
    )
    created_at: Moment
    updated_at: Moment


class ImportedTemplate(TemplateRecord):
    """A template that was imported or replaced, with warnings for its author."""

    required_inputs: list[str] = Field(description="Ids of the inputs that every render must supply.")
    warnings: list[str]


class VersionRecord(Shape):
    """A former version of a template, which can be restored."""

    version: int
    width: Number
    height: Number
    fps: Number
    duration_seconds: Number
    inputs: list[ShownInput]
    replaced_at: Moment


IMPORT_FORM: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"},
                    "name": {"type": "string", "description": "The composition's name when left out."},
                    "description": {"type": "string"},
                    "compId": {"type": "string", "description": "The project's active composition when left out."},
                    "includeText": {"type": "string", "enum": ["true", "false"], "default": "false"},
                },
            }
        }
    },
}
