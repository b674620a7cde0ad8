"""Videos whose pictures are too large are refused before a picture is decoded, whatever size their container states."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import av

from gpu_renderer.errors import MediaUndecodable

PIXELS_MAX: Final = 36_000_000
"""8192 x 4320, and a little more."""


_CONFINED: Final = {
    "format_whitelist": "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mp3,wav,gif",
    "protocol_whitelist": "file",
}
"""Without these, a file that looks like a playlist or a session description makes libav open other files and addresses."""


def opened(path: Path) -> av.container.InputContainer:
    """Open a file as one of the accepted formats, with decoders that refuse larger pictures. Raises MediaUndecodable for a stream that states a larger size."""
    options = {"max_pixels": str(PIXELS_MAX), **_CONFINED}
    container = av.open(str(path), options=options, metadata_errors="replace")  # tags are of any encoding
    try:
        for stream in container.streams.video:
            limit(stream.codec_context)
            _check(stream.codec_context)
    except BaseException:
        container.close()
        raise
    return container


def limit(codec: av.VideoCodecContext) -> None:
    """Let a decoder that is not open yet refuse larger pictures: a stream can change its size anywhere."""
    if not codec.is_open:
        codec.options = {**codec.options, "max_pixels": str(PIXELS_MAX)}


def _check(codec: av.VideoCodecContext) -> None:
    if codec.width * codec.height > PIXELS_MAX:
        raise MediaUndecodable(
            f"a video of {codec.width} x {codec.height} pixels",
            f"A video's pictures have {codec.width} x {codec.height} pixels; at most {PIXELS_MAX:,} can be drawn.",
        )
