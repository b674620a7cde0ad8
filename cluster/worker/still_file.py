"""Encode frames as one picture file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from PIL import Image

_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "png": {"compress_level": 3},
    "jpeg": {"quality": 88},
    "webp": {"quality": 85, "method": 2},
}
"""Encoder options that favour speed, because a person waits for the picture."""


def still_file(frames: Sequence[npt.NDArray[np.uint8]], columns: int, format: Literal["png", "jpeg", "webp"]) -> bytes:
    """Encode opaque RGBA frames of one size, (height, width, 4), as one picture with rows of `columns`.

    The last row can be shorter.
    """
    image = Image.fromarray(frames[0] if len(frames) == 1 else _grid(frames, columns)).convert("RGB")
    out = io.BytesIO()
    image.save(out, format.upper(), **_OPTIONS[format])
    return out.getvalue()


def _grid(frames: Sequence[npt.NDArray[np.uint8]], columns: int) -> npt.NDArray[np.uint8]:
    height, width, _ = frames[0].shape
    rows = -(-len(frames) // columns)
    grid = np.zeros((rows * height, min(columns, len(frames)) * width, 4), np.uint8)
    for number, frame in enumerate(frames):
        top, left = number // columns * height, number % columns * width
        grid[top : top + height, left : left + width] = frame
    return grid
