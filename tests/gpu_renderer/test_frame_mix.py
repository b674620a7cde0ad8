"""Frame mix of a video that is not opaque: one frame at the layer's opacity, the next over it (compositing.md, frame blending)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.geometry.color import decoded_array, encoded_array
from gpu_renderer.session import RenderSession, SessionOptions
from tests.gpu_renderer.content.media.video_files import level, make_video
from tests.gpu_renderer.documents import document, layer
from tests.gpu_renderer.test_footage import SIZE, opened, with_fx

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]
FILE_FPS = 25.0


@pytest.fixture(scope="module", params=[True, False], ids=["cpu", "gl"])
def session(request: pytest.FixtureRequest) -> Iterator[RenderSession]:
    flags = Optimisations(native_kernels=request.param)
    with RenderSession(SessionOptions(fonts=FontFolders(FONTS), drawing=flags)) as made:
        yield made


def over(below: float, above: float, opacity: float) -> float:
    """Return a grey level at an opacity over another, in linear light."""
    parts = decoded_array(np.array([below, above]) / 255)
    return float(encoded_array(parts[0] * (1 - opacity) + parts[1] * opacity) * 255)


def drawn(session: RenderSession, folder: Path, frame: int, **props: Any) -> float:
    """Return the level that a grey video shows in the middle of a white composition of 60 frames per second."""
    box = {"x": SIZE[0] / 2, "y": SIZE[1] / 2, "width": SIZE[0], "height": SIZE[1]}
    video = layer("video", __kind="video", src="clip.mp4", **box, **props)
    doc = document(with_fx(video, time={"frameBlend": "mix"}), size=SIZE)
    doc["comps"]["comp_root"] |= {"background": "#ffffff", "fps": 60}
    with opened(session, doc, folder) as job:
        return float(np.median(session.still(job, frame)[40:60, 40:70, :3]))


@pytest.mark.parametrize("opacity", [100, 60, 20])
def test_the_later_frame_is_drawn_over_the_earlier_one_at_its_share_of_the_opacity(
    session: RenderSession, tmp_path: Path, opacity: int
) -> None:
    make_video(tmp_path / "clip.mp4", size=SIZE)
    for frame in (12, 13, 31):
        position = frame / 60 * FILE_FPS
        first, weight = int(position), position % 1
        expected = over(over(255, level(first), opacity / 100), level(first + 1), opacity / 100 * weight)
        assert drawn(session, tmp_path, frame, opacity=opacity) == pytest.approx(expected, abs=1.5)


def test_past_the_end_the_last_frame_is_drawn_twice(session: RenderSession, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4", shown_at_ms=range(0, 400, 40), size=SIZE)
    expected = over(over(255, level(9), 0.5), level(9), 0.25)
    assert drawn(session, tmp_path, 30, opacity=50) == pytest.approx(expected, abs=1.5)
