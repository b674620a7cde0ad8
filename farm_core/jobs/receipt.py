"""Receipt of a video: what it was rendered from, and the hashes of its segments.

Together with format and composition, which are in the job's row and its template, the video can be rendered again and compared
(`./farm verify`). The worker that assembles the video stores the receipt beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

VERSION = 1


@dataclass(frozen=True, slots=True)
class RenderedJob:
    """A job with all segments done. `segments` are JSON objects in order, without hashes."""

    id: str
    renderer: str | None
    width: int
    height: int
    fps: float
    frame_count: int
    document_key: str | None
    inputs: Mapping[str, Any]
    media: Mapping[str, str] | None
    segments: Sequence[Mapping[str, Any]]


def receipt_key(video_key: str) -> str:
    """Return the storage key of a video's receipt."""
    return f"{video_key.rpartition('.')[0]}.json"


def receipt(job: RenderedJob, segments_sha256: Sequence[str], video_sha256: str, video_bytes: int) -> bytes:
    """Return the receipt as JSON. The keys of document and media contain the SHA-256 of their content."""
    record = {
        "version": VERSION,
        "jobId": job.id,
        "renderer": job.renderer,
        "output": {"width": job.width, "height": job.height, "fps": job.fps, "frames": job.frame_count},
        "document": job.document_key,
        "inputs": job.inputs,
        "media": job.media or {},
        "video": {"sha256": video_sha256, "bytes": video_bytes},
        "segments": [
            {**segment, "sha256": sha256} for segment, sha256 in zip(job.segments, segments_sha256, strict=True)
        ],
    }
    return orjson.dumps(record)
