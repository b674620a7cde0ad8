"""Files that make a decoder open other files."""

from __future__ import annotations

from pathlib import Path

import av
import pytest

from gpu_renderer.content.media.video_file import opened

PLAYLIST = b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
SESSION = (
    b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n"
)
CONCAT = b"ffconcat version 1.0\nfile /etc/passwd\n"


@pytest.mark.parametrize("content", [PLAYLIST, SESSION, CONCAT, b"ID3\x04\x00\x00\x00\x00\x00\x00" + SESSION])
@pytest.mark.parametrize("name", ["a.mp4", "a.mp3", "a.sdp", "a.m3u8"])
def test_playlists_and_session_descriptions_are_not_opened(content: bytes, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(av.FFmpegError):
        opened(path).close()
