"""A client of the render farm's API."""

from render_farm_client.asynchronous import AsyncFarmClient
from render_farm_client.client import FarmClient
from render_farm_client.errors import ApiError, NoAnswer, RenderFailed
from render_farm_client.models import Asset, Batch, BatchRow, Job, Template, TemplateInput, TemplateVersion, Validation

__all__ = [
    "ApiError",
    "Asset",
    "AsyncFarmClient",
    "Batch",
    "BatchRow",
    "FarmClient",
    "Job",
    "NoAnswer",
    "RenderFailed",
    "Template",
    "TemplateInput",
    "TemplateVersion",
    "Validation",
]
