"""Formats of finished renders. `gpu_renderer/encode/formats.py` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """An output format, with the name that requests and `OUTPUT_FORMATS` use."""

    name: str
    ending: str
    media_type: str
    has_alpha: bool = False
    has_sound: bool = False
    fps_max: float | None = None


DEFAULT: Final = "mp4"
OUTPUT_FORMATS: Final[Mapping[str, OutputFormat]] = MappingProxyType(
    {
        output_format.name: output_format
        for output_format in (
            OutputFormat("mp4", ".mp4", "video/mp4", has_sound=True),
            OutputFormat("mp4-h265", ".mp4", "video/mp4", has_sound=True),
            OutputFormat("mp4-av1", ".mp4", "video/mp4", has_sound=True),
            OutputFormat("webm", ".webm", "video/webm", has_alpha=True, has_sound=True),
            OutputFormat("mov", ".mov", "video/quicktime", has_alpha=True, has_sound=True),
            OutputFormat("gif", ".gif", "image/gif", has_alpha=True, fps_max=50.0),
            OutputFormat("webp", ".webp", "image/webp", has_alpha=True),
            OutputFormat("png-sequence", ".zip", "application/zip", has_alpha=True, has_sound=True),
            OutputFormat("jpg-sequence", ".zip", "application/zip", has_sound=True),
        )
    }
)


def file_name(job_id: str, video_key: str) -> str:
    """Return the file name for downloads of a finished render."""
    return f"{job_id}.{video_key.rpartition('.')[2]}"
