"""Find the encoders that work on this machine: encode a few frames with each and decode the packets again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import av

from gpu_renderer.encode.planes import encoder_frame, layout
from gpu_renderer.encode.profile import PREFERENCE, Codec, EncoderProfile, configure
from gpu_renderer.errors import EncoderUnavailable

PROBE_FRAMES = 4
PROBE_SIZE = (320, 240)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Result of probing a codec; `reason` explains a failure."""

    codec: Codec
    works: bool
    reason: str = ""


@cache
def probe(codec: Codec) -> ProbeResult:
    """Encode a few grey frames and decode them again. The result is cached for the process."""
    try:
        decoded_frames = _round_trip(codec)
    except (av.FFmpegError, av.codec.codec.UnknownCodecError, ValueError, RuntimeError) as error:
        return ProbeResult(codec, works=False, reason=getattr(error, "strerror", None) or str(error))
    if decoded_frames != PROBE_FRAMES:
        return ProbeResult(codec, works=False, reason=f"{decoded_frames} of {PROBE_FRAMES} frames came back")
    return ProbeResult(codec, works=True)


def chosen(profile: EncoderProfile | None) -> EncoderProfile:
    """Return the requested profile, or the default one of the first working codec.

    Raises EncoderUnavailable with the reasons.
    """
    wanted = PREFERENCE if profile is None else (profile.codec,)
    results = []
    for codec in wanted:
        results.append(probe(codec))
        if results[-1].works:
            return profile or replace(EncoderProfile(), codec=codec)
    reasons = "; ".join(f"{result.codec}: {result.reason}" for result in results)
    raise EncoderUnavailable(f"no H.264 encoder works here: {reasons}")


def _round_trip(codec: Codec) -> int:
    width, height = PROBE_SIZE
    encoder = av.CodecContext.create(codec, "w")
    configure(encoder, replace(EncoderProfile(), codec=codec), width, height, 30.0)
    decoder = av.CodecContext.create("h264", "r")
    count = 0
    for packet in _probe_packets(encoder, width, height):
        count += len(decoder.decode(packet))
    return count + len(decoder.decode(None))


def _probe_packets(encoder: av.VideoCodecContext, width: int, height: int) -> list[av.Packet]:
    frame = encoder_frame(layout(width, height))
    for plane in frame.planes:
        plane.update(bytes([128]) * plane.buffer_size)
    packets: list[av.Packet] = []
    for index in range(PROBE_FRAMES):
        frame.pts = index
        packets += encoder.encode(frame)
    packets += encoder.encode(None)
    return packets
