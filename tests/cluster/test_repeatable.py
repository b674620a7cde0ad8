"""The encoder gives equal bytes for equal frames, also at sizes where its fastest code reads beyond the frame."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from gpu_renderer.encode.planes import encoder_frame, layout
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.encode.segments import SegmentWriter


def encoded(path: Path, width: int, height: int) -> str:
    planes = layout(width, height)
    rows, columns = np.mgrid[0:height, 0:width]
    with SegmentWriter(path, EncoderProfile(), planes.coded_width, planes.coded_height, 30.0) as writer:
        for index in range(30):
            frame = encoder_frame(planes)
            for plane in frame.planes:
                picture = 128 + 60 * np.sin((columns + 3 * index) / 9) + 50 * np.cos((rows - 2 * index) / 7)
                sample = picture[: plane.height, : plane.width].astype(np.uint8)
                padded = np.zeros((plane.height, plane.line_size), np.uint8)
                padded[:, : plane.width] = sample
                plane.update(padded.tobytes())
            writer.write(frame)
        writer.close()
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_small_picture_encodes_to_the_same_bytes_every_time(tmp_path: Path) -> None:
    assert len({encoded(tmp_path / f"{number}.mp4", 160, 90) for number in range(12)}) == 1
