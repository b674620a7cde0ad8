"""Segments, their assembly, and the check of the video."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from gpu_renderer.encode.finish import SegmentUnusable, VideoNotAsPlanned, boxes, check, finish
from gpu_renderer.encode.formats import FORMATS, FilePlan
from gpu_renderer.encode.planes import encoder_frame, layout
from gpu_renderer.encode.profile import EncoderProfile, rate
from gpu_renderer.encode.segments import SegmentWriter

PROFILE = EncoderProfile(threads=1)
WIDTH, HEIGHT = 96, 64


def numbered_frame(index: int) -> av.VideoFrame:
    """Return a grey frame whose level is its number."""
    frame = encoder_frame(layout(WIDTH, HEIGHT))
    luma, chroma = frame.planes
    luma.update(bytes([20 + 3 * index]) * luma.buffer_size)
    chroma.update(bytes([128]) * chroma.buffer_size)
    return frame


def segment(path: Path, frames: range, fps: float = 30.0, profile: EncoderProfile = PROFILE) -> Path:
    with SegmentWriter(path, profile, WIDTH, HEIGHT, fps) as writer:
        for index in frames:
            writer.write(numbered_frame(index))
        writer.close()
    return path


def joined(folder: Path, cuts: list[int], fps: float = 30.0) -> Path:
    parts = [segment(folder / f"{first}.mp4", range(first, end), fps) for first, end in pairwise(cuts)]
    finish(parts, folder / "out.mp4", FilePlan(FORMATS["mp4"], WIDTH, HEIGHT, fps, cuts[-1]))
    return folder / "out.mp4"


@pytest.mark.parametrize("cuts", [[0, 40], [0, 13, 26, 40], [0, 1, 2, 40], [0, 39, 40]])
def test_joined_segments_show_every_frame_once_and_in_order(tmp_path: Path, cuts: list[int]) -> None:
    path = joined(tmp_path, cuts)
    with av.open(str(path)) as container:
        levels = [int(np.median(frame.to_ndarray(format="gray16le")) // 256) for frame in container.decode(video=0)]
        assert len(levels) == 40
    assert levels == sorted(levels)
    assert len(set(levels)) == 40


@pytest.mark.parametrize("fps", [1.0, 12.5, 23.976, 29.97, 30.0, 59.94, 60.0, 240.0, 30000 / 1001])
def test_frames_are_shown_at_their_numbers_at_any_rate(tmp_path: Path, fps: float) -> None:
    path = joined(tmp_path, [0, 5, 8], fps)
    with av.open(str(path)) as container:
        times = [frame.pts * frame.time_base for frame in container.decode(video=0)]
    assert times == [index / rate(fps) for index in range(8)]


def test_the_same_segments_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert joined(tmp_path / "a", [0, 7, 20]).read_bytes() == joined(tmp_path / "b", [0, 7, 20]).read_bytes()


def test_the_index_comes_before_the_media_and_nothing_names_the_writer(tmp_path: Path) -> None:
    path = joined(tmp_path, [0, 7, 20])
    assert [kind for kind, _ in boxes(path)][:2] == ["ftyp", "moov"]
    assert b"Lavf" not in path.read_bytes()
    assert b"Lavc" not in path.read_bytes()


def test_each_segment_opens_with_a_picture_that_needs_no_other(tmp_path: Path) -> None:
    path = joined(tmp_path, [0, 7, 20])
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
    assert [index for index, packet in enumerate(packets) if packet.is_keyframe] == [0, 7]


def test_no_segment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SegmentUnusable, match="no segment"):
        finish([], tmp_path / "out.mp4", FilePlan(FORMATS["mp4"], WIDTH, HEIGHT, 30.0, 0))


def test_a_segment_of_another_profile_is_refused(tmp_path: Path) -> None:
    parts = [
        segment(tmp_path / "a.mp4", range(4)),
        segment(tmp_path / "b.mp4", range(4), profile=EncoderProfile(threads=1, preset="ultrafast")),
    ]
    with pytest.raises(SegmentUnusable, match=r"b\.mp4"):
        finish(parts, tmp_path / "out.mp4", FilePlan(FORMATS["mp4"], WIDTH, HEIGHT, 30.0, 8))


def test_the_check_names_everything_that_differs_from_the_plan(tmp_path: Path) -> None:
    path = segment(tmp_path / "a.mp4", range(6), fps=25.0)
    with pytest.raises(VideoNotAsPlanned) as raised:
        check(path, FilePlan(FORMATS["mp4"], WIDTH + 2, HEIGHT, 30.0, 7))
    faults = " / ".join(raised.value.faults)
    for word in ("index is not in front", "size", "rate", "holds 6 frames, not 7"):
        assert word in faults


def test_the_check_finds_more_frames_and_more_or_less_sound_than_planned(tmp_path: Path) -> None:
    part, output = segment(tmp_path / "a.mp4", range(6)), tmp_path / "out.mp4"
    silence = np.zeros((9600, 2), np.float32)
    for sound, has_sound, word in ((None, True, "0 sound tracks, not 1"), ([silence], False, "1 sound tracks, not 0")):
        finish([part], output, FilePlan(FORMATS["mp4"], WIDTH, HEIGHT, 30.0, 6), sound)
        with pytest.raises(VideoNotAsPlanned, match=f"holds {word}$"):
            check(output, FilePlan(FORMATS["mp4"], WIDTH, HEIGHT, 30.0, 6), has_sound=has_sound)
    with pytest.raises(VideoNotAsPlanned, match=r"holds 6 frames, not 5$"):
        check(output, FilePlan(FORMATS["mp4"], WIDTH, HEIGHT, 30.0, 5), has_sound=True)


@pytest.mark.parametrize("ticks", [-1, 1])
def test_the_check_finds_a_frame_that_is_shown_half_a_frame_too_early_or_late(tmp_path: Path, ticks: int) -> None:
    part = segment(tmp_path / "a.mp4", range(6), profile=EncoderProfile(threads=1, preset="ultrafast"))
    with (
        av.open(str(part)) as read,
        av.open(str(tmp_path / "out.mp4"), "w", options={"movflags": "+faststart"}) as written,
    ):
        stream = written.add_stream_from_template(read.streams.video[0])
        for index, packet in enumerate(packet for packet in read.demux(video=0) if packet.size):
            packet.stream, packet.time_base = stream, Fraction(1, 60)
            packet.pts = packet.dts = 2 * index + (ticks if index == 3 else 0)
            written.mux(packet)
    with pytest.raises(VideoNotAsPlanned, match=r"not shown at their numbers$"):
        check(tmp_path / "out.mp4", FilePlan(FORMATS["mp4"], WIDTH, HEIGHT, 30.0, 6))


@pytest.mark.parametrize("kept_bytes", [0, 20, 900])
def test_the_check_refuses_a_truncated_file(tmp_path: Path, kept_bytes: int) -> None:
    path = joined(tmp_path, [0, 7])
    path.write_bytes(path.read_bytes()[:kept_bytes])
    with pytest.raises(VideoNotAsPlanned):
        check(path, FilePlan(FORMATS["mp4"], WIDTH, HEIGHT, 30.0, 7))


def test_a_writer_that_fails_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), SegmentWriter(tmp_path / "a.mp4", PROFILE, WIDTH, HEIGHT, 30.0) as writer:
        writer.write(numbered_frame(0))
        raise ZeroDivisionError
    assert not (tmp_path / "a.mp4").exists()
