"""A GPU converts video samples to exactly the bytes of the kernels and of libswscale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_renderer.backends.gl import footage
from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.media.video_frame import DecodedFrame, Scalers
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.session import RenderSession, SessionOptions
from tests.gpu_renderer.content.media.test_video_pixels import FULL, LIMITED, MATRICES, noise
from tests.gpu_renderer.content.media.video_files import make_noise_video
from tests.gpu_renderer.test_footage import SIZE, encoded, opened
from tests.gpu_renderer.test_footage import footage as over_footage

pytestmark = pytest.mark.gl

EVERY_LEVEL = np.arange(256, dtype=np.uint8)


@pytest.mark.parametrize("color_range", [LIMITED, FULL], ids=["limited", "full"])
@pytest.mark.parametrize("matrix", MATRICES)
def test_every_matrix_and_range_gives_the_same_bytes(painter: Painter, matrix: str, color_range: int) -> None:
    for width, height in ((8, 8), (38, 22), (1026, 10), (64, 48)):
        frame = DecodedFrame(noise((width, height), EVERY_LEVEL, MATRICES[matrix], color_range), Scalers(None))
        target = footage.converted(painter, frame)
        assert target is not None
        found = np.frombuffer(target.texture.read(), np.uint8).reshape(height, width, 4)
        painter.pool.give_back(target)
        assert np.array_equal(found, frame.pixels), (width, height)


@pytest.mark.parametrize("format", ["yuv422p", "yuv444p", "nv12", "yuv420p10le", "yuva420p"])
def test_other_samples_are_left_to_libswscale(painter: Painter, format: str) -> None:
    frame = noise((64, 48), EVERY_LEVEL).reformat(format=format)
    assert footage.converted(painter, DecodedFrame(frame, Scalers(None))) is None


@pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")
def test_enlarged_footage_is_drawn_alike_from_samples_and_from_pixels(tmp_path: Path) -> None:
    make_noise_video(tmp_path / "clip.mp4", (SIZE[0] // 2, SIZE[1] // 2), 3)
    options = SessionOptions(fonts=FontFolders(FONTS), drawing=Optimisations(native_kernels=False))
    with RenderSession(options) as session:
        pictures = {}
        for is_software in (True, False):
            session.painter.is_software = is_software
            with opened(session, over_footage(), tmp_path) as job:
                pictures[is_software] = [plane for index in range(3) for plane in encoded(session, job, index)]
        assert all(map(np.array_equal, pictures[True], pictures[False]))
        assert pictures[True][0].std() > 10
