"""Held pictures: frames that show the picture before them again, written without asking the encoder.

To an encoder a frame in which nothing changes is as much work as any other; to a stream it is a few bytes that say "skip"
for every macroblock. Those bytes are taken from the encoder itself, which is given two like frames once for each size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import av
import numpy as np

from gpu_renderer.encode import bitstream
from gpu_renderer.encode.bitstream import Counted, NalUnit, Parameters, SkippedSlice, StreamNotUnderstood
from gpu_renderer.encode.planes import encoder_frame, layout
from gpu_renderer.encode.profile import EncoderProfile, configure

ENCODED_REPEATS = 8
"""So many repeats are encoded before the rest is held: with them an encoder brings a still picture to its full quality, and
the key frame that must follow a hold comes no more often than that."""
NOISY_ROWS = 32


class Holds:
    """Writes held pictures for the streams of one encoder profile and size."""

    def __init__(self, of: Parameters, slices: Sequence[SkippedSlice]) -> None:
        """`slices`: of one picture."""
        self._of, self._slices = of, tuple(slices)

    def reference(self, packet: bytes) -> Counted:
        """The counts of the picture in a packet."""
        return bitstream.counted(_slices(packet)[0], self._of)

    def repeated(self, last: Counted, distance: int) -> bytes:
        """A packet that shows again the picture that was shown `distance` frames ago and in all frames since."""
        units = (bitstream.repeating(last, distance, self._of, skipped) for skipped in self._slices)
        return b"".join(bitstream.byte_stream(unit) for unit in units)


@lru_cache(maxsize=16)
def holds(profile: EncoderProfile, width: int, height: int, fps: float) -> Holds | None:
    """How to hold pictures of this size; None where the encoder's streams cannot be continued so (tried by decoding one).

    The first call for a size takes tens of megabytes and milliseconds for a moment.
    """
    try:
        grey = _encoded(profile, width, height, fps, noisy=False)
        of = bitstream.parameters(grey[0])
        repeat = [unit for unit in _slices(grey[1]) if unit.kind == bitstream.SLICE]
        found = Holds(of, [bitstream.skipped_slice(unit, of) for unit in repeat])
        noise = _encoded(profile, width, height, fps, noisy=True)
        return found if noise[0] == grey[0] and _repeats(found, *noise) else None
    except (StreamNotUnderstood, av.FFmpegError, IndexError):
        return None


def _encoded(profile: EncoderProfile, width: int, height: int, fps: float, *, noisy: bool) -> tuple[bytes, bytes]:
    """Parameter sets and packets of two grey frames, or of one with mild noise at its top.

    NVENC's driver may crash where a frame needs more bits than it has samples, as strong noise does at high quality.
    Neither threads nor looking ahead are in any header, and both would cost more than these frames.
    """
    encoder = av.CodecContext.create(profile.codec, "w")
    configure(encoder, replace(profile, threads=1), width, height, fps)
    encoder.options = {**encoder.options, "rc-lookahead": "0"}
    encoder.flags |= av.codec.context.Flags.global_header
    frame = encoder_frame(layout(width, height))
    chance = np.random.default_rng(1)
    for plane in frame.planes:
        noise = chance.integers(112, 144, NOISY_ROWS * plane.line_size, np.uint8).tobytes() if noisy else b""
        plane.update(noise[: plane.buffer_size].ljust(plane.buffer_size, b"\x80"))
    packets = b""
    for number in range(1 if noisy else 2):
        frame.pts = number
        packets += b"".join(map(bytes, encoder.encode(frame)))
    packets += b"".join(map(bytes, encoder.encode(None)))
    return bytes(encoder.extradata or b""), packets


def _slices(stream: bytes) -> list[NalUnit]:
    return [unit for unit in bitstream.nal_units(stream) if unit.kind in (bitstream.SLICE, bitstream.IDR_SLICE)]


def _repeats(found: Holds, parameter_sets: bytes, picture: bytes) -> bool:
    """Whether a decoder shows one picture three times."""
    last = found.reference(picture)
    decoder = av.CodecContext.create("h264", "r")
    shown: list[av.VideoFrame] = []
    for packet in (parameter_sets + picture, found.repeated(last, 1), found.repeated(last, 2)):
        shown += decoder.decode(av.Packet(packet))
    shown += decoder.decode(None)
    first = shown[0].to_ndarray()
    return len(shown) == 3 and all(np.array_equal(frame.to_ndarray(), first) for frame in shown)
