"""Small MP4 files whose tables cost a decoder gigabytes or minutes."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import av
import pytest

from farm_core.assets.inspection import kind_at
from farm_core.errors import BadRequest
from tests.api import media


def lying(file: bytes, size: int, count: int, box: bytes = b"stsz") -> bytes:
    """Return an MP4 whose first table of sample sizes claims `count` samples of `size` bytes."""
    at = file.index(box) + 8
    return file[:at] + struct.pack(">II", size, count) + file[at + 8 :]


@pytest.mark.parametrize(("size", "count"), [(1, 30_000_000), (1_000, 100_000), (0, 3_000_000)])
def test_an_index_of_more_samples_than_the_file_has_is_refused_before_a_decoder_reads_it(
    size: int, count: int, tmp_path: Path
) -> None:
    path = tmp_path / "video.mp4"
    for whole in (media.video("mp4", "libx264"), media.sound("m4a", "aac")):
        path.write_bytes(whole)
        kind_at(str(path), None)
        path.write_bytes(lying(whole, size, count))
        with pytest.raises(BadRequest, match=f"index lists {count:,} samples; at most 2,000,000"):
            kind_at(str(path), None)


@pytest.mark.parametrize("overrun", [0, 1 << 20], ids=["whole", "cut off"])
def test_fragments_of_more_samples_than_a_film_has_are_refused(overrun: int, tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    whole = fragmented()
    path.write_bytes(whole)
    assert kind_at(str(path), None) == "video/mp4"
    run = whole.index(b"trun") + 4
    stated = whole[:run] + struct.pack(">II", 0, 30_000_000) + whole[run + 8 :]
    fragment = whole.index(b"moof") - 4
    (size,) = struct.unpack(">I", whole[fragment : fragment + 4])
    path.write_bytes(stated[:fragment] + struct.pack(">I", size + overrun) + stated[fragment + 4 :])
    with pytest.raises(BadRequest, match="fragments list more than 2,000,000 samples"):
        kind_at(str(path), None)


def fragmented() -> bytes:
    """Return an MP4 whose index is in its fragments."""
    packed = io.BytesIO()
    with (
        av.open(io.BytesIO(media.video("mp4", "libx264"))) as source,
        av.open(packed, "w", format="mp4", options={"movflags": "frag_keyframe+empty_moov"}) as target,
    ):
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    return packed.getvalue()


def test_hours_of_uncompressed_sound_are_no_index_of_too_many_samples(tmp_path: Path) -> None:
    path = tmp_path / "sound.mov"
    path.write_bytes(lying(media.sound("mov", "pcm_s16le"), 2, 500_000_000))
    assert kind_at(str(path), None) == "video/quicktime"


def test_an_edit_list_that_repeats_the_video_thousands_of_times_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    whole = media.video("mp4", "libx264")
    start, movie, track = (whole.index(kind) - 4 for kind in (b"edts", b"moov", b"trak"))
    (size,) = struct.unpack(">I", whole[start : start + 4])
    for count, is_accepted in ((3, True), (5_000, False)):
        entries = struct.pack(">Iihh", 1_000, 0, 1, 0) * count
        table = struct.pack(">I4sII", 16 + len(entries), b"elst", 0, count) + entries
        edits = struct.pack(">I4s", 8 + len(table), b"edts") + table
        longer = bytearray(whole[:start] + edits + whole[start + size :])
        for parent in (movie, track):
            (stated,) = struct.unpack(">I", longer[parent : parent + 4])
            longer[parent : parent + 4] = struct.pack(">I", stated + len(edits) - size)
        path.write_bytes(longer)
        if is_accepted:
            assert kind_at(str(path), None) == "video/mp4"
        else:
            with pytest.raises(BadRequest, match="an edit list has 5,000 entries; at most 500"):
                kind_at(str(path), None)
