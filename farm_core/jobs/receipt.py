"""The receipt beside an MP4: everything that its bytes depend on, so that they can be made again and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

VERSION = 1


@dataclass(frozen=True, slots=True)
class RenderedJob:
    """A job whose segments are all done. `segments` are JSON, in order, without their hashes."""

    id: str
    origin: str
    renderer: str | None
    width: int
    height: int
    fps: float
    frame_count: int
    document_key: str | None
    inputs: Mapping[str, Any]
    media: Mapping[str, str] | None
    segments: Sequence[Mapping[str, Any]]


def receipt(job: RenderedJob, segments_sha256: Sequence[str], video_sha256: str, video_bytes: int) -> dict[str, Any]:
    """The receipt as JSON. Keys of storage hold the SHA-256 of what lies there: document and media are named by content."""
    return {
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
