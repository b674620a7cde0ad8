"""Shapes of batches."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, StrictBool, StrictStr, WithJsonSchema

from api.documentation import Fault
from api.renders.schemas import CALLBACK, INPUTS, METADATA, OUTPUT, PRIORITY, JobWarning
from api.shapes import INTEGER, Asked, Body, Moment, Number, Shape, or_null
from farm_core.jobs.status import JobStatus

ROWS_MAX: Final = 1000


class BatchRow(Asked):
    """One render of a batch."""

    # Unknown fields are named with the other faults.
    model_config = ConfigDict(extra="allow", json_schema_extra={"additionalProperties": False})

    inputs: Annotated[Any, WithJsonSchema(INPUTS)] = Field(default_factory=dict)
    metadata: Annotated[Any, WithJsonSchema(METADATA)] = None


class BatchRequest(Body):
    """Renders of one template with the same output and callback. All rows are checked before the first one is queued."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "templateId": "tpl_0mwp2m4bexso1mmxmmmb6n",
                    "rows": [{"inputs": {"headline": "Ada"}, "metadata": {"line": 1}}, {"inputs": {"headline": "Bob"}}],
                    "output": {"width": 1280, "height": 720},
                }
            ]
        }
    )

    template_id: StrictStr = Field(description="A template of the caller's account.")
    rows: list[BatchRow] = Field(min_length=1, max_length=ROWS_MAX)
    output: Annotated[Any, WithJsonSchema(OUTPUT)] = None
    callback_url: Annotated[Any, WithJsonSchema(CALLBACK)] = None
    priority: Annotated[Any, INTEGER, WithJsonSchema(PRIORITY)] = None
    partial: Annotated[StrictBool, or_null(StrictBool)] = Field(
        False, description="Queue the rows without faults even if others have some."
    )


class BatchItem(Shape):
    """A row of a batch: its job, or the faults for which it was refused."""

    index: int = Field(ge=0, description="The row's place in the request.")
    status: JobStatus | Literal["refused"]
    job_id: str | None = None
    progress: Number = Field(0, ge=0, le=100)
    video_url: str | None = None
    error: str | None = None
    errors: list[Fault] = Field(default_factory=list, description="Faults of a refused row.")
    warnings: list[JobWarning] = Field(default_factory=list)
    metadata: dict[str, Any] | None = None


class BatchTotals(Shape):
    """Number of rows in each state."""

    queued: int
    processing: int
    completed: int
    failed: int
    cancelled: int
    refused: int


class BatchRecord(Shape):
    """A batch, and a page of its rows: first those with a job, then the refused ones."""

    batch_id: str
    template_id: str
    status: Literal["running", "ended"]
    progress: Number = Field(ge=0, le=100)
    totals: BatchTotals
    created_at: Moment
    items: list[BatchItem]
    total: int
    limit: int
    offset: int


class BatchCancelled(Shape):
    """Number of renders of a batch that this request cancelled."""

    batch_id: str
    cancelled: int
