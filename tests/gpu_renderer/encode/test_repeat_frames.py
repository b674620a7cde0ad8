"""Repeat frames are written as skipped macroblocks, and a standard decoder reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest

from gpu_renderer.encode.finish import finish
from gpu_renderer.encode.formats import FORMATS, FilePlan
from gpu_renderer.encode.planes import encoder_frame, layout
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.encode.repeat_frames import (
    ENCODED_REPEATS,
    BitReader,
    NalUnit,
    StreamNotUnderstood,
    byte_stream,
    exp_golomb,
    nal_units,
    repeat_frames,
    signed_exp_golomb,
)
from gpu_renderer.encode.segments import SegmentWriter

PROFILE = EncoderProfile()
SIZES = [(96, 64), (160, 90), (640, 362)]


def picture(seed: int, size: tuple[int, int]) -> av.VideoFrame:
    """Return a frame of soft noise."""
    chance = np.random.default_rng(seed)
    frame = encoder_frame(layout(size[0] + size[0] % 2, size[1] + size[1] % 2))
    for plane in frame.planes:
        rough = chance.integers(40, 200, (-(-plane.height // 8), -(-plane.line_size // 8)), np.uint8)
        plane.update(np.kron(rough, np.ones((8, 8), np.uint8))[: plane.height, : plane.line_size].tobytes())
    return frame


def write_segment(
    path: Path, runs: list[int], size: tuple[int, int] = SIZES[0], profile: EncoderProfile = PROFILE
) -> SegmentWriter:
    """Write a segment of pictures, each shown a number of times in a row."""
    with SegmentWriter(path, profile, *size, 30.0) as writer:
        for seed, count in enumerate(runs):
            frame = picture(seed, size)
            for number in range(count):
                writer.write(frame, is_repeat=number > 0)
        writer.close()
    return writer


def decoded(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray() for frame in container.decode(video=0)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_held_picture_is_shown_unchanged_until_the_next_one(
    tmp_path: Path, size: tuple[int, int], threads: int
) -> None:
    runs = [3, 90, 1, 1, 40, 2]
    writer = write_segment(tmp_path / "held.mp4", runs, size, replace(PROFILE, threads=threads))
    assert writer.repeat_count == (90 - 1 - ENCODED_REPEATS) + (40 - 1 - ENCODED_REPEATS)
    plan = FilePlan(FORMATS["mp4"], size[0], size[1], 30.0, sum(runs))
    finish([tmp_path / "held.mp4"], tmp_path / "out.mp4", plan)
    frames = decoded(tmp_path / "out.mp4")
    for held in (range(3 + 1 + ENCODED_REPEATS, 93), range(95 + 1 + ENCODED_REPEATS, 135)):
        assert all(np.array_equal(frames[number], frames[number - 1]) for number in held)
    shown = [seed for seed, count in enumerate(runs) for _ in range(count)]
    for number, seed in enumerate(shown):
        plane = picture(seed, size).planes[0]
        luma = np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, plane.line_size)
        assert np.abs(frames[number][: size[1], : size[0]].astype(int) - luma[: size[1], : size[0]]).mean() < 4


@pytest.mark.parametrize("preset", ["superfast", "medium", "slow"])
def test_pictures_are_held_with_more_references_and_weights_too(tmp_path: Path, preset: str) -> None:
    writer = write_segment(tmp_path / "held.mp4", [3, 60, 2], profile=replace(PROFILE, preset=preset))
    assert writer.repeat_count == 60 - 1 - ENCODED_REPEATS
    frames = decoded(tmp_path / "held.mp4")
    assert len(frames) == 65
    assert all(np.array_equal(frames[number], frames[number - 1]) for number in range(3 + 1 + ENCODED_REPEATS, 63))


def test_segments_that_end_and_begin_in_a_hold_are_joined(tmp_path: Path) -> None:
    parts = [tmp_path / f"{number}.mp4" for number in range(3)]
    for part, runs in zip(parts, ([60], [50, 60], [1]), strict=True):
        write_segment(part, runs)
    finish(parts, tmp_path / "out.mp4", FilePlan(FORMATS["mp4"], 96, 64, 30.0, 171))
    assert len(decoded(tmp_path / "out.mp4")) == 171


def test_the_same_frames_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_segment(tmp_path / name, [5, 80, 7])
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_long_hold_has_key_frames_as_often_as_any_stream(tmp_path: Path) -> None:
    write_segment(tmp_path / "long.mp4", [200], profile=replace(PROFILE, gop_frames=60))
    with av.open(str(tmp_path / "long.mp4")) as container:
        keys = [packet.pts for packet in container.demux(video=0) if packet.is_keyframe]
    assert len(keys) == 4


def test_a_picture_that_stops_after_a_long_movement_is_held_behind_a_key_frame(tmp_path: Path) -> None:
    profile = replace(PROFILE, gop_frames=30)
    writer = write_segment(tmp_path / "late.mp4", [1] * 50 + [60], profile=profile)
    assert writer.repeat_count > 20
    with av.open(str(tmp_path / "late.mp4")) as container:
        keys = [round(packet.pts * packet.time_base * 30) for packet in container.demux(video=0) if packet.is_keyframe]
    assert max(np.diff([*keys, 110])) <= 30
    assert len(decoded(tmp_path / "late.mp4")) == 110


def test_repeats_are_all_encoded_where_the_stream_cannot_be_continued(tmp_path: Path) -> None:
    """The fastest preset does not use arithmetic coding."""
    plain = replace(PROFILE, preset="ultrafast")
    assert repeat_frames(plain, *SIZES[0], 30.0) is None
    assert write_segment(tmp_path / "plain.mp4", [60], profile=plain).repeat_count == 0
    assert len(decoded(tmp_path / "plain.mp4")) == 60


def test_numbers_are_read_as_they_were_written() -> None:
    values = (0, 1, 2, 7, 255, 70_000)
    write_segment = [(value, value, -value) for value in values]
    bits = "".join(exp_golomb(a) + signed_exp_golomb(b) + signed_exp_golomb(c) for a, b, c in write_segment) + "101"
    bits += "1" * (-len(bits) % 8)
    reader = BitReader(int(bits, 2).to_bytes(len(bits) // 8))
    assert [tuple(reader.fields("uss")) for _ in values] == write_segment
    assert (reader.fields("1"), reader.fixed(2)) == ([1], 1)
    with pytest.raises(StreamNotUnderstood, match="too early"):
        reader.fixed(64)


def test_a_payload_that_looks_like_a_start_code_is_escaped() -> None:
    unit = NalUnit(1, 2, b"\x00\x00\x01\x00\x00\x00\x00\x03\x80")
    assert list(nal_units(byte_stream(unit))) == [unit]
