"""Shape of the usage record."""

from __future__ import annotations

from pydantic import Field

from api.shapes import Number, Shape


class AccountLimits(Shape):
    """Limits of the account; null is unlimited."""

    api_enabled: bool = Field(description="False means keys do not work.")
    monthly_render_minutes: Number | None
    monthly_api_requests: int | None
    max_active_api_keys: int | None
    max_upload_bytes: int | None


class UsageRecord(Shape):
    """Usage of the account in this UTC month."""

    period: str = Field(pattern=r"^\d{4}-\d{2}$", description="YYYY-MM")
    render_jobs: int
    render_duration_ms: int
    rendered_minutes: Number = Field(description="Output duration committed by finished renders.")
    reserved_render_minutes: Number = Field(description="Held by jobs that are queued or processing.")
    api_requests: int
    asset_processing_bytes: int
    active_api_keys: int
    limits: AccountLimits
