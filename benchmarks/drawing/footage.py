"""Media for the scenes, made once: a H.264 video with a key frame every two seconds."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

FPS = 30


def footage(folder: Path, width: int, height: int, seconds: float = 10.0) -> Path:
    """Return a video of drifting light over a grainy wall, with a soft ball that bounces."""
    path = folder / f"footage-{width}x{height}.mp4"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part.mp4")
    with av.open(str(part), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"preset": "veryfast", "crf": "20"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.gop_size = 2 * FPS
        stream.codec_context.colorspace, stream.codec_context.color_range = 1, 1
        wall = _wall(width, height)
        for index in range(round(seconds * FPS)):
            frame = av.VideoFrame.from_ndarray(_picture(wall, index / FPS), format="rgb24")
            container.mux(stream.encode(frame.reformat(format="yuv420p", dst_colorspace="ITU709")))
        container.mux(stream.encode(None))
    part.replace(path)
    return path


def _wall(width: int, height: int) -> npt.NDArray[np.float32]:
    rough = np.random.default_rng(3).random((height // 8 + 1, width // 8 + 1, 1), dtype=np.float32)
    grain = np.kron(rough, np.ones((8, 8, 1), np.float32))[:height, :width]
    return (90 + 50 * grain).astype(np.float32)


def _picture(wall: npt.NDArray[np.float32], seconds: float) -> npt.NDArray[np.uint8]:
    height, width = wall.shape[:2]
    x = np.linspace(0, 1, width, dtype=np.float32)[None, :, None]
    y = np.linspace(0, 1, height, dtype=np.float32)[:, None, None]
    light = 0.6 + 0.4 * np.sin(6 * x + 1.3 * seconds) * np.cos(4 * y - 0.7 * seconds)
    ball = np.exp(-((x - 0.5 - 0.4 * np.sin(seconds)) ** 2 * 3 + (y - 0.5 - 0.3 * np.cos(2 * seconds)) ** 2) * 60)
    tint = np.array([1.0, 0.85, 0.7], np.float32)
    picture = wall * light * tint + ball * np.array([60.0, 120.0, 200.0], np.float32)
    pixels: npt.NDArray[np.uint8] = np.clip(picture, 0, 255).astype(np.uint8)
    return pixels
