"""Streams and tags of sounds and videos, as the library that decodes them sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from farm_core.assets.faults import NotRenderable

TAGS_MAX: Final = 1_000
"""Maximum number of tags of a file. Real files have less than a hundred. 20,000 occupy a worker for seconds each time the file is opened:
libraries compare each tag with all those before it, in one call that cannot be interrupted."""

_OPTIONS: Final = {"format_whitelist": "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mp3,wav", "protocol_whitelist": "file"}


def check_streams(path: Path) -> None:
    """Raise NotRenderable for too many tags, and for a first video or sound without a decoder.

    A file that the library cannot open passes: the renderer leaves it out.
    """
    import av  # noqa: PLC0415 - only the sandbox examines files

    try:
        with av.open(str(path), options=dict(_OPTIONS), metadata_errors="replace") as container:
            shown = next(iter(container.streams.video or container.streams.audio), None)
            is_unknown = shown is not None and shown.codec_context is None
            count = len(container.metadata) + sum(len(stream.metadata) for stream in container.streams)
    except (av.FFmpegError, ValueError):
        return
    if is_unknown:
        raise NotRenderable("its codec is not supported. Convert videos to H.264 and sounds to AAC")
    if count > TAGS_MAX:
        raise NotRenderable(
            f"it has {count:,} tags, such as titles and comments; at most {TAGS_MAX:,} can be read. Remove some"
        )
