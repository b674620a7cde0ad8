"""Encoder settings, fixed for a whole job, and the selection of a working encoder.

The bytes of a segment depend only on the settings and the frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

import av
from av.codec.context import ThreadType

from gpu_renderer.encode.planes import PIXEL_FORMAT, grey_frame, tagged
from gpu_renderer.errors import EncoderUnavailable

Codec = Literal["h264_nvenc", "libx264"]
PREFERENCE: tuple[Codec, ...] = ("h264_nvenc", "libx264")
"""Codecs in order of preference. Hardware comes first because it leaves the CPU free."""
X264_PRESETS = (
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo",
)  # fmt: skip
AHEAD_PIXELS_MAX = 1920 * 1088
"""Picture size above which the encoder holds fewer frames, to save memory."""
LARGE_LOOKAHEAD_FRAMES = 8
"""Lookahead of x264's preset `veryfast` above `AHEAD_PIXELS_MAX`, instead of 10 frames. A frame takes 24 MB at 4K."""
PROBE_FRAMES = 4
PROBE_SIZE = (320, 240)


@dataclass(frozen=True, slots=True)
class EncoderProfile:
    """Settings of an H.264 encoder.

    `threads` is a fixed count, because x264's bytes depend on it. Each thread encodes a frame of its own, which uses
    threads better than slices of one frame. `quality` is x264's crf or NVENC's cq.
    """

    codec: Codec = "libx264"
    preset: str = "veryfast"
    quality: int = 18
    threads: int = 3
    gop_frames: int = 250

    @property
    def identity(self) -> str:
        """Return the profile as one line. Equal lines give equal bytes with the same library builds."""
        return f"{self.codec} {self.preset} q{self.quality} t{self.threads} g{self.gop_frames} av{av.__version__}"

    def options(self, width: int, height: int) -> dict[str, str]:
        """Return the encoder's private options for pictures of the given size in pixels."""
        if self.codec == "libx264":
            return {
                "preset": self.preset,
                "crf": str(self.quality),
                "x264-params": _x264_parameters(self.preset, width, height),
            }
        return {
            "preset": _nvenc_preset(self.preset),
            "rc": "vbr",
            "cq": str(max(self.quality, 1)),  # 0 would let NVENC choose the quality, at 2 Mbit/s
            "bf": "0",
            "forced-idr": "1",
        }


def _x264_parameters(preset: str, width: int, height: int) -> str:
    """Return x264's parameters for a preset and a picture size.

    B frames are never references, so that the last picture before repeat frames is the last reference (see `repeat_frames`).

    AVX-512 is disabled: with it, x264's macroblock tree reads uninitialised memory for some widths (such as 160x90), so the
    bytes change from run to run. Up to AVX2 the bytes are the same on every processor.

    Frames have a constant rate: x264 would hold one more frame to find out how long each is shown (24 MB at 4K).

    There are two lookahead threads, because smooth pictures that change as a whole are encoded faster than one thread can
    analyse them. `sync-lookahead` changes no bytes, but each frame takes 7 MB at 1080p and 28 MB at 4K. Large pictures of
    the default preset also have a shorter lookahead (decision 0021). Slower presets keep theirs.
    """
    is_large = width * height > AHEAD_PIXELS_MAX
    parameters = f"b-pyramid=none:force-cfr=1:lookahead-threads=2:sync-lookahead={1 if is_large else 2}"
    if is_large and preset == "veryfast":
        parameters += f":rc-lookahead={LARGE_LOOKAHEAD_FRAMES}"
    return f"{parameters}:asm=AVX2" if _has_avx512() else parameters


@cache
def _has_avx512() -> bool:
    try:
        return "avx512f" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def _nvenc_preset(preset: str) -> str:
    """Return NVENC's preset, p1 (fastest) to p7. x264's slowest presets all map to p7."""
    return f"p{min(X264_PRESETS.index(preset) + 1, 7)}" if preset in X264_PRESETS else preset


def rate(fps: float) -> Fraction:
    """Return the frames per second as the exact ratio of the decimal, the unit of timestamps."""
    return Fraction(fps).limit_denominator(10_000)


def configure(context: Any, profile: EncoderProfile, width: int, height: int, fps: float) -> None:
    """Set size, rate, colour tags and profile of an unopened H.264 context."""
    options = profile.options(width, height)
    configure_pictures(context, (width, height), fps, PIXEL_FORMAT, profile.gop_frames, options)
    tagged(context)
    context.thread_count, context.thread_type = profile.threads, ThreadType.FRAME


def configure_pictures(
    context: Any, size: tuple[int, int], fps: float, pixel_format: str, gop_frames: int, options: Mapping[str, str]
) -> None:
    """Set everything but colour tags and threads of an unopened codec context. Groups of pictures are closed."""
    context.width, context.height = size
    context.pix_fmt, context.framerate, context.time_base = pixel_format, rate(fps), 1 / rate(fps)
    context.gop_size, context.options = gop_frames, dict(options)
    context.flags |= av.codec.context.Flags.closed_gop | av.codec.context.Flags.bitexact


def encoded(encoder: av.VideoCodecContext, frame: av.VideoFrame, count: int) -> list[av.Packet]:
    """Encode a frame `count` times and return the packets, to test an encoder."""
    packets: list[av.Packet] = []
    for number in range(count):
        frame.pts = number
        packets += encoder.encode(frame)
    packets += encoder.encode(None)
    return packets


def decoded(packets: Sequence[av.Packet]) -> list[av.VideoFrame]:
    """Decode an H.264 stream and return its pictures."""
    decoder = av.CodecContext.create("h264", "r")
    return [frame for packet in (*packets, None) for frame in decoder.decode(packet)]


@cache
def encoder_fault(codec: Codec) -> str | None:
    """Return the reason why a codec does not work here, or None if it encodes a few test frames.

    The result is cached for the process.
    """
    try:
        encoder = av.CodecContext.create(codec, "w")
        configure(encoder, EncoderProfile(codec), *PROBE_SIZE, 30.0)
        count = len(decoded(encoded(encoder, grey_frame(*PROBE_SIZE), PROBE_FRAMES)))
    except (av.FFmpegError, av.codec.codec.UnknownCodecError, ValueError, RuntimeError) as error:
        return getattr(error, "strerror", None) or str(error)
    return None if count == PROBE_FRAMES else f"{count} of {PROBE_FRAMES} frames came back"


def chosen(profile: EncoderProfile | None) -> EncoderProfile:
    """Return the requested profile, or the default profile of the first working codec.

    Raises EncoderUnavailable with the reasons.
    """
    wanted = PREFERENCE if profile is None else (profile.codec,)
    for codec in wanted:
        if encoder_fault(codec) is None:
            return profile or EncoderProfile(codec)
    reasons = "; ".join(f"{codec}: {encoder_fault(codec)}" for codec in wanted)
    raise EncoderUnavailable(f"no H.264 encoder works here: {reasons}")
