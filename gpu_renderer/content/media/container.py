"""Opening media files: as one of the formats that the farm accepts, and from that file alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import av

_OPTIONS: Final = {
    "format_whitelist": "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mp3,wav,gif",
    "protocol_whitelist": "file",
}
"""Without these, a file that looks like a playlist or a session description makes libav open other files and addresses."""


def opened(path: Path) -> av.container.InputContainer:
    """The file's container. Raises av.FFmpegError where it has another format or is damaged, OSError where it is not there."""
    return av.open(str(path), options=dict(_OPTIONS))
