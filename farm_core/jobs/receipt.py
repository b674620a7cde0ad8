"""The receipt beside an MP4: everything that its bytes depend on, so that they can be made again and compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from farm_core.jobs.models import Job, Task

VERSION = 1


def receipt(
    job: Job, segments: Sequence[Task], segments_sha256: Sequence[str], video_sha256: str, video_bytes: int
) -> dict[str, Any]:
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
            {
                "firstFrame": task.first_frame,
                "frames": task.frame_count,
                "key": task.segment_key,
                "sha256": sha256,
                "cached": bool((task.report or {}).get("cached")),
                "stagesMs": (task.report or {}).get("stages_ms", {}),
            }
            for task, sha256 in zip(segments, segments_sha256, strict=True)
        ],
    }
