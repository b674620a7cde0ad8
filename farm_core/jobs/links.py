"""Addresses that a finished job gives out."""

from __future__ import annotations

from farm_core.storage.port import Storage

LINK_SECONDS = 7 * 24 * 3600


def video_url(storage: Storage, job_id: str, origin: str, video_key: str) -> str:
    """A signed address of the job's MP4 that needs no credential and works for a week."""
    return storage.link(video_key, LINK_SECONDS, origin, f"{job_id}.mp4")
