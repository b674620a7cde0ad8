"""Segments with frames in a device's memory: equal bytes and no leaks, even after errors."""

from __future__ import annotations

import json
import logging
from contextlib import closing
from pathlib import Path

import pytest

from gpu_renderer.backends.compositor import RenderedFrame
from gpu_renderer.backends.gl.handover import Handover, InteropFailed
from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.handover_probe import Obstacle, Verdict
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.pipeline import PipelineOptions, RenderStopped, SegmentPipeline, SegmentReport
from gpu_renderer.progress import Callbacks
from gpu_renderer.session import Output, RenderSession, SessionOptions
from motion.bundle import read_document
from tests.gpu_renderer.backends.gl.host_device import HostDevice
from tests.gpu_renderer.documents import moving_square
from tests.gpu_renderer.pipeline_scenes import DiscScene

pytestmark = pytest.mark.gl
PROFILE = EncoderProfile(threads=1)


class StillingScene(DiscScene):
    """Scene that reports repeat frames, so that long ones are held."""

    def draw(self, step: int) -> RenderedFrame:
        picture = super().draw(step)
        return picture._replace(is_repeat=picture.changed.is_empty)


def render_segment(
    painter: Painter, path: Path, handover: Handover | None, options: PipelineOptions, hold_frames: int = 3
) -> SegmentReport:
    with closing(StillingScene(painter, 97, 63, hold_frames=hold_frames)) as scene:
        return SegmentPipeline(painter, scene, PROFILE, options, handover=handover).run(range(40), path)


@pytest.mark.parametrize(
    "options",
    [
        PipelineOptions(),
        PipelineOptions(readback_depth=1, encode_ahead_frames=0),
        PipelineOptions(readback_depth=4),
    ],
    ids=str,
)
@pytest.mark.parametrize("hold_frames", [3, 20])
def test_frames_that_stay_on_the_device_give_the_same_bytes(
    painter: Painter, tmp_path: Path, options: PipelineOptions, hold_frames: int
) -> None:
    device = HostDevice()
    handover = Handover(device)
    usual = render_segment(painter, tmp_path / "usual.mp4", None, PipelineOptions(), hold_frames)
    report = render_segment(painter, tmp_path / "device.mp4", handover, options, hold_frames)
    assert (tmp_path / "usual.mp4").read_bytes() == (tmp_path / "device.mp4").read_bytes()
    assert report.repeat_frames == usual.repeat_frames
    assert (usual.repeat_frames > 0) == (hold_frames == 20)
    handover.close()
    assert (device.memory, device.shared_count) == ({}, 0)


def test_memory_is_kept_from_segment_to_segment_of_one_size(painter: Painter, tmp_path: Path) -> None:
    device = HostDevice()
    handover = Handover(device)
    render_segment(painter, tmp_path / "a.mp4", handover, PipelineOptions(encode_ahead_frames=0))
    used = set(device.memory)
    render_segment(painter, tmp_path / "b.mp4", handover, PipelineOptions(encode_ahead_frames=0))
    assert set(device.memory) == used
    with closing(DiscScene(painter, 160, 90)) as scene:
        SegmentPipeline(painter, scene, PROFILE, PipelineOptions(), handover=handover).run(range(3), tmp_path / "c.mp4")
    assert len({memory.size for memory in device.memory.values()}) == 1


def test_a_stop_leaves_nothing_shared_and_nothing_lent(painter: Painter, tmp_path: Path) -> None:
    device, before = HostDevice(), painter.pool.acquired_count
    with closing(DiscScene(painter, 96, 64)) as scene, pytest.raises(RenderStopped):
        SegmentPipeline(painter, scene, PROFILE, PipelineOptions(), handover=Handover(device)).run(
            range(100), tmp_path / "a.mp4", Callbacks(should_stop=lambda: scene.drawn_count >= 5)
        )
    assert (device.shared_count, painter.pool.acquired_count) == (0, before)


def test_a_device_that_fails_ends_the_segment_with_its_reason(painter: Painter, tmp_path: Path) -> None:
    device, before = HostDevice(copies_max=10), painter.pool.acquired_count
    with pytest.raises(InteropFailed, match="the device is gone"):
        render_segment(painter, tmp_path / "a.mp4", Handover(device), PipelineOptions())
    assert (device.shared_count, painter.pool.acquired_count) == (0, before)
    assert not (tmp_path / "a.mp4").exists()


@pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")
def test_a_session_renders_a_failed_segment_again_and_stays_off_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    device = HostDevice(copies_max=3 * 40)
    monkeypatch.setattr("gpu_renderer.session.probed", lambda *_, **__: (Verdict(), Handover(device)))
    drawing = Optimisations(native_kernels=False)  # as on a GPU
    options = SessionOptions(fonts=FontFolders(FONTS), encoder=PROFILE, drawing=drawing)
    with (
        caplog.at_level(logging.WARNING),
        RenderSession(options) as session,
        session.open(read_document(json.dumps(moving_square()).encode()), Output(), lambda _: None) as job,
    ):
        for name in "abcd":
            session.render_segment(job, 0, 30, tmp_path / f"{name}.mp4")
    assert len({(tmp_path / f"{name}.mp4").read_bytes() for name in "abcd"}) == 1
    assert session.from_gpu == Verdict(Obstacle.REFUSED, "the device is gone")
    assert device.copies_left == 0
    assert [record.getMessage() for record in caplog.records] == [str(session.from_gpu)]
