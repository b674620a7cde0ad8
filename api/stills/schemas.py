"""Shapes of requests for stills."""

from __future__ import annotations

from json import JSONDecodeError
from typing import Annotated, Any, Final, Literal

from annotated_types import Ge, Le
from fastapi import Query
from pydantic import ConfigDict, Field, StrictInt, WithJsonSchema

from api.json import strict_value
from api.renders.schemas import INPUTS
from api.shapes import DECIMAL, INTEGER, Body, or_null
from farm_core.errors import InvalidInputs
from farm_core.stills.options import SIDE_MAX, WIDTH_DEFAULT, WIDTH_MIN

Format = Literal["png", "jpeg", "webp"]

TimeQuery = Annotated[float | None, Query(ge=0, allow_inf_nan=False, description="Moment in seconds.")]
FrameQuery = Annotated[
    Annotated[int, Ge(0), DECIMAL] | None, Query(description="Frame number from 0, instead of a time.")
]
WidthQuery = Annotated[
    Annotated[int, Ge(WIDTH_MIN), Le(SIDE_MAX), DECIMAL] | None,
    Query(description=f"Width in pixels; {WIDTH_DEFAULT} when left out."),
]
InputsQuery = Annotated[
    str | None, Query(description='Values by input id, as a JSON object such as `{"headline": "Hello"}`.')
]
FormatQuery = Annotated[Format, Query(description="File format of the picture.")]
SpriteQuery = Annotated[
    bool, Query(description="A contact sheet of up to 25 frames in rows of 5, each `width` (160) pixels wide.")
]

PICTURE: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The picture.",
        "content": {
            f"image/{name}": {"schema": {"type": "string", "format": "binary", "contentMediaType": f"image/{name}"}}
            for name in ("png", "jpeg", "webp")
        },
    }
}


_Frame = Annotated[StrictInt, Ge(0)]
_Width = Annotated[StrictInt, Ge(WIDTH_MIN), Le(SIDE_MAX)]


class StillRequest(Body):
    """A still with inputs. With neither time nor frame it shows the frame at a third of the duration."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"time": 1.5, "inputs": {"headline": "Hello"}, "width": 640, "format": "png"}]}
    )

    inputs: Annotated[Any, WithJsonSchema(INPUTS)] = Field(default_factory=dict)
    time: Annotated[float | None, Field(ge=0, strict=True, allow_inf_nan=False, description="Moment in seconds.")] = (
        None
    )
    frame: Annotated[_Frame | None, INTEGER] = Field(None, description="Frame number from 0, instead of a time.")
    width: Annotated[_Width | None, INTEGER] = Field(None, description="Width in pixels.")
    format: Annotated[Format, or_null(Format)] = "png"


def queried_inputs(text: str | None) -> Any:
    """Return the inputs that a query names in JSON; None if it names none. Raises InvalidInputs."""
    if text is None:
        return None
    try:
        return strict_value(text.encode())
    except JSONDecodeError as error:
        raise InvalidInputs([("inputs", 'must be a JSON object, such as {"headline": "Hello"}')]) from error
