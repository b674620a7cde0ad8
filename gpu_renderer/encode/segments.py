"""Write segments: runs of frames in separate files, each with a new encoder, closed GOPs and timestamps from 0.

`SegmentWriter` encodes NV12 frames as H.264. `PictureSegment` encodes RGBA pictures with a `VideoCodec`. `SequenceSegment`
stores pictures as PNG or JPEG files in an uncompressed archive.
"""

from __future__ import annotations

import io
import zipfile
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Self

import av
import numpy as np
import numpy.typing as npt
from av.video.frame import PictureType
from PIL import Image

from gpu_renderer.encode import repeat_frames
from gpu_renderer.encode.formats import FileFormat, Quality, VideoCodec
from gpu_renderer.encode.planes import BT709, LIMITED_RANGE, tagged
from gpu_renderer.encode.profile import EncoderProfile, configure, configure_pictures, rate

CONTAINER_OPTIONS = {"fflags": "+bitexact"}
"""Muxer options that keep the library's version out of the file."""
THREADS = 4
"""Number of threads of picture encoders. It is fixed because the bytes of some encoders depend on it."""
JPEG_QUALITY = 92

Picture = npt.NDArray[np.uint8]
"""RGBA of shape (rows, columns, 4), display-encoded, with straight alpha if the segment keeps it."""


class SegmentFile:
    """Base class of segment files. The context manager deletes the file after an error."""

    def __init__(self, path: Path, file: av.container.OutputContainer | zipfile.ZipFile) -> None:
        self._path, self._file = path, file

    def close(self) -> int:
        """Finish the file and return its size in bytes."""
        self._flush()
        self._file.close()
        return self._path.stat().st_size

    def _flush(self) -> None:
        """Write the remaining packets of the encoder."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._file.close()
            self._path.unlink(missing_ok=True)


class SegmentWriter(SegmentFile):
    """Encode frames into an MP4 file. The file is complete after `close` returns."""

    def __init__(self, path: Path, profile: EncoderProfile, width: int, height: int, fps: float) -> None:
        # First, while no other encoder uses memory.
        self._repeat_frames = repeat_frames.repeat_frames(profile, width, height, fps)
        self._container = av.open(str(path), "w", format="mp4", options=CONTAINER_OPTIONS)
        super().__init__(path, self._container)
        self._stream = self._container.add_stream(profile.codec, rate=rate(fps))
        configure(self._stream.codec_context, profile, width, height, fps)
        self._gop_frames = profile.gop_frames
        self._repeats = 0
        self._since_key = 0
        self._is_key_due = False
        self._pending: deque[range] = deque()
        """Runs of repeat frames that still have to be written."""
        self._last_reference = b""
        self._reorder_delay: int | None = None
        self._written = 0
        self.frame_count = 0
        self.repeat_count = 0
        """Number of repeat frames."""

    def write(self, frame: av.VideoFrame, *, is_repeat: bool = False) -> None:
        """Add the next frame. `is_repeat` means that it equals the last frame and can be written as a repeat frame.

        All frames must be in the same kind of memory as the first one. A frame in main memory can be overwritten after the
        call.
        """
        if self.frame_count == 0:
            self._stream.codec_context.pix_fmt = frame.format.name
        self._repeats = self._repeats + 1 if is_repeat else 0
        if self._repeats > repeat_frames.ENCODED_REPEATS and self._repeats_next():
            return
        if self._is_key_due:
            frame.pict_type, self._since_key, self._is_key_due = PictureType.I, 0, False
        frame.pts, frame.time_base = self.frame_count, self._stream.codec_context.time_base
        self.frame_count += 1
        self._since_key += 1
        self._mux(self._stream.encode(frame))
        frame.pict_type = PictureType.NONE

    def _repeats_next(self) -> bool:
        """Record the next frame as a repeat frame and return True. Return False if that is impossible or a key frame is due."""
        can_repeat = self._repeat_frames is not None
        if not can_repeat or self._since_key >= self._gop_frames:
            self._repeats, self._is_key_due = 0, can_repeat
            return False
        continues = self._pending and self._pending[-1].stop == self.frame_count
        first = self._pending.pop().start if continues else self.frame_count
        self._pending.append(range(first, self.frame_count + 1))
        self._is_key_due = True
        self.frame_count += 1
        self.repeat_count += 1
        self._since_key += 1
        return True

    def _flush(self) -> None:
        self._mux(self._stream.encode(None))
        while self._pending:
            self._show(self._pending.popleft())

    def _mux(self, packets: Iterable[av.Packet]) -> None:
        """Write packets in decoding order, and repeat frames before the key frame that ends them."""
        for packet in packets:
            assert packet.pts is not None, "an encoder's packets tell when they are shown"
            if self._pending and packet.pts >= self._pending[0].stop:
                self._show(self._pending.popleft())
            if repeat_frames.is_reference(data := bytes(packet)):
                self._last_reference = data
            self._put(packet, packet.pts)

    def _show(self, pending: range) -> None:
        assert self._repeat_frames is not None, "pending frames can be written"
        repeats = self._repeat_frames.after(self._last_reference, len(pending))
        for number, data in zip(pending, repeats, strict=True):
            self._put(av.Packet(data), number)

    def _put(self, packet: av.Packet, shown: int) -> None:
        """Write a packet. Its decoding time is its number minus the encoder's reorder delay."""
        if self._reorder_delay is None:
            self._reorder_delay = -(packet.dts or 0)
        packet.stream, packet.time_base = self._stream, self._stream.codec_context.time_base
        packet.pts, packet.dts, packet.duration = shown, self._written - self._reorder_delay, 1
        self._written += 1
        self._container.mux_one(packet)


class PictureSegment(SegmentFile):
    """Segment that encodes pictures with a `VideoCodec`.

    Formats with 4:2:0 samples round odd sides up: the last row or column is repeated.
    """

    def __init__(
        self, path: Path, codec: VideoCodec, size: tuple[int, int], fps: float, *, keeps_alpha: bool, quality: Quality
    ) -> None:
        self._is_yuv = codec.is_yuv
        self._pixel_format = (codec.alpha_format if keeps_alpha else None) or codec.pixel_format
        columns, rows = (side % 2 if "420" in self._pixel_format else 0 for side in size)
        self._growth = ((0, rows), (0, columns), (0, 0))
        container = {"mkv": "matroska"}.get(codec.container, codec.container)
        self._container = av.open(str(path), "w", format=container, options=CONTAINER_OPTIONS)
        super().__init__(path, self._container)
        self._stream = self._container.add_stream(codec.name, rate=rate(fps))
        context, coded = self._stream.codec_context, (size[0] + columns, size[1] + rows)
        configure_pictures(
            context, coded, fps, self._pixel_format, codec.gop_frames, codec.options_for(quality, coded[0])
        )
        context.thread_count = THREADS
        if codec.is_yuv:
            tagged(context)
        if codec.tag is not None:
            context.codec_tag = codec.tag
        if keeps_alpha and codec.name == "libvpx-vp9":
            self._stream.metadata["alpha_mode"] = "1"
        self._count = 0

    def write(self, picture: Picture) -> None:
        """Encode the next frame."""
        shown = np.pad(picture, self._growth, mode="edge") if np.any(self._growth) else picture
        rgba = av.VideoFrame.from_ndarray(np.ascontiguousarray(shown), "rgba")
        if self._is_yuv:
            # The converter writes 16 samples of 10 bits at a time, past the end of a row and over another thread's row.
            threads = None if rgba.width % 16 == 0 else 1
            options = {"dst_colorspace": BT709, "dst_color_range": LIMITED_RANGE, "threads": threads}
            frame = tagged(rgba.reformat(format=self._pixel_format, **options))
        else:
            frame = rgba.reformat(format=self._pixel_format)
        frame.pts, frame.time_base = self._count, self._stream.codec_context.time_base
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def _flush(self) -> None:
        self._container.mux(self._stream.encode(None))


class SequenceSegment(SegmentFile):
    """Numbered pictures, from `00000`, in an archive without compression and timestamps."""

    def __init__(self, path: Path, kind: Literal["png", "jpeg"], *, keeps_alpha: bool) -> None:
        self._kind, self._keeps_alpha = kind, keeps_alpha
        self._archive = zipfile.ZipFile(path, "w", zipfile.ZIP_STORED)
        super().__init__(path, self._archive)

    def write(self, picture: Picture) -> None:
        """Encode the next picture."""
        name = f"{len(self._archive.namelist()):05d}"
        self._archive.writestr(zipfile.ZipInfo(name), picture_file(picture, self._kind, keeps_alpha=self._keeps_alpha))


PictureFile = PictureSegment | SequenceSegment


def open_segment(
    path: Path, format: FileFormat, size: tuple[int, int], fps: float, *, keeps_alpha: bool, quality: Quality
) -> PictureFile:
    """Return a new segment of a format other than H.264. `size`: width and height in pixels."""
    if format.picture is not None:
        return SequenceSegment(path, format.picture, keeps_alpha=keeps_alpha)
    assert format.codec is not None, "H.264 has its own segments"
    return PictureSegment(path, format.codec, size, fps, keeps_alpha=keeps_alpha, quality=quality)


def picture_file(picture: Picture, kind: Literal["png", "jpeg"], *, keeps_alpha: bool) -> bytes:
    """Return a picture file: RGB, or RGBA with straight alpha for a PNG that `keeps_alpha`."""
    channels = 4 if keeps_alpha and kind == "png" else 3
    buffer = io.BytesIO()
    options = {"quality": JPEG_QUALITY, "subsampling": 0} if kind == "jpeg" else {}
    Image.fromarray(np.ascontiguousarray(picture[..., :channels])).save(buffer, kind, **options)
    return buffer.getvalue()
