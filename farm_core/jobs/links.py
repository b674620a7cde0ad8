"""Links to the files of a finished job."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from farm_core.formats import file_name
from farm_core.settings import Settings
from farm_core.storage.port import Storage

LINK_SECONDS: Final = 7 * 24 * 3600
"""Lifetime of every link to a result. Callers that store the video use `/download` instead."""

REPEAT_SECONDS: Final = 300
"""Links made within this time are equal, so that an unchanged list keeps its ETag."""


def link_expiry(settings: Settings, now: datetime, finished_at: datetime) -> int:
    """Return the expiry of a link made now (seconds since 1970): after LINK_SECONDS, or when the result is deleted if
    that is sooner."""
    expires_at = (now.timestamp() + LINK_SECONDS) // REPEAT_SECONDS * REPEAT_SECONDS
    deleted_at = finished_at + timedelta(days=settings.result_days)
    return int(min(expires_at, deleted_at.timestamp()))


def video_url(storage: Storage, job_id: str, video_key: str, origin: str, expires_at: int) -> str:
    """Return a signed URL of the job's file. It needs no credential and works until `expires_at` (`link_expiry`)."""
    return storage.link(video_key, expires_at, origin, file_name(job_id, video_key))
