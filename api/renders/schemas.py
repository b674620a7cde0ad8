"""Shapes of renders."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, WithJsonSchema

from api.documentation import Fault
from api.shapes import INTEGER, Asked, Moment, Number, Shape
from farm_core.accounts.models import PRIORITY_MAX
from farm_core.jobs.status import JobStatus

SIDE_MIN: Final = 64
SIDE_MAX: Final = 4096
PIXELS_MAX: Final = 16_000_000
FPS_MAX: Final = 120

OUTPUT: Final = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "format": {"type": ["string", "null"], "enum": ["mp4", None]},
                "width": {"type": ["integer", "null"], "minimum": SIDE_MIN, "maximum": SIDE_MAX},
                "height": {"type": ["integer", "null"], "minimum": SIDE_MIN, "maximum": SIDE_MAX},
                "fps": {"type": ["integer", "null"], "minimum": 1, "maximum": FPS_MAX},
            },
            "additionalProperties": False,
        },
        {"type": "null"},
    ],
    "description": "Size and frame rate, by default the template's own. Width times height is at most 16 megapixels.",
}
INPUTS: Final = {
    "type": "object",
    "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "number"}]},
    "description": "Values by input id, of the types that the template's inputs declare.",
}
CALLBACK: Final = {
    "anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}],
    "description": "Public http(s) URL that gets one webhook when the render ends.",
}
METADATA_BYTES_MAX: Final = 4096
METADATA: Final = {
    "anyOf": [{"type": "object", "additionalProperties": True}, {"type": "null"}],
    "description": f"Extension: an object of the caller's own, at most {METADATA_BYTES_MAX} bytes of JSON; returned with the job.",
}
PRIORITY: Final = {
    "anyOf": [{"type": "integer", "minimum": -PRIORITY_MAX, "maximum": PRIORITY_MAX}, {"type": "null"}],
    "description": "Extension: renders of a higher priority come first among those of the account, a step for each day of "
    "waiting. At most the account's own, which the operator sets and which is the default; 0 for new accounts.",
}
_TEMPLATE_ID: Final = {"type": "string", "description": "A template of the caller's account."}


class RenderRequest(Asked):
    """A render to create. All faults are reported at once."""

    # Fields have any type, so that `rules.py` finds all faults at once.

    model_config = ConfigDict(
        extra="allow",  # to be named with all other faults
        json_schema_extra={
            "required": ["templateId", "inputs"],
            "additionalProperties": False,
            "examples": [
                {
                    "templateId": "tpl_0mwp2m4bexso1mmxmmmb6n",
                    "inputs": {"headline": "Hello", "logo": "https://media.example.com/logo.png"},
                    "output": {"width": 1280, "height": 720, "fps": 30},
                    "callbackUrl": "https://example.com/render-finished",
                }
            ],
        },
    )

    template_id: Annotated[Any, WithJsonSchema(_TEMPLATE_ID)] = Field(default_factory=lambda: None)
    inputs: Annotated[Any, WithJsonSchema(INPUTS)] = Field(default_factory=lambda: None)
    output: Annotated[Any, WithJsonSchema(OUTPUT)] = None
    callback_url: Annotated[Any, WithJsonSchema(CALLBACK)] = None
    metadata: Annotated[Any, WithJsonSchema(METADATA)] = None
    priority: Annotated[Any, INTEGER, WithJsonSchema(PRIORITY)] = None


class JobState(Shape):
    """Identifier and current status of a job."""

    job_id: str
    status: JobStatus


class JobWarning(Shape):
    """One thing that the video leaves out or shows differently from its document."""

    code: str = Field(description="Stable, for programs.", examples=["font_substituted"])
    message: str = Field(description="For people.")
    layer: str | None = Field(None, description="The layer's name.", exclude_if=lambda value: value is None)


class JobRecord(Shape):
    """A render job."""

    job_id: str
    status: JobStatus
    progress: Number = Field(ge=0, le=100)
    video_url: str | None
    error: str | None
    created_at: Moment
    warnings: list[JobWarning] = Field(
        default_factory=list, exclude_if=lambda value: not value,
        description="Extension: what the video leaves out. Missing if it leaves out nothing.",
    )  # fmt: skip
    metadata: dict[str, Any] | None = Field(
        None, exclude_if=lambda value: value is None, description="Extension: the request's `metadata`, if it had one."
    )


class Validation(Shape):
    """Cost and faults of a render that is not created."""

    valid: bool
    errors: list[Fault]
    render_minutes: Number = Field(description="Minutes that the render would reserve.")
    remaining_minutes: Number | None = Field(description="Minutes of the month that are left; null without a limit.")
    expected_seconds: Number | None = Field(
        description="Expected time of the render without a queue, from the account's last renders; null if unknown."
    )
    warnings: list[JobWarning] = Field(description="What the video would leave out, as far as known without drawing.")
