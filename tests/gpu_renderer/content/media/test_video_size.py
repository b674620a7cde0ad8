"""A video whose stream is larger than its container claims is refused before it is decoded."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gpu_renderer.content.media import video_file
from gpu_renderer.content.media.video import Videos
from gpu_renderer.errors import MediaUndecodable
from tests.gpu_renderer.content.media.video_files import make_video


def disguised(path: Path) -> Path:
    """Return a video of 320 x 240 whose container claims 64 x 48."""
    make_video(path, size=(320, 240), shown_at_ms=range(0, 400, 40))
    contents = bytearray(path.read_bytes())
    entry = contents.index(b"avc1", contents.index(b"stsd")) + 4 + 24
    assert struct.unpack(">HH", contents[entry : entry + 4]) == (320, 240)
    contents[entry : entry + 4] = struct.pack(">HH", 64, 48)
    header = contents.index(b"tkhd") + 4 + 76
    contents[header : header + 8] = struct.pack(">II", 64 << 16, 48 << 16)
    path.write_bytes(contents)
    return path


def test_a_disguised_stream_is_refused_by_its_own_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = disguised(tmp_path / "a.mp4")
    assert Videos(lambda _: path).frame("a", 0.0) is not None
    monkeypatch.setattr(video_file, "PIXELS_MAX", 100 * 100)
    with pytest.raises(MediaUndecodable) as refusal:
        Videos(lambda _: path).frame("a", 0.0)
    assert "A video" in refusal.value.public_message


def test_a_video_of_an_ordinary_size_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_video(tmp_path / "a.mp4", shown_at_ms=range(0, 400, 40))
    monkeypatch.setattr(video_file, "PIXELS_MAX", 64 * 48)
    assert Videos(lambda _: path).frame("a", 0.2) is not None
