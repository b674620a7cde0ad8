"""Decode files with programs that share no code with the renderer: a separate build of FFmpeg, and Pillow."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import numpy.typing as npt
from PIL import Image

Frames = npt.NDArray[np.uint8]
"""RGBA of shape (frames, rows, columns, 4)."""
_TO_RGBA = "scale=in_color_matrix=bt709:in_range=tv:flags=accurate_rnd+full_chroma_int,format=rgba"


def ffmpeg(*words: str) -> bytes:
    """Run FFmpeg and return its standard output. Assert that it reports no error."""
    done = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *words], capture_output=True, check=True)
    assert done.stderr == b"", done.stderr.decode()
    return done.stdout


def video(path: Path, width: int, height: int) -> Frames:
    """Return every frame of a video, with alpha if it has one."""
    decoder = ["-c:v", "libvpx-vp9"] if path.suffix == ".webm" else []  # FFmpeg's own decoder of VP9 ignores alpha
    words = [*decoder, "-i", str(path), "-map", "0:v", "-vf", _TO_RGBA, "-fps_mode", "passthrough", "-f", "rawvideo"]
    return np.frombuffer(ffmpeg(*words, "-"), np.uint8).reshape(-1, height, width, 4)


def animation(path: Path) -> Frames:
    """Return every frame of a GIF or WebP."""
    return np.stack(list(_shown(path)))


def delays(path: Path) -> list[int]:
    """Return the duration of each frame of an animation, in milliseconds."""
    with Image.open(path) as image:
        found = []
        for index in range(_count(image)):
            image.seek(index)
            image.load()
            found.append(int(image.info["duration"]))
        return found


def sound(path: Path) -> npt.NDArray[np.float32]:
    """Return the sound of a file: (sample frames, 2) at 48 kHz."""
    words = ["-i", str(path), "-map", "0:a", "-f", "f32le", "-ac", "2", "-ar", "48000", "-"]
    return np.frombuffer(ffmpeg(*words), np.float32).reshape(-1, 2)


def streams(path: Path) -> str:
    """Return FFmpeg's description of a file's streams."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", str(path)]
    return subprocess.run(command, capture_output=True, check=False).stderr.decode()


def _count(image: Image.Image) -> int:
    return int(getattr(image, "n_frames", 1))


def _shown(path: Path) -> Iterator[Frames]:
    with Image.open(path) as image:
        for index in range(_count(image)):
            image.seek(index)
            yield np.asarray(image.convert("RGBA"))
