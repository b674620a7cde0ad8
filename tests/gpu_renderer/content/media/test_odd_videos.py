"""Files that were trimmed, cut off, damaged, or tagged oddly, as telephones, editors and broken downloads leave them."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from gpu_renderer.content.media.video import Videos
from gpu_renderer.content.media.video_frame import DecodedFrame, Scalers
from gpu_renderer.errors import MediaUndecodable
from tests.gpu_renderer.content.media.video_files import make_video, number

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
    """An edit list hides the frames before the cut, the key frame among them."""
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
    """Return the bytes of each frame, in the order stored."""
    table = contents.index(b"stsz") + 12
    (count,) = struct.unpack_from(">I", contents, table)
    return struct.unpack_from(f">{count}I", contents, table + 4)


def with_index_in_front(path: Path) -> bytes:
    """Return an MP4 rewritten so that its frames come last."""
    moved = path.with_suffix(".moved.mp4")
    with av.open(str(path)) as source, av.open(str(moved), "w", options={"movflags": "faststart"}) as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    return moved.read_bytes()
