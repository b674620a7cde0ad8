"""The renderer's public interface: documents in, frames and segments out."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

import av
import numpy as np
import psutil
import pytest

from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.encode.finish import finish
from gpu_renderer.encode.formats import FORMATS, FilePlan
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.encode.segments import SegmentWriter
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.pipeline import PipelineOptions, RenderStopped
from gpu_renderer.progress import Callbacks
from gpu_renderer.session import OpenDocument, Output, RenderSession, SessionOptions
from motion.bundle import read_document
from motion.errors import CompositionUnknown
from tests.gpu_renderer import documents
from tests.gpu_renderer.content.media.video_files import make_video
from tests.gpu_renderer.documents import Record, document, layer, moving_square

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]

PROFILE = EncoderProfile(codec="libx264", preset="ultrafast", threads=1)


def opened(
    session: RenderSession, doc: Record, output: Output | None = None, media: Path | None = None
) -> OpenDocument:
    parsed = read_document(json.dumps(doc).encode())
    return session.open(parsed, output or Output(), lambda src: media / src if media and src else None)


def test_a_still_shows_the_composition(session: RenderSession) -> None:
    with opened(session, moving_square()) as job:
        pixels = session.still(job, 0)
    assert pixels.shape == (90, 160, 4)
    assert tuple(pixels[45, 30]) == (255, 0, 0, 255)
    assert tuple(pixels[45, 100]) == (0, 0, 255, 255)


def test_the_output_may_have_its_own_size_rate_and_duration(session: RenderSession, tmp_path: Path) -> None:
    output = Output(width=81, height=47, fps=12.5, duration_seconds=0.4)
    with opened(session, moving_square(), output) as job:
        assert job.frame_count == 5
        assert session.still(job, 0).shape == (47, 81, 4)
        session.render_segment(job, 0, 5, tmp_path / "a.mp4")
    finish([tmp_path / "a.mp4"], tmp_path / "out.mp4", FilePlan(FORMATS["mp4"], 81, 47, 12.5, 5))


def test_a_closed_document_is_freed_at_once(session: RenderSession, tmp_path: Path) -> None:
    """It referred to itself. Its frames, 17 MB each at 1080p, stayed beside those of the next document."""
    gc.collect()
    gc.disable()
    try:
        job = opened(session, moving_square())
        session.render_segment(job, 0, 3, tmp_path / "a.mp4")
        job.close()
        closed = weakref.ref(job)
        del job
        assert closed() is None
    finally:
        gc.enable()


def test_segments_joined_show_the_same_frames_as_one_piece(session: RenderSession, tmp_path: Path) -> None:
    with opened(session, moving_square()) as job:
        for first, count in ((0, 11), (11, 19)):
            session.render_segment(job, first, count, tmp_path / f"{first}.mp4")
        stills = [session.still(job, index) for index in range(30)]
    finish([tmp_path / "0.mp4", tmp_path / "11.mp4"], tmp_path / "out.mp4", FilePlan(FORMATS["mp4"], 160, 90, 30.0, 30))
    with av.open(str(tmp_path / "out.mp4")) as container:
        shown = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    for picture, still in zip(shown, stills, strict=True):
        assert np.abs(picture.astype(int) - still[..., :3]).mean() < 3


def test_a_segment_has_the_same_bytes_each_time_and_on_a_fresh_session(session: RenderSession, tmp_path: Path) -> None:
    with opened(session, moving_square()) as job:
        session.render_segment(job, 10, 12, tmp_path / "a.mp4")
        session.render_segment(job, 10, 12, tmp_path / "b.mp4")
    with (
        RenderSession(SessionOptions(fonts=FontFolders(FONTS), encoder=PROFILE)) as other,
        opened(other, moving_square()) as job,
    ):
        other.render_segment(job, 10, 12, tmp_path / "c.mp4")
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes() == (tmp_path / "c.mp4").read_bytes()


def test_drawing_only_changes_leaves_the_bytes_as_they_are(tmp_path: Path) -> None:
    off = Optimisations(False, False, False, False)
    for name, flags in (("on", Optimisations()), ("off", off)):
        options = SessionOptions(fonts=FontFolders(FONTS), encoder=PROFILE, drawing=flags)
        with RenderSession(options) as made, opened(made, moving_square()) as job:
            made.render_segment(job, 0, 30, tmp_path / f"{name}.mp4")
    assert (tmp_path / "on.mp4").read_bytes() == (tmp_path / "off.mp4").read_bytes()


def test_frames_that_may_stay_on_the_gpu_give_the_same_bytes_as_those_that_may_not(tmp_path: Path) -> None:
    for name in ("on", "off"):
        pipeline = PipelineOptions(encode_from_gpu=name == "on")
        options = SessionOptions(fonts=FontFolders(FONTS), pipeline=pipeline)
        with RenderSession(options) as made, opened(made, moving_square()) as job:
            made.render_segment(job, 0, 30, tmp_path / f"{name}.mp4")
    assert (tmp_path / "on.mp4").read_bytes() == (tmp_path / "off.mp4").read_bytes()


def test_frames_without_a_change_are_only_encoded(session: RenderSession, tmp_path: Path) -> None:
    with opened(session, moving_square()) as job:
        report = session.render_segment(job, 0, 30, tmp_path / "a.mp4")
    assert report.frames == 30
    assert report.converted_frames == 16  # it moves in frames 0 to 15


def test_equal_frames_have_equal_keys(session: RenderSession) -> None:
    with opened(session, moving_square()) as job, opened(session, moving_square(), Output(width=80)) as smaller:
        assert job.frame_key(20) == job.frame_key(25) != job.frame_key(3)
        assert smaller.frame_key(20) != job.frame_key(20)


def test_a_stop_ends_a_segment(session: RenderSession, tmp_path: Path) -> None:
    with opened(session, moving_square()) as job, pytest.raises(RenderStopped):
        session.render_segment(job, 0, 30, tmp_path / "a.mp4", Callbacks(should_stop=lambda: True))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_composition_is_refused(session: RenderSession) -> None:
    with pytest.raises(CompositionUnknown, match="nowhere"):
        opened(session, moving_square(), Output(composition_id="nowhere"))


def video_document(src: str) -> Record:
    return document(layer("clip", __kind="video", width=160, height=90, src=src), layer("square"))


def test_a_video_layer_shows_its_frame(session: RenderSession, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4")
    with opened(session, video_document("clip.mp4"), media=tmp_path) as job:
        greys = [int(session.still(job, index)[4, 4, 1]) for index in (0, 15, 29)]
    assert [round((grey - 8) / 6) for grey in greys] == [0, 12, 24]


@pytest.mark.parametrize("contents", [b"", b"not a video"])
def test_a_bad_video_draws_nothing_and_is_warned_about_once(
    session: RenderSession, tmp_path: Path, contents: bytes
) -> None:
    (tmp_path / "clip.mp4").write_bytes(contents)
    with opened(session, video_document("clip.mp4"), media=tmp_path) as job:
        report = session.render_segment(job, 0, 8, tmp_path / "a.mp4")
        assert tuple(session.still(job, 0)[4, 4]) == (0, 0, 255, 255)
    assert len([warning for warning in report.warnings if "clip.mp4" in warning]) == 1


def test_a_warning_names_the_layer_and_no_address_of_the_farm(session: RenderSession, tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(b"no picture")
    picture = layer("photo", __kind="image", width=160, height=90, src="/files/media/bad.png")
    with session.open(document(picture), Output(), lambda _: tmp_path / "bad.png") as job:
        session.still(job, 0)
        assert job.warnings == ("Layer “photo”: A picture cannot be read.",)


def test_a_source_without_a_file_draws_nothing_and_is_warned_about(session: RenderSession) -> None:
    with opened(session, video_document("gone.mp4")) as job:
        assert tuple(session.still(job, 0)[4, 4]) == (0, 0, 255, 255)
        assert [warning for warning in job.warnings if "gone.mp4" in warning]


def test_the_encoder_of_a_segment_is_freed_at_its_end_without_the_garbage_collector(
    session: RenderSession, tmp_path: Path
) -> None:
    gc.collect()
    gc.disable()
    try:
        with opened(session, moving_square()) as job:
            session.render_segment(job, 0, 3, tmp_path / "a.mp4")
        assert not [found for found in gc.get_objects() if isinstance(found, SegmentWriter)]
    finally:
        gc.enable()


def test_many_jobs_leave_memory_as_it_was(session: RenderSession, tmp_path: Path) -> None:
    """A short form of the soak benchmark: no target stays acquired, and resident memory stays constant."""

    def render_some(count: int) -> int:
        for number in range(count):
            doc = document(layer("square", x=number % 160), layer("text", __kind="text", content=f"job {number}"))
            with opened(session, doc, Output(duration_seconds=0.1)) as job:
                session.render_segment(job, 0, job.frame_count, tmp_path / "a.mp4")
        return int(psutil.Process().memory_info().rss)

    before = render_some(30)
    acquired = session.painter.pool.acquired_count
    after = render_some(60)
    assert session.painter.pool.acquired_count == acquired
    assert after - before < 24 << 20


def test_a_document_is_read_from_a_folder_a_zip_or_a_file(tmp_path: Path) -> None:
    from gpu_renderer.commands.local import read_local

    assert read_local(documents.write_document(tmp_path, moving_square()))["scene"]
