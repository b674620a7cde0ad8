"""What a media file is, by its bytes, and the file ending that tells the renderer so."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import magic

ENDINGS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "image/gif": "gif",
    "image/svg+xml": "svg",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "video/quicktime": "mov",
    "video/x-m4v": "mp4",
}


def file_ending(path: Path) -> str | None:
    """The ending of a picture or video that can be drawn, None for anything else."""
    mime = magic.from_file(str(path), mime=True)
    if mime in ("text/xml", "application/xml", "text/plain", "text/html") and b"<svg" in path.read_bytes()[:4096]:
        return "svg"
    return ENDINGS.get(mime)
