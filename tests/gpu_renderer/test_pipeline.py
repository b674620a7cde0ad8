"""Frames through the whole pipeline: in order, complete, and equal with every optimisation."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import av
import numpy as np
import pytest

from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.pipeline import PipelineOptions, RenderStopped, SegmentPipeline, SegmentReport
from gpu_renderer.progress import Callbacks
from gpu_renderer.threads import BACKGROUND_NICENESS
from tests.gpu_renderer.pipeline_scenes import DiscScene, disc_picture

pytestmark = pytest.mark.gl

PROFILE = EncoderProfile(preset="ultrafast", threads=1)


Disc = Callable[..., DiscScene]


@pytest.fixture
def disc(painter: Painter) -> Iterator[Disc]:
    """Create scenes, and release their targets."""
    with ExitStack() as made:
        yield lambda *words, **options: made.enter_context(closing(DiscScene(painter, *words, **options)))


def render_segment(
    scene: DiscScene, painter: Painter, path: Path, frames: range, options: PipelineOptions | None = None
) -> SegmentReport:
    return SegmentPipeline(painter, scene, PROFILE, options or PipelineOptions()).run(frames, path)


@pytest.mark.parametrize(
    "options",
    [
        PipelineOptions(evaluate_ahead_frames=0),
        PipelineOptions(readback_depth=1),
        PipelineOptions(readback_depth=4),
        PipelineOptions(encode_ahead_frames=0),
        PipelineOptions(timed_exactly=True),
    ],
    ids=str,
)
def test_an_option_leaves_the_bytes_as_they_are(
    painter: Painter, disc: Disc, tmp_path: Path, options: PipelineOptions
) -> None:
    scene = disc(96, 64, hold_frames=3)
    render_segment(scene, painter, tmp_path / "on.mp4", range(20))
    render_segment(scene, painter, tmp_path / "off.mp4", range(20), options)
    assert (tmp_path / "on.mp4").read_bytes() == (tmp_path / "off.mp4").read_bytes()


def test_every_frame_of_the_segment_shows_its_own_picture(painter: Painter, disc: Disc, tmp_path: Path) -> None:
    render_segment(disc(128, 64, hold_frames=2), painter, tmp_path / "a.mp4", range(5, 17))
    with av.open(str(tmp_path / "a.mp4")) as container:
        shown = [frame.to_ndarray(format="rgb24", src_colorspace="ITU709") for frame in container.decode(video=0)]
    assert len(shown) == 12
    for index, picture in zip(range(5, 17), shown, strict=True):
        green = disc_picture(128, 64, index // 2)[..., 1]
        assert np.abs(picture[..., 1].astype(int) - green).mean() < 8


def test_an_unchanged_frame_is_not_converted_again(painter: Painter, disc: Disc, tmp_path: Path) -> None:
    report = render_segment(disc(96, 64, hold_frames=5), painter, tmp_path / "a.mp4", range(20))
    assert (report.frames, report.converted_frames) == (20, 4)


def test_no_target_stays_lent_after_a_segment(painter: Painter, disc: Disc, tmp_path: Path) -> None:
    scene = disc(96, 64)
    before = painter.pool.acquired_count
    render_segment(scene, painter, tmp_path / "a.mp4", range(6))
    assert painter.pool.acquired_count == before


def test_progress_ends_at_the_number_of_frames(painter: Painter, disc: Disc, tmp_path: Path) -> None:
    seen: list[int] = []
    pipeline = SegmentPipeline(painter, disc(96, 64), PROFILE, PipelineOptions())
    pipeline.run(range(9), tmp_path / "a.mp4", Callbacks(on_progress=seen.append))
    assert seen == sorted(seen)
    assert seen[-1] == 9


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux only")
def test_the_encoder_leaves_processors_to_the_drawing_thread(painter: Painter, disc: Disc, tmp_path: Path) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    lower = list[int]()
    """Threads with the encoder's priority, at each frame."""

    def count_threads(_: int) -> None:
        priorities = list[int]()
        for thread in Path("/proc/self/task").iterdir():
            with suppress(ProcessLookupError):  # it has ended already
                priorities.append(os.getpriority(os.PRIO_PROCESS, int(thread.name)))
        lower.append(priorities.count(min(own + BACKGROUND_NICENESS, 19)))

    profile = EncoderProfile(threads=3)
    pipeline = SegmentPipeline(painter, disc(96, 64), profile, PipelineOptions())
    pipeline.run(range(9), tmp_path / "a.mp4", Callbacks(count_threads))
    assert max(lower) >= 1 + profile.threads
    assert os.getpriority(os.PRIO_PROCESS, 0) == own


def test_a_stop_ends_the_segment_early_and_leaves_no_file(painter: Painter, disc: Disc, tmp_path: Path) -> None:
    scene = disc(96, 64)
    before = painter.pool.acquired_count
    pipeline = SegmentPipeline(painter, scene, PROFILE, PipelineOptions())
    with pytest.raises(RenderStopped):
        pipeline.run(range(1000), tmp_path / "a.mp4", Callbacks(should_stop=lambda: scene.drawn_count >= 3))
    assert scene.drawn_count == 3
    assert not (tmp_path / "a.mp4").exists()
    assert painter.pool.acquired_count == before


@pytest.mark.parametrize("ahead", [0, 3])
def test_an_error_of_the_evaluation_reaches_the_caller(
    painter: Painter, disc: Disc, tmp_path: Path, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = PipelineOptions(evaluate_ahead_frames=ahead)
    scene = disc(96, 64)

    def broken(frame_index: int) -> int:
        if frame_index == 4:
            raise ArithmeticError("frame 4 cannot be evaluated")
        return frame_index

    monkeypatch.setattr(scene, "evaluate", broken)
    with pytest.raises(ArithmeticError, match="frame 4"):
        render_segment(scene, painter, tmp_path / "a.mp4", range(10), options)
    assert not (tmp_path / "a.mp4").exists()
