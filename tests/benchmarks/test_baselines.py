"""The baselines of benchmarks draw the same compositions as the farm."""

from __future__ import annotations

import shutil
from pathlib import Path

import av
import numpy as np
import pytest

from benchmarks.drawing import baselines
from benchmarks.drawing.footage import footage
from benchmarks.drawing.scenes import SCENES
from benchmarks.peers import COMPOSITIONS
from gpu_renderer.commands.options import default_session_options
from gpu_renderer.session import Output, RenderSession
from motion.bundle import read_value

SIZE = (320, 180)
FRAME = 60
"""Frame at 2 s: every layer is at its final position, or rotates."""


@pytest.mark.thorough
@pytest.mark.parametrize("letter", sorted(COMPOSITIONS))
def test_the_skia_loop_draws_the_composition_that_the_farm_draws(letter: str, tmp_path: Path) -> None:
    clip = footage(tmp_path, *SIZE)
    with av.open(str(clip)) as container:
        frames = [
            frame.to_ndarray(format="rgba")
            for _, frame in zip(range(FRAME + 1), container.decode(video=0), strict=False)
        ]
    below = frames[FRAME] if baselines.COMPOSITIONS[letter].is_over_footage else None
    theirs = baselines.skia_picture(letter, *SIZE, FRAME, below)[..., :3].astype(float)
    document = read_value(SCENES[COMPOSITIONS[letter]].document())
    with (
        RenderSession(default_session_options()) as session,
        session.open(document, Output(*SIZE), lambda _: clip) as opened,
    ):
        ours = session.still(opened, FRAME)[..., :3].astype(float)
        before = session.still(opened, 0)[..., :3].astype(float)
    assert np.abs(ours - theirs).mean() < min(12.0, np.abs(before - theirs).mean())


@pytest.mark.parametrize("letter", sorted(baselines.GRAPHS))
@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_the_filter_graphs_are_understood(letter: str, tmp_path: Path) -> None:
    made = tmp_path / "made.mp4"
    assert baselines.ffmpeg_fps(letter, *SIZE, 90, footage(tmp_path, *SIZE), made) is not None
    with av.open(str(made)) as container:
        assert sum(1 for _ in container.decode(video=0)) == 90
