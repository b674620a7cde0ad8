"""Frames of videos at exact times."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import av
import numpy as np
import pytest
from av.bitstream import BitStreamFilterContext
from av.stream import Disposition

from gpu_renderer.content.media.video import Videos
from gpu_renderer.content.media.video_decoder import Decoder
from gpu_renderer.content.media.video_file import read_index
from gpu_renderer.errors import MediaUndecodable
from tests.descriptors import descriptors_left
from tests.gpu_renderer.content.media.video_files import QUARTER_CLOCKWISE, level, make_video, number, turn

VFR_MS = [0, 40, 50, 130, 131, 300, 340, 700, 710, 720, 900, 1000, 1700, 1701, 1702, 2000]
KINDS: dict[str, Callable[[Path], Path]] = {
    "closed groups with B-frames": make_video,
    "open groups": lambda path: make_video(path, x264="open-gop=1:keyint=10:min-keyint=10:bframes=3:b-adapt=0"),
    "one long group": lambda path: make_video(path, gop_frames=500),
    "key frames only": lambda path: make_video(path, gop_frames=1, bframes=0),
    "two-frame groups": lambda path: make_video(path, gop_frames=2),
}


@pytest.fixture
def videos(tmp_path: Path) -> Iterator[Videos]:
    opened = Videos(lambda src: tmp_path / src if (tmp_path / src).is_file() else None)
    yield opened
    opened.close()


def test_a_video_is_not_refused_because_the_worker_has_no_descriptors(tmp_path: Path, videos: Videos) -> None:
    path = make_video(tmp_path / "a.mp4")
    with descriptors_left(0), pytest.raises(OSError, match="Too many open files"):
        read_index(path)
    assert videos.index("a.mp4") is not None
    with descriptors_left(0), pytest.raises(OSError, match="Too many open files"):
        videos.frame("a.mp4", 0.0)


def shown(videos: Videos, src: str, seconds: float) -> int:
    frame = videos.frame(src, seconds)
    assert frame is not None
    return number(frame.pixels)


@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_is_found_in_any_order(videos: Videos, tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "clip.mp4")
    order = list(range(40))
    random.Random(7).shuffle(order)
    assert [shown(videos, "clip.mp4", index * 0.04) for index in order] == order


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -5])
def test_steady_steps_in_either_direction_find_every_frame(
    videos: Videos, tmp_path: Path, kind: str, step: int
) -> None:
    KINDS[kind](tmp_path / "clip.mp4")
    order = list(range(40))[::step]
    assert [shown(videos, "clip.mp4", index * 0.04) for index in order] == order


def test_a_frame_lasts_until_the_next_one_begins(videos: Videos, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4", shown_at_ms=VFR_MS)
    for index, (begin, end) in enumerate(zip(VFR_MS, [*VFR_MS[1:], 2600], strict=True)):
        assert shown(videos, "clip.mp4", begin / 1000) == index
        assert shown(videos, "clip.mp4", (end - 0.5) / 1000) == index


def test_a_microsecond_of_grace_absorbs_rounded_times(tmp_path: Path) -> None:
    index = read_index(make_video(tmp_path / "clip.mp4", shown_at_ms=[0, 33, 67]))
    assert index.frame_at(0.0329986) == 1, "it is rounded to whole microseconds first (animation.md 3.3)"
    assert index.frame_at(0.0329984) == 0


def test_a_frame_that_was_decoded_ahead_is_found_where_the_next_steps_begin(tmp_path: Path) -> None:
    path = make_video(tmp_path / "clip.mp4")
    decoder = Decoder(path, read_index(path))
    ahead = decoder.frames(10, 1, held_max_bytes=0)
    assert [number(next(ahead).pixels) for _ in range(3)] == [10, 11, 12]
    assert number(next(decoder.frames(12, 2, held_max_bytes=0)).pixels) == 12
    decoder.close()


def test_times_outside_the_video_show_its_ends(videos: Videos, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4")
    assert [shown(videos, "clip.mp4", seconds) for seconds in (-3.0, 1.56, 99.0, 100.0, 0.0)] == [0, 39, 39, 39, 0]


def test_a_video_that_starts_late_counts_from_its_first_frame(videos: Videos, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4", shown_at_ms=range(500, 900, 40))
    assert shown(videos, "clip.mp4", 0.0) == 0
    assert shown(videos, "clip.mp4", 0.08) == 2


def make_video_of_tracks(path: Path, is_enabled: Sequence[bool]) -> None:
    """Write a video whose tracks have levels 0, 1 ... of which only some are enabled."""
    with av.open(str(path), "w") as container:
        streams = [container.add_stream("libx264", rate=25) for _ in is_enabled]
        for stream, enabled in zip(streams, is_enabled, strict=True):
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            stream.disposition = Disposition.default if enabled else Disposition(0)
        for index, stream in enumerate(streams):
            grey = np.full((48, 64, 3), level(index), np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
            container.mux(stream.encode(None))


@pytest.mark.parametrize(
    ("name", "is_enabled", "shown_track"),
    [
        ("a.mp4", (True, False), 0),
        ("a.mp4", (False, True), 1),
        ("a.mov", (False, True, True), 1),
        ("a.mkv", (False, True), 0),
    ],
)
def test_the_first_enabled_track_is_shown(
    videos: Videos, tmp_path: Path, name: str, is_enabled: Sequence[bool], shown_track: int
) -> None:
    make_video_of_tracks(tmp_path / name, is_enabled)
    assert shown(videos, name, 0.0) == shown_track


def test_two_places_of_one_file_are_read_side_by_side(videos: Videos, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4")
    pairs = [
        (shown(videos, "clip.mp4", index * 0.04), shown(videos, "clip.mp4", (39 - index) * 0.04)) for index in range(40)
    ]
    assert pairs == [(index, 39 - index) for index in range(40)]


def test_playing_a_file_again_decodes_each_frame_once(videos: Videos, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4", gop_frames=500)
    for _ in range(3):
        order = [shown(videos, "clip.mp4", index * 0.04) for index in range(40)]
        assert order == list(range(40))
    assert videos.seek_count == 3


def test_a_video_of_one_group_played_backward_is_decoded_a_few_times(tmp_path: Path) -> None:
    """The only backward layer gets the whole budget, counted in bytes of samples: no frame decodes the group again."""
    videos = Videos(lambda src: tmp_path / src, ahead_max_bytes=40 * 64 * 48 * 2)
    make_video(tmp_path / "clip.mp4", gop_frames=500)
    order = list(reversed(range(40)))
    assert [shown(videos, "clip.mp4", index * 0.04) for index in order] == order
    assert videos.seek_count < 6
    videos.close()


def test_runs_of_frames_anywhere_in_a_file_need_one_decoder(videos: Videos, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4")
    for first in (20, 0, 30, 10):
        videos.begin_run()
        assert [shown(videos, "clip.mp4", index * 0.04) for index in range(first, first + 5)] == [
            *range(first, first + 5)
        ]
        assert videos.decoder_count == 1


def test_a_run_needs_as_many_decoders_as_places_are_shown_side_by_side(videos: Videos, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4")
    make_video(tmp_path / "other.mp4")
    for first in (20, 0):
        videos.begin_run()
        for index in range(first, first + 5):
            assert shown(videos, "clip.mp4", index * 0.04) == index
            assert shown(videos, "clip.mp4", (index + 12) * 0.04) == index + 12
            assert shown(videos, "other.mp4", index * 0.04) == index
        assert videos.decoder_count == 3
    videos.begin_run()
    assert shown(videos, "other.mp4", 0.0) == 0
    videos.begin_run()
    assert videos.decoder_count == 1, "those that a whole run did not use are closed"


def test_more_files_than_cursors_are_all_read(videos: Videos, tmp_path: Path) -> None:
    names = [f"{index}.mp4" for index in range(9)]
    for name in names:
        make_video(tmp_path / name, shown_at_ms=range(0, 400, 40))
    for index in (0, 3, 4, 9):
        assert [shown(videos, name, index * 0.04) for name in names] == [index] * len(names)


@pytest.mark.parametrize("budget_bytes", [0, 64 * 48 * 4 * 6, 64 * 48 * 4 * 600])
def test_frames_do_not_depend_on_the_budget(tmp_path: Path, budget_bytes: int) -> None:
    make_video(tmp_path / "clip.mp4")
    videos = Videos(lambda src: tmp_path / src, ahead_max_bytes=budget_bytes)
    order = [0, 1, 2, 8, 9, 30, 29, 28, 27, 5]
    assert [shown(videos, "clip.mp4", index * 0.04) for index in order] == order
    videos.close()


def test_a_display_matrix_turns_the_picture_upright(videos: Videos, tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        left_is_white = np.zeros((32, 64, 3), np.uint8)
        left_is_white[:, :32] = 255
        container.mux(stream.encode(av.VideoFrame.from_ndarray(left_is_white, format="rgb24")))
        container.mux(stream.encode(None))
    turn(path, QUARTER_CLOCKWISE)
    frame = videos.frame("clip.mp4", 0.0)
    assert frame is not None
    pixels = frame.pixels
    assert pixels.shape == (64, 32, 4)
    assert pixels[4, 16, 0] > 240
    assert pixels[60, 16, 0] < 15


@pytest.mark.parametrize("mirror", [1, -1])
@pytest.mark.parametrize(("a", "b", "c", "d"), [(1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0)])
def test_a_display_matrix_turns_and_mirrors(
    videos: Videos, tmp_path: Path, a: int, b: int, c: int, d: int, mirror: int
) -> None:
    levels = {(-1, -1): 40, (1, -1): 100, (-1, 1): 160, (1, 1): 220}
    picture = np.zeros((32, 64, 3), np.uint8)
    for (x, y), grey in levels.items():
        picture[8 + 8 * y :, 16 + 16 * x :] = grey
    with av.open(str(tmp_path / "clip.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=25, options={"crf": "5"})
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    a, c, one = a * mirror, c * mirror, 1 << 16
    turn(tmp_path / "clip.mp4", (a * one, b * one, 0, c * one, d * one, 0, 0, 0, 1 << 30))
    frame = videos.frame("clip.mp4", 0.0)
    assert frame is not None
    rows, columns = frame.pixels.shape[:2]
    assert (columns, rows) == frame.upright_size == ((64, 32) if a else (32, 64))
    for (x, y), grey in levels.items():
        row, column = rows * (2 + b * x + d * y) // 4, columns * (2 + a * x + c * y) // 4
        assert frame.pixels[row, column, 0] == pytest.approx(grey, abs=4)


@pytest.mark.parametrize(
    ("tags", "size", "red"),
    [
        ((1, 1), (64, 48), "bt709"),
        ((6, 1), (64, 48), "bt601"),
        ((2, 0), (64, 48), "bt709"),
        ((2, 0), (1280, 720), "bt709"),
        ((1, 2), (64, 48), "full"),
    ],
)
def test_the_matrix_and_range_follow_the_tags_and_are_bt709_without_any(
    videos: Videos, tmp_path: Path, tags: tuple[int, int], size: tuple[int, int], red: str
) -> None:
    codes = {"bt709": (63, 102, 240), "bt601": (81, 90, 240), "full": (54, 99, 255)}[red]
    with av.open(str(tmp_path / "clip.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=25, options={"qp": "0"})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.colorspace, stream.codec_context.color_range = tags
        frame = av.VideoFrame(*size, "yuv420p")
        frame.colorspace, frame.color_range = tags
        for plane, code in zip(frame.planes, codes, strict=True):
            plane.update(bytes([code]) * plane.buffer_size)
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    frame = videos.frame("clip.mp4", 0.0)
    assert frame is not None
    pixels = frame.pixels
    assert np.abs(pixels[10, 10].astype(int) - (255, 0, 0, 255)).max() <= 3


@pytest.mark.parametrize(
    ("library", "bitstream", "stated", "matrix"),
    [
        ("libvpx", "null", 1, "bt709"),
        ("libvpx", "null", 2, "bt601"),
        ("libvpx-vp9", "vp9_metadata=color_space=unknown", 6, "bt601"),
        ("libvpx-vp9", "vp9_metadata=color_space=unknown", 2, "bt709"),
        ("libvpx-vp9", "vp9_metadata=color_space=bt709", 6, "bt601"),
        ("libvpx-vp9", "vp9_metadata=color_space=bt601", 2, "bt601"),
    ],
)
def test_a_matrix_that_webm_states_replaces_that_of_the_bitstream(
    videos: Videos, tmp_path: Path, library: str, bitstream: str, stated: int, matrix: str
) -> None:
    codes = {"bt709": (63, 102, 240), "bt601": (81, 90, 240)}[matrix]
    with av.open(str(tmp_path / "clip.webm"), "w") as container:
        stream = container.add_stream(library, rate=25, options={"crf": "4", "b": "4M"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.colorspace = stated
        frame = av.VideoFrame(64, 48, "yuv420p")
        frame.colorspace = stated
        for plane, code in zip(frame.planes, codes, strict=True):
            plane.update(bytes([code]) * plane.buffer_size)
        unstated = BitStreamFilterContext(bitstream, stream)
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(unstated.filter(packet))
    shown_frame = videos.frame("clip.webm", 0.0)
    assert shown_frame is not None
    assert np.abs(shown_frame.pixels[10, 10].astype(int) - (255, 0, 0, 255)).max() <= 4


def test_transparency_of_vp9_is_kept_and_premultiplied(videos: Videos, tmp_path: Path) -> None:
    with av.open(str(tmp_path / "clip.webm"), "w") as container:
        stream = container.add_stream("libvpx-vp9", rate=25, options={"lossless": "1", "auto-alt-ref": "0"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuva420p"
        stream.metadata["alpha_mode"] = "1"
        for _ in range(3):
            frame = av.VideoFrame(64, 48, "yuva420p")
            for plane, code in zip(frame.planes, (180, 128, 128, 128), strict=True):
                plane.update(bytes([code]) * plane.buffer_size)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    frame = videos.frame("clip.webm", 0.04)
    assert frame is not None
    pixels = frame.pixels
    assert np.abs(pixels[20, 20].astype(int) - (96, 96, 96, 128)).max() <= 2


def test_a_source_without_a_file_has_no_frame(videos: Videos) -> None:
    assert videos.frame("", 0.0) is None
    assert videos.frame("missing.mp4", 0.0) is None


@pytest.mark.parametrize("contents", [b"", b"no video at all", b"\x00\x00\x00\x18ftypisom" + bytes(400)])
def test_a_file_that_is_no_video_is_named_as_the_reason(videos: Videos, tmp_path: Path, contents: bytes) -> None:
    (tmp_path / "bad.mp4").write_bytes(contents)
    with pytest.raises(MediaUndecodable):
        videos.frame("bad.mp4", 0.0)


def test_a_damaged_stretch_does_not_hide_the_rest(videos: Videos, tmp_path: Path) -> None:
    path = make_video(tmp_path / "clip.mp4", gop_frames=8)
    contents = bytearray(path.read_bytes())
    middle = contents.index(b"mdat") + (contents.index(b"moov") - contents.index(b"mdat")) // 2
    contents[middle : middle + 40] = bytes(40)
    path.write_bytes(contents)
    assert shown(videos, "clip.mp4", 0.0) == 0
    assert shown(videos, "clip.mp4", 39 * 0.04) == 39


def test_the_levels_of_neighbours_can_be_told_apart() -> None:
    assert number(np.full((2, 2, 4), level(17), np.uint8)) == 17
