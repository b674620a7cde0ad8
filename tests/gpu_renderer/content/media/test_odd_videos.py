"""Trimmed, truncated, damaged or oddly tagged files, as phones, editors and broken downloads produce them."""

from __future__ import annotations

import gc
import random
import struct
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.bitstream import BitStreamFilterContext

from gpu_renderer.content.media import video_decoder
from gpu_renderer.content.media.video import Videos
from gpu_renderer.content.media.video_frame import DecodedFrame, Scalers
from gpu_renderer.errors import MediaUndecodable
from gpu_renderer.geometry.region import Region
from tests.gpu_renderer.content.media.video_files import (
    TICK,
    level,
    make_bottom_up_video,
    make_noise_video,
    make_video,
    number,
)

FRAME_COUNT, TRIMMED_COUNT = 40, 8


@pytest.fixture
def videos() -> Iterator[Videos]:
    opened = Videos(Path)
    yield opened
    opened.close()


def shown(videos: Videos, path: Path, index: int) -> int:
    frame = videos.frame(str(path), index * 0.04)
    assert frame is not None
    return number(frame.pixels)


@pytest.mark.parametrize(
    "encoding",
    [
        {"bframes": 0},
        {"bframes": 0, "gop_frames": 500},
        {"gop_frames": 500},
        {"gop_frames": 500, "x264": "b-adapt=0:b-pyramid=normal:bframes=5"},
        {"x264": "open-gop=1:keyint=10:min-keyint=10:bframes=3:b-adapt=0"},
    ],
    ids=str,
)
def test_a_video_trimmed_without_encoding_begins_between_key_frames(
    videos: Videos, tmp_path: Path, encoding: dict[str, Any]
) -> None:
    """An edit list hides the frames before the cut, including the key frame."""
    times = range(-40 * TRIMMED_COUNT, 40 * (FRAME_COUNT - TRIMMED_COUNT), 40)
    path = make_video(tmp_path / "clip.mp4", shown_at_ms=times, **encoding)
    order = list(range(FRAME_COUNT - TRIMMED_COUNT))
    random.Random(7).shuffle(order)
    for indices in (sorted(order), order):
        assert [shown(videos, path, index) for index in indices] == [index + TRIMMED_COUNT for index in indices]
        videos.begin_run()


def test_a_file_that_was_cut_off_shows_its_last_whole_frame(videos: Videos, tmp_path: Path) -> None:
    path = make_video(tmp_path / "clip.mp4", gop_frames=500, bframes=0)
    whole = with_index_in_front(path)
    offset, sizes = whole.index(b"mdat") + 4, sample_sizes(whole)
    path.write_bytes(whole[: offset + sum(sizes[:21]) - sizes[20] // 2])
    assert [shown(videos, path, index) for index in (*range(20), 30, 5, 39)] == [*range(20), 19, 5, 19]


def test_a_format_that_no_decoder_knows_is_named_as_the_reason(videos: Videos, tmp_path: Path) -> None:
    path = make_video(tmp_path / "clip.mp4")
    path.write_bytes(path.read_bytes().replace(b"avc1", b"zzzz"))
    with pytest.raises(MediaUndecodable) as fault:
        videos.frame(str(path), 0.0)
    assert fault.value.public_message == "A video has a format that cannot be decoded."


@pytest.mark.parametrize("tag", ["color_primaries", "color_trc"])
def test_tags_of_colours_that_mean_nothing_change_nothing(tag: str) -> None:
    picture = np.random.default_rng(3).integers(0, 256, (48, 64, 3), np.uint8)
    plain, tagged = (av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format="yuv422p10le") for _ in range(2))
    setattr(tagged, tag, 3)
    assert np.array_equal(DecodedFrame(tagged, Scalers(None)).pixels, DecodedFrame(plain, Scalers(None)).pixels)


def sample_sizes(contents: bytes | bytearray) -> tuple[int, ...]:
    """Return the bytes of each frame, in stored order."""
    table = contents.index(b"stsz") + 12
    (count,) = struct.unpack_from(">I", contents, table)
    return struct.unpack_from(f">{count}I", contents, table + 4)


def with_index_in_front(path: Path) -> bytes:
    """Return the MP4 rewritten with its frames at the end."""
    moved = path.with_suffix(".moved.mp4")
    with av.open(str(path)) as source, av.open(str(moved), "w", options={"movflags": "faststart"}) as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    return moved.read_bytes()


@pytest.mark.parametrize("is_backward", [False, True])
def test_a_file_whose_last_groups_are_broken_freezes_on_the_last_whole_frame(
    videos: Videos, tmp_path: Path, is_backward: bool
) -> None:
    path = make_video(tmp_path / "clip.mp4", gop_frames=4, bframes=0)
    destroy_frames(path, range(16, FRAME_COUNT))
    order = reversed(range(FRAME_COUNT)) if is_backward else range(FRAME_COUNT)
    assert {index: shown(videos, path, index) for index in order} == {n: min(n, 15) for n in range(FRAME_COUNT)}
    assert videos.seek_count < FRAME_COUNT / 2


def test_a_last_group_that_cannot_be_read_freezes_on_the_frame_before(videos: Videos, tmp_path: Path) -> None:
    """Its table points beyond the end of the file."""
    path = make_video(tmp_path / "clip.mp4", gop_frames=4, bframes=0)
    contents = bytearray(path.read_bytes())
    table = contents.index(b"stsz") + 16
    struct.pack_into(">I", contents, table + 4 * 20, 1 << 28)
    path.write_bytes(contents)
    assert [shown(videos, path, index) for index in range(FRAME_COUNT)] == [min(n, 19) for n in range(FRAME_COUNT)]


def test_a_file_whose_list_of_key_frames_is_wrong_is_decoded_from_its_start(videos: Videos, tmp_path: Path) -> None:
    """Seeking fails without an entry in that list."""
    path = make_video(tmp_path / "clip.mp4", gop_frames=10, bframes=0)
    contents = bytearray(path.read_bytes())
    struct.pack_into(">I", contents, contents.index(b"stss") + 12, 1 << 24)
    path.write_bytes(contents)
    for order in (range(FRAME_COUNT), (35, 12, 11, 10, 39)):
        assert [shown(videos, path, index) for index in order] == list(order)
        videos.begin_run()


@pytest.mark.parametrize("damaged", [[3, 14, 22], [12], [0, 23, 24]], ids=str)
def test_a_damaged_video_looks_the_same_however_decoding_gets_to_a_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: list[int]
) -> None:
    path = make_noise_video(tmp_path / "clip.mp4", (64, 48), 36)
    contents, sizes = bytearray(path.read_bytes()), sample_sizes(path.read_bytes())
    for index in damaged:
        middle = contents.index(b"mdat") + 4 + sum(sizes[:index]) + sizes[index] // 2
        contents[middle : middle + 40] = bytes(range(40))
    path.write_bytes(contents)
    order = list(range(36))
    random.Random(5).shuffle(order)
    in_turn = pixels_of(path, [sorted(order)])
    assert pixels_of(path, [[index] for index in order]) == in_turn
    assert pixels_of(path, [sorted(order, reverse=True)]) == in_turn
    monkeypatch.setattr(video_decoder, "DECODER_THREADS_MAX", 1)
    assert pixels_of(path, [sorted(order)]) == in_turn


def pixels_of(path: Path, runs: list[list[int]]) -> dict[int, bytes]:
    """Return the frames of runs, each with a new decoder."""
    found: dict[int, bytes] = {}
    for run in runs:
        opened = Videos(Path)
        for index in run:
            frame = opened.frame(str(path), index / 30)
            assert frame is not None
            found[index] = frame.pixels.tobytes()
        opened.close()
    return found


def test_a_stream_that_shrinks_is_held_backward_by_the_sizes_of_its_frames(tmp_path: Path) -> None:
    """The small frames at the end do not show how many of the large ones before them fit into the budget."""
    path = make_shrinking_video(tmp_path / "clip.webm")
    videos = Videos(Path, ahead_max_bytes=2 * LARGE[0] * LARGE[1] * 4)
    held = []
    for index in reversed(range(FRAME_COUNT)):
        assert shown(videos, path, index) == index
        held.append(sum(isinstance(found, av.VideoFrame) and found.width == LARGE[0] for found in gc.get_objects()))
    videos.close()
    assert max(held) < FRAME_COUNT / 4


LARGE, SMALL = (640, 480), (64, 48)


def make_shrinking_video(path: Path) -> Path:
    """Write a VP9 stream whose second half has small frames. Only the stream itself announces the change."""
    with av.open(str(path), "w", format="webm") as container:
        stream = container.add_stream("libvpx-vp9", rate=25)
        codecs = {LARGE: stream.codec_context, SMALL: av.CodecContext.create("libvpx-vp9", "w")}
        for first, (size, codec) in zip((0, FRAME_COUNT // 2), codecs.items(), strict=True):
            codec.width, codec.height = size
            codec.pix_fmt, codec.time_base, codec.framerate = "yuv420p", TICK, Fraction(25)
            codec.options = {"deadline": "realtime", "cpu-used": "8"}
            grey = (
                np.full((size[1], size[0], 3), level(index), np.uint8)
                for index in range(first, first + FRAME_COUNT // 2)
            )
            frames = [
                av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format="yuv420p") for picture in grey
            ]
            for index, frame in enumerate([*frames, None], first):
                if frame is not None:
                    frame.pts, frame.time_base = index * 40, TICK
                for packet in codec.encode(frame):
                    packet.stream = stream
                    container.mux(packet)
    return path


def destroy_frames(path: Path, indices: range) -> None:
    """Overwrite frames except for the first bytes, which mark a key frame."""
    contents = bytearray(path.read_bytes())
    offset, sizes = contents.index(b"mdat") + 4, sample_sizes(contents)
    for index in indices:
        first = offset + sum(sizes[:index]) + 5
        contents[first : first + sizes[index] - 5] = b"\xff" * (sizes[index] - 5)
    path.write_bytes(contents)


def test_an_uncompressed_video_that_begins_with_its_bottom_row_is_drawn_upright(videos: Videos, tmp_path: Path) -> None:
    frame = videos.frame(str(make_bottom_up_video(tmp_path / "clip.mkv")), 0.0)
    assert frame is not None
    column = frame.pixels[:, 0, 0].astype(int)
    assert column[0] == 36 and column[-1] == 0 and np.all(np.diff(column) <= 0)  # luma 47 to 0, limited range
    assert np.array_equal(frame.pixels_of(Region(8, 4, 16, 8)), frame.pixels[4:12, 8:24])
    assert not frame.has_samples
    assert not frame.has_plain_samples


def test_columns_that_a_file_crops_at_the_left_are_not_shown(videos: Videos, tmp_path: Path) -> None:
    whole = make_noise_video(tmp_path / "whole.mp4", (96, 64), frame_count=1)
    cropped = tmp_path / "cropped.mp4"
    with av.open(str(whole)) as source, av.open(str(cropped), "w") as container:
        stream = source.streams.video[0]
        written = container.add_stream_from_template(stream)
        crop = BitStreamFilterContext("h264_metadata=crop_left=10:crop_right=6", stream, written)
        for packet in [*source.demux(stream), None]:
            for changed in crop.filter(packet if packet is not None and packet.size else None):
                changed.stream = written
                container.mux(changed)
    frame, uncropped = videos.frame(str(cropped), 0.0), videos.frame(str(whole), 0.0)
    assert frame is not None
    assert uncropped is not None
    # The outermost columns have other neighbours in colour.
    assert np.array_equal(frame.pixels[:, 1:-1], uncropped.pixels[:, 11:-7])
