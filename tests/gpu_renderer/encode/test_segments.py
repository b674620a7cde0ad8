"""Segments of complete frames, and the files that are made of them."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import av
import numpy as np
import pytest

from gpu_renderer.encode.finish import finish
from gpu_renderer.encode.formats import FORMATS, QUALITIES, FilePlan, Quality
from gpu_renderer.encode.segments import Picture, open_segment
from gpu_renderer.encode.sound_track import Samples

SIZE = (64, 48)


def noise(count: int) -> list[Picture]:
    pictures = np.random.default_rng(0).integers(0, 256, (count, SIZE[1], SIZE[0], 4), np.uint8)
    pictures[..., 3] = 255
    return list(pictures)


def made(
    folder: Path, name: str, pictures: list[Picture], quality: Quality = "high", sound: list[Samples] | None = None
) -> Path:
    """Encode pictures as a file of a format, by one segment."""
    size, file_format = (pictures[0].shape[1], pictures[0].shape[0]), FORMATS[name]
    path, output = folder / f"segment{file_format.segment_ending}", folder / f"out{file_format.ending}"
    with open_segment(path, file_format, size, 30.0, keeps_alpha=False, quality=quality) as segment:
        for picture in pictures:
            segment.write(picture)
        segment.close()
    finish([path], output, FilePlan(file_format, *size, 30.0, len(pictures), quality=quality), sound)
    return output


@pytest.mark.parametrize("name", ["mp4-h265", "mp4-av1", "webm", "webp"])
def test_files_of_a_lower_quality_are_smaller(tmp_path: Path, name: str) -> None:
    sizes = [made(tmp_path, name, noise(3), quality).stat().st_size for quality in QUALITIES]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(QUALITIES)


def test_pictures_of_an_odd_size_repeat_their_last_row_and_column(tmp_path: Path) -> None:
    plain = np.full((17, 33, 4), (200, 60, 30, 255), np.uint8)
    with av.open(str(made(tmp_path, "webm", [plain]))) as container:
        (frame,) = container.decode(video=0)
    assert (frame.width, frame.height) == (34, 18)
    assert np.abs(frame.to_ndarray(format="rgb24").astype(int) - plain[0, 0, :3]).max() <= 4


def test_a_webp_states_the_length_of_each_of_its_chunks(tmp_path: Path) -> None:
    data = made(tmp_path, "webp", noise(3)).read_bytes()
    assert data[:4] + data[8:12] == b"RIFFWEBP"
    assert struct.unpack_from("<I", data, 4)[0] == len(data) - 8
    names, place = [], 12
    while place < len(data):
        name, size = struct.unpack_from("<4sI", data, place)
        names.append(name)
        place += 8 + size + size % 2
    assert (names, place) == ([b"VP8X", b"ANIM", *[b"ANMF"] * 3], len(data))


def test_a_sequence_has_its_sound_in_the_archive_and_nothing_beside_it(tmp_path: Path) -> None:
    output = made(tmp_path, "png-sequence", noise(2), sound=[np.zeros((480, 2), np.float32)])
    with zipfile.ZipFile(output) as archive:
        assert archive.namelist() == ["frame_0000.png", "frame_0001.png", "audio.wav"]
        assert len(archive.read("audio.wav")) == 44 + 480 * 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.zip", "segment.zip"]


def test_equal_pictures_of_any_width_are_equal_frames_of_prores(tmp_path: Path) -> None:
    path, size = tmp_path / "a.mov", (102, 58)
    picture = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 4), np.uint8)
    with open_segment(path, FORMATS["mov"], size, 30.0, keeps_alpha=True, quality="high") as segment:
        for _ in range(400):
            segment.write(picture)
        segment.close()
    with av.open(str(path)) as container:
        frames = [bytes(packet) for packet in container.demux(video=0) if packet.size]
    assert len(frames) == 400
    assert len(set(frames)) == 1
