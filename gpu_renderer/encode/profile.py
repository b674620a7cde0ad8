"""What an encoder is told, fixed for a whole job: the bytes of a segment depend on these values and the frames alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

import av
from av.codec.context import ThreadType

from gpu_renderer.encode.planes import BT709, LIMITED_RANGE, PIXEL_FORMAT

Codec = Literal["h264_nvenc", "libx264"]
PREFERENCE: tuple[Codec, ...] = ("h264_nvenc", "libx264")
"""Hardware first: a card's encoder leaves the processor to the rest of the farm."""
X264_PRESETS = (
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class EncoderProfile:
    """Settings of an H.264 encoder.

    `threads` is a count, never "automatic": x264 changes its bytes with it. Each works on a frame of its own, which keeps
    them busier than slices of one frame do, and pictures whole. `quality` is x264's crf, and NVENC's cq.
    """

    codec: Codec = "libx264"
    preset: str = "veryfast"
    quality: int = 18
    threads: int = 3
    gop_frames: int = 250

    @property
    def identity(self) -> str:
        """The profile in a line; equal lines, equal bytes (with the same build of the libraries)."""
        return f"{self.codec} {self.preset} q{self.quality} t{self.threads} g{self.gop_frames} av{av.__version__}"

    @property
    def options(self) -> dict[str, str]:
        """The encoder's private options."""
        if self.codec == "libx264":
            return {"preset": self.preset, "crf": str(self.quality), "x264-params": _x264_parameters()}
        return {
            "preset": _nvenc_preset(self.preset),
            "rc": "vbr",
            "cq": str(max(self.quality, 1)),  # 0 leaves the quality to NVENC, at 2 Mbit/s
            "bf": "0",
            "forced-idr": "1",
        }


@cache
def _x264_parameters() -> str:
    """No B frame is referred to, so that the last picture before a hold is the last reference (see `hold`).

    And x264 is kept off AVX-512, whose macroblock tree reads memory that nobody wrote for some widths (160x90, say): the same
    frames gave other bytes from run to run. Up to AVX2 they repeat, and are the same on every such processor.
    """
    try:
        wide = "avx512f" in Path("/proc/cpuinfo").read_text()
    except OSError:
        wide = False
    return "b-pyramid=none:asm=AVX2" if wide else "b-pyramid=none"


def rate(fps: float) -> Fraction:
    """Frames per second as the ratio that timestamps are counted in: exactly what the decimal says."""
    return Fraction(fps).limit_denominator(10_000)


def configure(context: Any, profile: EncoderProfile, width: int, height: int, fps: float) -> None:
    """Gives an unopened codec context the size, the rate, the colour tags and the profile. Closed groups of pictures."""
    context.width, context.height, context.pix_fmt = width, height, PIXEL_FORMAT
    context.framerate = rate(fps)
    context.time_base = 1 / rate(fps)
    context.colorspace = context.color_primaries = context.color_trc = BT709
    context.color_range = LIMITED_RANGE
    context.gop_size = profile.gop_frames
    context.thread_count, context.thread_type = profile.threads, ThreadType.FRAME
    context.flags |= av.codec.context.Flags.closed_gop | av.codec.context.Flags.bitexact
    context.options = profile.options


def _nvenc_preset(preset: str) -> str:
    """NVENC has seven presets, p1 the fastest; x264's slowest ones all become the last."""
    return f"p{min(X264_PRESETS.index(preset) + 1, 7)}" if preset in X264_PRESETS else preset
