"""Addresses that a finished job gives out."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from farm_core.jobs.formats import file_name
from farm_core.settings import Settings
from farm_core.storage.port import Storage

LINK_SECONDS: Final = 7 * 24 * 3600
"""The one lifetime of a result's link, wherever it is shown. To store a result, use `/download`."""

REPEAT_SECONDS: Final = 300
"""Links made within this time are equal, so that an unchanged list keeps its ETag."""


def link_expiry(settings: Settings, now: datetime, finished_at: datetime) -> int:
    """Return when a link made now expires, in seconds since 1970: after LINK_SECONDS, or with the result if that is sooner."""
    expires_at = (now.timestamp() + LINK_SECONDS) // REPEAT_SECONDS * REPEAT_SECONDS
    deleted_at = finished_at + timedelta(days=settings.result_days)
    return int(min(expires_at, deleted_at.timestamp()))


def video_url(
    settings: Settings, storage: Storage, job_id: str, origin: str, video_key: str, now: datetime, finished_at: datetime
) -> str:
    """Return a signed address of the job's file that needs no credential and works until `link_expiry`."""
    return storage.link(video_key, link_expiry(settings, now, finished_at), origin, file_name(job_id, video_key))
