"""Segments of complete frames."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

from gpu_renderer.encode.formats import FORMATS
from gpu_renderer.encode.segments import open_segment


def test_equal_pictures_of_any_width_are_equal_frames_of_prores(tmp_path: Path) -> None:
    path, size = tmp_path / "a.mov", (102, 58)
    picture = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 4), np.uint8)
    with open_segment(path, FORMATS["mov"], size, 30.0, keeps_alpha=True, quality="high") as segment:
        for _ in range(400):
            segment.write(picture)
        segment.close()
    with av.open(str(path)) as container:
        frames = [bytes(packet) for packet in container.demux(video=0) if packet.size]
    assert len(frames) == 400
    assert len(set(frames)) == 1
