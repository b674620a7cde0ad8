"""Create files of the eleven types in memory. The renderer's encoder writes the containers."""

from __future__ import annotations

import io
import math
import struct
import zlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np

from tests.api.world import picture

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="red"/></svg>'


@cache
def video(container: str, codec: str, size: tuple[int, int] = (64, 48)) -> bytes:
    """Return three frames in a container of the given extension."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"clip.{container}"
        with av.open(str(path), "w") as output:
            stream = output.add_stream(codec, rate=10)
            stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
            for _ in range(3):
                frame = av.VideoFrame.from_ndarray(np.zeros((size[1], size[0], 3), np.uint8), "rgb24")
                output.mux(stream.encode(frame))
            output.mux(stream.encode())
        return path.read_bytes()


@cache
def sound(container: str, codec: str) -> bytes:
    """Return a tone in a container of the given extension."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"tone.{container}"
        with av.open(str(path), "w", format={"m4a": "ipod"}.get(container, container)) as output:
            stream = output.add_stream(codec, rate=44100)
            samples = np.array([[math.sin(i / 20) * 0.3 for i in range(44100)]], np.float32)
            frame = av.AudioFrame.from_ndarray(samples, "fltp", "mono")
            frame.sample_rate = 44100
            resampler = av.AudioResampler(stream.format, "mono", 44100)
            for piece in resampler.resample(frame):
                output.mux(stream.encode(piece))
            output.mux(stream.encode())
        return path.read_bytes()


def files() -> dict[str, bytes]:
    """Return a file of each type, by type name."""
    return {
        "image/png": picture("PNG"),
        "image/jpeg": picture("JPEG"),
        "image/webp": picture("WEBP"),
        "image/gif": picture("GIF"),
        "image/svg+xml": SVG,
        "video/mp4": video("mp4", "libx264"),
        "video/webm": video("webm", "libvpx"),
        "video/quicktime": video("mov", "libx264"),
        "audio/mpeg": sound("mp3", "libmp3lame"),
        "audio/wav": sound("wav", "pcm_s16le"),
        "audio/mp4": sound("m4a", "aac"),
    }


def chunk(name: bytes, data: bytes = b"") -> bytes:
    """Return a chunk of a PNG file."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def huge_png(side_px: int = 60_000) -> bytes:
    """Return a small file that claims to be a picture of side_px by side_px pixels."""
    header = struct.pack(">IIBBBBB", side_px, side_px, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 100_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND")


def xml_bomb() -> bytes:
    """Return XML entities that would expand to gigabytes."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = f'<!DOCTYPE svg [<!ENTITY e0 "boom">{entities}]><svg xmlns="http://www.w3.org/2000/svg"><text>&e11;</text></svg>'
    return io.BytesIO(text.encode()).getvalue()
