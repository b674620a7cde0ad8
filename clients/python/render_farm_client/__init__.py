"""A client of the render farm's API."""

from render_farm_client.asynchronous import AsyncFarmClient
from render_farm_client.client import FarmClient
from render_farm_client.errors import ApiError, NoAnswer, RenderFailed
from render_farm_client.models import (
    ApiKey,
    Asset,
    Batch,
    BatchRow,
    Job,
    Preset,
    Template,
    TemplateInput,
    TemplateVersion,
    Validation,
)

__all__ = [
    "ApiError",
    "ApiKey",
    "Asset",
    "AsyncFarmClient",
    "Batch",
    "BatchRow",
    "FarmClient",
    "Job",
    "NoAnswer",
    "Preset",
    "RenderFailed",
    "Template",
    "TemplateInput",
    "TemplateVersion",
    "Validation",
]
