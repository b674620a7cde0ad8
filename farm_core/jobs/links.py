"""Addresses that a finished job gives out."""

from __future__ import annotations

from typing import Final

from farm_core.jobs.formats import file_name
from farm_core.settings import Settings
from farm_core.storage.port import Storage

LINK_SECONDS: Final = 7 * 24 * 3600
"""The one lifetime of a result's link, wherever it is shown. To store a result, use `/download`."""


def link_seconds(settings: Settings) -> int:
    """LINK_SECONDS, or as long as results are kept where that is shorter."""
    return min(LINK_SECONDS, round(settings.result_days * 24 * 3600))


def video_url(settings: Settings, storage: Storage, job_id: str, origin: str, video_key: str) -> str:
    """A signed address of the job's file that needs no credential and works for `link_seconds`."""
    return storage.link(video_key, link_seconds(settings), origin, file_name(job_id, video_key))
