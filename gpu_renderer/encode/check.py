"""Check of a finished video against its plan, made before the render is reported as done."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av

from gpu_renderer.encode.formats import FileFormat, Quality
from gpu_renderer.encode.planes import BT709, LIMITED_RANGE
from gpu_renderer.encode.profile import rate
from gpu_renderer.errors import RenderError


class VideoNotAsPlanned(RenderError):
    """The file differs from the plan; `faults` lists all differences."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("the video is not what was planned: " + "; ".join(faults))
        self.faults = faults


_DECODERS = {"libx265": "hevc", "libsvtav1": "av1", "libvpx-vp9": "vp9", "prores_ks": "prores"}
"""Codec of the files of each encoder, by the name of its decoder."""
_ROUNDING_SECONDS = Fraction(1, 1000)
"""Times in WebM are whole milliseconds."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Required properties of a finished file. Sizes in pixels."""

    format: FileFormat
    width: int
    height: int
    fps: float
    frame_count: int
    keeps_alpha: bool = False
    quality: Quality = "high"

    @property
    def decoder(self) -> str:
        """Name of the decoder of the file's video."""
        return "h264" if self.format.codec is None else _DECODERS[self.format.codec.name]

    @property
    def coded_size(self) -> tuple[int, int]:
        """Columns and rows of the file's pictures. Odd sizes of formats with 4:2:0 samples grow by one."""
        codec = self.format.codec
        if codec is not None and "420" not in codec.pixel_format:
            return self.width, self.height
        return self.width + self.width % 2, self.height + self.height % 2


def check(path: Path, plan: Plan, *, has_sound: bool = False) -> None:
    """Raise VideoNotAsPlanned unless the file matches the plan.

    It must have the format's codec, frame count, picture size and rate, BT.709 limited tags, every frame at its number,
    the index before the media, and one sound track exactly with `has_sound`.
    """
    try:
        index = [] if plan.format.ending == ".webm" else _container_faults(path)
        faults = [*index, *_stream_faults(path, plan, has_sound)]
    except (av.FFmpegError, struct.error) as error:
        faults = [f"it cannot be read ({error})"]
    if faults:
        raise VideoNotAsPlanned(faults)


def boxes(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the top-level boxes of an MP4 file in order: kind and size in bytes (ISO/IEC 14496-12, 4.2)."""
    with path.open("rb") as file:
        while head := file.read(8):
            size, kind = struct.unpack(">I4s", head)
            if size == 1:
                size = struct.unpack(">Q", file.read(8))[0]
                file.seek(size - 16, 1)
            else:
                file.seek(max(size, 8) - 8, 1)
            yield kind.decode("latin-1"), size


def _container_faults(path: Path) -> Iterator[str]:
    order = [kind for kind, _ in boxes(path)]
    if "moov" not in order or "mdat" not in order or order.index("moov") > order.index("mdat"):
        yield f"the index is not in front ({', '.join(order)})"


def _stream_faults(path: Path, plan: Plan, has_sound: bool) -> Iterator[str]:
    is_webm = plan.format.ending == ".webm"
    with av.open(str(path)) as container:
        if not container.streams.video:
            yield "it holds no video"
            return
        stream = container.streams.video[0]
        context, tracks = stream.codec_context, len(container.streams.audio)
        name = context.name.removeprefix("lib").replace("dav1d", "av1")
        size, color_range, average_rate = (context.width, context.height), context.color_range, stream.average_rate
        tags = (context.colorspace, context.color_primaries, context.color_trc)
        shown = sorted(packet.pts * packet.time_base for packet in container.demux(stream) if packet.size)
    for what, found, planned in (
        ("codec", name, plan.decoder),
        ("size", size, plan.coded_size),
        ("matrix, primaries, transfer", tags, (BT709, BT709, BT709)),
        ("range", color_range, LIMITED_RANGE),
        ("rate", average_rate, average_rate if is_webm else rate(plan.fps)),
    ):
        if found != planned:
            yield f"{what} is {found}, not {planned}"
    if tracks != int(has_sound):
        yield f"it holds {tracks} sound tracks, not {int(has_sound)}"
    if len(shown) != plan.frame_count:
        yield f"it holds {len(shown)} frames, not {plan.frame_count}"
    tolerance = _ROUNDING_SECONDS if is_webm else 0
    if len(shown) == plan.frame_count and any(
        abs(time - number / rate(plan.fps)) > tolerance for number, time in enumerate(shown)
    ):
        yield "frames are not shown at their numbers"
