"""File formats of renders: file extension, codec, alpha, sound, joining of segments, and the plan of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final, Literal

import av

from gpu_renderer.errors import RenderError

Quality = Literal["high", "medium", "draft"]
QUALITIES: Final[tuple[Quality, ...]] = ("high", "medium", "draft")
Joining = Literal["copy", "gif", "webp", "pictures"]
"""Method of joining segments: copy packets, re-encode lossless segments, or archive picture files."""

GIF_FPS_MAX: Final = 50.0
"""GIF delays are hundredths of a second, and players slow down a delay of one hundredth."""

X265_NARROW_MAX_PX: Final = 48
"""Width up to which a picture has fewer than four of x265's blocks of 16 px, which its vectors of four numbers exceed."""


class FormatUnavailable(RenderError):
    """The format does not exist, or the installed libraries have no encoder for it."""


@dataclass(frozen=True, slots=True)
class VideoCodec:
    """An encoder of segments.

    `options`: its private options by quality. `pixel_format`, `alpha_format`: its input without and with alpha.
    `container`: file type of a segment.
    """

    name: str
    container: str
    pixel_format: str
    alpha_format: str | None
    options: Mapping[Quality, Mapping[str, str]]
    gop_frames: int
    tag: str | None = None
    is_yuv: bool = True

    def options_for(self, quality: Quality, columns: int) -> Mapping[str, str]:
        """Return the private options for pictures of a width.

        On narrow pictures x265's cost tree writes beyond its memory (seen with x265 4.2), so the tree is off.
        """
        options = self.options[quality]
        if self.name != "libx265" or columns > X265_NARROW_MAX_PX:
            return options
        return {**options, "x265-params": f"{options['x265-params']}:cutree=0"}


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of a finished render.

    `codec` is None for H.264, which has its own pipeline (`encode/segments.py`), and for picture sequences. `sound` is the
    encoder of the sound track, or None if the format has no sound. Sequences get a WAV file beside the pictures.
    """

    name: str
    ending: str
    media_type: str
    joining: Joining
    codec: VideoCodec | None = None
    sound: str | None = None
    picture: Literal["png", "jpeg"] | None = None
    fps_max: float | None = None

    @property
    def has_alpha(self) -> bool:
        """Return True if transparent frames keep their alpha."""
        return self.picture == "png" or (self.codec is not None and self.codec.alpha_format is not None)

    @property
    def segment_ending(self) -> str:
        """Return the file extension of a segment."""
        if self.picture is not None:
            return ".zip"
        return ".mp4" if self.codec is None else f".{self.codec.container}"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """Required properties of a finished file. Sizes in pixels."""

    format: FileFormat
    width: int
    height: int
    fps: float
    frame_count: int
    keeps_alpha: bool = False
    quality: Quality = "high"

    @property
    def coded_size(self) -> tuple[int, int]:
        """Return the columns and rows of the file's pictures. Formats with 4:2:0 samples round odd sizes up."""
        codec = self.format.codec
        if codec is not None and "420" not in codec.pixel_format:
            return self.width, self.height
        return self.width + self.width % 2, self.height + self.height % 2


def _by_crf(values: tuple[int, int, int], **options: str) -> Mapping[Quality, Mapping[str, str]]:
    return {quality: {"crf": str(crf), **options} for quality, crf in zip(QUALITIES, values, strict=True)}


_VP9 = VideoCodec(
    "libvpx-vp9", "webm", "yuv420p", "yuva420p",
    # No alternate references and fixed key frames keep the colour and alpha streams in sync.
    _by_crf(
        (18, 23, 28), b="0", keyint_min="60",
        **{"auto-alt-ref": "0", "row-mt": "1", "deadline": "good", "cpu-used": "4"},
    ),
    gop_frames=60,
)  # fmt: skip
_PRORES = VideoCodec(
    "prores_ks", "mov", "yuva444p10le", "yuva444p10le",
    {quality: {"profile": "4444", "vendor": "apl0", "alpha_bits": "16"} for quality in QUALITIES},
    gop_frames=1,
)  # fmt: skip
_HEVC = VideoCodec(
    "libx265", "mp4", "yuv420p", None,
    _by_crf((20, 24, 28), preset="veryfast", **{"x265-params": "open-gop=0:info=0:log-level=none:frame-threads=1:pools=2"}),
    gop_frames=250, tag="hvc1",
)  # fmt: skip
_AV1 = VideoCodec(
    "libsvtav1", "mp4", "yuv420p", None,
    _by_crf((24, 30, 36), preset="8", **{"svtav1-params": "lp=2"}),
    gop_frames=250,
)  # fmt: skip
_LOSSLESS = VideoCodec(
    "ffv1", "mkv", "bgr0", "bgra",
    {quality: {"level": "3", "slices": "4", "slicecrc": "0"} for quality in QUALITIES},
    gop_frames=1, is_yuv=False,
)  # fmt: skip

FORMATS: Final[Mapping[str, FileFormat]] = MappingProxyType(
    {
        file_format.name: file_format
        for file_format in (
            FileFormat("mp4", ".mp4", "video/mp4", "copy", sound="aac"),
            FileFormat("mp4-h265", ".mp4", "video/mp4", "copy", _HEVC, sound="aac"),
            FileFormat("mp4-av1", ".mp4", "video/mp4", "copy", _AV1, sound="aac"),
            FileFormat("webm", ".webm", "video/webm", "copy", _VP9, sound="libopus"),
            FileFormat("mov", ".mov", "video/quicktime", "copy", _PRORES, sound="pcm_s16le"),
            FileFormat("gif", ".gif", "image/gif", "gif", _LOSSLESS, fps_max=GIF_FPS_MAX),
            FileFormat("webp", ".webp", "image/webp", "webp", _LOSSLESS),
            FileFormat("png-sequence", ".zip", "application/zip", "pictures", picture="png", sound="wav"),
            FileFormat("jpg-sequence", ".zip", "application/zip", "pictures", picture="jpeg", sound="wav"),
        )
    }
)
"""Formats by name. A file extension selects the first format with it."""


def named(name: str) -> FileFormat:
    """Return the format with a name. Raises FormatUnavailable."""
    if name not in FORMATS:
        raise FormatUnavailable(f"there is no format {name!r}; there are: {', '.join(FORMATS)}")
    codec = FORMATS[name].codec
    if codec is not None and not _has_encoder(codec.name):
        raise FormatUnavailable(f"this build of FFmpeg's libraries has no encoder {codec.name}, which {name} needs")
    return FORMATS[name]


@cache
def _has_encoder(name: str) -> bool:
    try:
        av.Codec(name, "w")
    except (av.FFmpegError, ValueError):
        return False
    return True


def of_ending(ending: str) -> FileFormat | None:
    """Return the format of a file extension such as `.webm`, or None."""
    return next((file_format for file_format in FORMATS.values() if file_format.ending == ending.lower()), None)
