"""MP3 and WAV files."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

from farm_core.assets.faults import NotRenderable

_HEAD_BYTES: Final = 256 * 1024
_FRAMES: Final = 3
_BITRATES_1: Final = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_BITRATES_2: Final = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_RATES: Final = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_LAYER_3: Final = 1


def read_mp3(path: Path) -> str:
    """Return `audio/mpeg` if layer III frames follow one another. Raises NotRenderable."""
    with path.open("rb") as file:
        file.seek(_id3_bytes(file.read(10)))
        data = file.read(_HEAD_BYTES)
    start = next((at for at in range(min(len(data), 4096)) if _frame_bytes(data, at)), None)
    for _ in range(_FRAMES):
        size = None if start is None else _frame_bytes(data, start)
        if start is None or not size:
            raise NotRenderable("the bytes are not MP3 frames")
        start += size
        if start >= len(data):
            break
    return "audio/mpeg"


def read_wav(path: Path) -> str:
    """Return `audio/wav` if the file has a format and samples. Raises NotRenderable."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE":
        raise NotRenderable("the bytes are not WAV")
    chunks = {}
    start = 12
    while start + 8 <= len(head) and b"data" not in chunks:
        name, size = struct.unpack("<4sI", head[start : start + 8])
        chunks[name] = head[start + 8 : start + 8 + min(size, 64)]
        start += 8 + size + (size & 1)
    if len(chunks.get(b"fmt ", b"")) < 16 or b"data" not in chunks:
        raise NotRenderable("the WAV file is damaged")
    channels, rate = struct.unpack("<HI", chunks[b"fmt "][2:8])
    if not 1 <= channels <= 64 or not 1 <= rate <= 768_000:
        raise NotRenderable("the WAV file is damaged")
    return "audio/wav"


def _id3_bytes(head: bytes) -> int:
    """Return the size of an ID3v2 tag. Its header stores the size with seven bits per byte."""
    if head[:3] != b"ID3" or len(head) < 10:
        return 0
    size = 0
    for byte in head[6:10]:
        size = size << 7 | byte & 0x7F
    return 10 + size


def _frame_bytes(data: bytes, start: int) -> int | None:
    """Return the length of the layer III frame that starts here, or None if there is none (ISO/IEC 11172-3, 2.4.1.3)."""
    if start + 4 > len(data) or data[start] != 0xFF or data[start + 1] & 0xE0 != 0xE0:
        return None
    version, layer = data[start + 1] >> 3 & 3, data[start + 1] >> 1 & 3
    bitrate_index, rate_index = data[start + 2] >> 4, data[start + 2] >> 2 & 3
    if version == 1 or layer != _LAYER_3 or bitrate_index in (0, 15) or rate_index == 3:
        return None
    bitrate = (_BITRATES_1 if version == 3 else _BITRATES_2)[bitrate_index] * 1000
    padding = data[start + 2] >> 1 & 1
    return (144 if version == 3 else 72) * bitrate // _RATES[version][rate_index] + padding
