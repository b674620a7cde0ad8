"""Segments of whole pictures: every format but H.264. A segment is a file of its own with timestamps from 0.

`PictureSegment` encodes with a `VideoCodec`. `SequenceSegment` keeps PNG or JPEG files in an uncompressed archive.
"""

from __future__ import annotations

import io
import zipfile
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import av
import numpy as np
import numpy.typing as npt
from PIL import Image

from gpu_renderer.encode.formats import FileFormat, Quality, VideoCodec
from gpu_renderer.encode.planes import BT709, LIMITED_RANGE
from gpu_renderer.encode.profile import rate
from gpu_renderer.encode.segment import CONTAINER_OPTIONS, SegmentFile

THREADS = 4
"""Fixed number of encoder threads: the bytes of some encoders depend on it."""
JPEG_QUALITY = 92
CONTAINER_FORMATS = {"mkv": "matroska", "webm": "webm", "mov": "mov", "mp4": "mp4"}
_ALPHA_MODE = "alpha_mode"

Picture = npt.NDArray[np.uint8]
"""RGBA of shape (rows, columns, 4), display-encoded, with straight alpha if the segment keeps it."""


class PictureFile(SegmentFile):
    """Segment to which pictures are added."""

    @abstractmethod
    def write(self, picture: Picture) -> None:
        """Add the next frame."""


def open_segment(
    path: Path, format: FileFormat, size: tuple[int, int], fps: float, *, keeps_alpha: bool, quality: Quality
) -> PictureFile:
    """Return a new segment of a format other than H.264. `size`: width and height in pixels."""
    if format.picture is not None:
        return SequenceSegment(path, format.picture, keeps_alpha=keeps_alpha)
    assert format.codec is not None, "H.264 has its own segments"
    return PictureSegment(path, format.codec, size, fps, keeps_alpha=keeps_alpha, quality=quality)


class PictureSegment(PictureFile):
    """Segment that encodes pictures with a `VideoCodec`."""

    def __init__(
        self, path: Path, codec: VideoCodec, size: tuple[int, int], fps: float, *, keeps_alpha: bool, quality: Quality
    ) -> None:
        super().__init__(path)
        self._codec = codec
        self._pixel_format = (codec.alpha_format if keeps_alpha else None) or codec.pixel_format
        self._keeps_alpha = keeps_alpha
        self._grows = tuple(side % 2 if "420" in self._pixel_format else 0 for side in size)
        container = CONTAINER_FORMATS[codec.container]
        self._container = av.open(str(path), "w", format=container, options=CONTAINER_OPTIONS)
        self._stream = self._container.add_stream(codec.name, rate=rate(fps))
        self._configure(self._stream.codec_context, size, fps, quality)
        if keeps_alpha and codec.name == "libvpx-vp9":
            self._stream.metadata[_ALPHA_MODE] = "1"
        self._count = 0

    def write(self, picture: Picture) -> None:
        """Encode the next frame.

        Odd sides of formats with 4:2:0 samples grow by one: the last row or column is repeated.
        """
        frame = self._converted(picture)
        frame.pts, frame.time_base = self._count, self._stream.codec_context.time_base
        self._count += 1
        self._mux(self._stream.encode(frame))

    def close(self) -> int:
        """Flush the encoder and finish the file; return its size in bytes."""
        self._mux(self._stream.encode(None))
        self._container.close()
        return self._path.stat().st_size

    def _configure(self, context: Any, size: tuple[int, int], fps: float, quality: Quality) -> None:
        codec = self._codec
        context.width, context.height = size[0] + self._grows[0], size[1] + self._grows[1]
        context.pix_fmt, context.framerate, context.time_base = self._pixel_format, rate(fps), 1 / rate(fps)
        if codec.is_yuv:
            context.colorspace = context.color_primaries = context.color_trc = BT709
            context.color_range = LIMITED_RANGE
        context.gop_size = codec.gop_frames
        context.thread_count = THREADS
        context.flags |= av.codec.context.Flags.closed_gop | av.codec.context.Flags.bitexact
        context.options = {**codec.options[quality], **self._key_options()}
        if codec.tag is not None:
            context.codec_tag = codec.tag

    def _key_options(self) -> dict[str, str]:
        """Return fixed places of VP9's key frames. With alpha the two streams would otherwise choose different ones."""
        return {"keyint_min": str(self._codec.gop_frames)} if self._codec.name == "libvpx-vp9" else {}

    def _converted(self, picture: Picture) -> av.VideoFrame:
        shown = picture
        if any(self._grows):
            shown = np.pad(picture, ((0, self._grows[1]), (0, self._grows[0]), (0, 0)), mode="edge")
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(shown), "rgba")
        if not self._codec.is_yuv:
            return frame.reformat(format=self._pixel_format)
        converted = frame.reformat(format=self._pixel_format, dst_colorspace=BT709, dst_color_range=LIMITED_RANGE)
        converted.colorspace = converted.color_primaries = converted.color_trc = BT709
        converted.color_range = LIMITED_RANGE
        return converted

    def _mux(self, packets: Iterable[av.Packet]) -> None:
        for packet in packets:
            self._container.mux_one(packet)

    def abandon(self) -> None:
        """Close the container."""
        self._container.close()


class SequenceSegment(PictureFile):
    """Numbered pictures, `00000.png` and so on from 0, in an archive without compression or times."""

    def __init__(self, path: Path, kind: Literal["png", "jpeg"], *, keeps_alpha: bool) -> None:
        super().__init__(path)
        self._kind, self._mode = kind, "RGBA" if keeps_alpha and kind == "png" else "RGB"
        self._archive = zipfile.ZipFile(path, "w", zipfile.ZIP_STORED)
        self._count = 0

    def write(self, picture: Picture) -> None:
        """Encode the next picture."""
        self._archive.writestr(zipfile.ZipInfo(f"{self._count:05d}"), encoded(picture, self._kind, self._mode))
        self._count += 1

    def close(self) -> int:
        """Finish the archive; return its size in bytes."""
        self._archive.close()
        return self._path.stat().st_size

    def abandon(self) -> None:
        """Close the archive."""
        self._archive.close()


def encoded(picture: Picture, kind: Literal["png", "jpeg", "webp"], mode: str = "RGB") -> bytes:
    """Return a picture file: RGB, or RGBA with straight alpha according to `mode`."""
    image = Image.fromarray(picture if mode == "RGBA" else np.ascontiguousarray(picture[..., :3]))
    held = io.BytesIO()
    image.save(held, kind, **({"quality": JPEG_QUALITY, "subsampling": 0} if kind == "jpeg" else {}))
    return held.getvalue()
