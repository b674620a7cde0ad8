"""Repeat frames: frames equal to the one before, written without the encoder.

An encoder spends as much work on an unchanged frame as on any other, although its result is a few bytes that skip every
macroblock. Those bytes are learned from the encoder itself, which encodes two equal frames once per size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import av
import numpy as np

from gpu_renderer.encode import bitstream
from gpu_renderer.encode.bitstream import Counted, NalUnit, Parameters, SkippedSlice, StreamNotUnderstood
from gpu_renderer.encode.planes import grey_frame
from gpu_renderer.encode.profile import EncoderProfile, configure, decoded, encoded

ENCODED_REPEATS = 8
"""Number of repeats that are encoded before the rest is written as repeat frames.

They let an encoder bring a still picture to full quality. They also limit how often the key frame comes that must
follow repeat frames.
"""
NOISY_ROWS = 32


class RepeatFrames:
    """Writer of repeat frames for the streams of one encoder profile and size."""

    def __init__(self, of: Parameters, slices: Sequence[SkippedSlice]) -> None:
        """`slices`: the skipped slices of one picture."""
        self._of, self._slices = of, tuple(slices)

    def reference(self, packet: bytes) -> Counted:
        """Return the numbers of the picture in a packet."""
        return bitstream.counted(_slices(packet)[0], self._of)

    def repeated(self, last: Counted, distance: int) -> bytes:
        """Return a packet that shows the picture of `distance` frames ago again."""
        units = (bitstream.repeating(last, distance, self._of, skipped) for skipped in self._slices)
        return b"".join(bitstream.byte_stream(unit) for unit in units)


@lru_cache(maxsize=16)
def repeat_frames(profile: EncoderProfile, width: int, height: int, fps: float) -> RepeatFrames | None:
    """Return the writer of repeat frames for pictures of this size, or None if the encoder's streams do not allow them.

    A decoder verifies one repeat frame. The first call for a size takes tens of megabytes and milliseconds.
    """
    try:
        grey = _encoded(profile, width, height, fps, noisy=False)
        of = bitstream.parameters(grey[0])
        repeat = [unit for unit in _slices(grey[1]) if unit.kind == bitstream.SLICE]
        found = RepeatFrames(of, [bitstream.skipped_slice(unit, of) for unit in repeat])
        noise = _encoded(profile, width, height, fps, noisy=True)
        return found if noise[0] == grey[0] and _repeats(found, *noise) else None
    except (StreamNotUnderstood, av.FFmpegError, IndexError):
        return None


def _encoded(profile: EncoderProfile, width: int, height: int, fps: float, *, noisy: bool) -> tuple[bytes, bytes]:
    """Return the parameter sets and packets of two grey frames, or of one with mild noise at its top.

    NVENC's driver can crash if a frame needs more bits than it has samples, as with strong noise at high quality.
    Threads and look-ahead change no header, and would cost more than these frames.
    """
    encoder = av.CodecContext.create(profile.codec, "w")
    configure(encoder, replace(profile, threads=1), width, height, fps)
    encoder.options = {**encoder.options, "rc-lookahead": "0"}
    encoder.flags |= av.codec.context.Flags.global_header
    frame = grey_frame(width, height)
    chance = np.random.default_rng(1)
    for plane in frame.planes if noisy else ():
        samples = np.frombuffer(plane, np.uint8)[: NOISY_ROWS * plane.line_size]
        samples[:] = chance.integers(112, 144, NOISY_ROWS * plane.line_size, np.uint8)[: samples.size]
    packets = b"".join(map(bytes, encoded(encoder, frame, 1 if noisy else 2)))
    return bytes(encoder.extradata or b""), packets


def _slices(stream: bytes) -> list[NalUnit]:
    return [unit for unit in bitstream.nal_units(stream) if unit.kind in (bitstream.SLICE, bitstream.IDR_SLICE)]


def _repeats(found: RepeatFrames, parameter_sets: bytes, picture: bytes) -> bool:
    """Return True if a decoder shows one picture three times."""
    last = found.reference(picture)
    packets = (parameter_sets + picture, found.repeated(last, 1), found.repeated(last, 2))
    shown = [frame.to_ndarray() for frame in decoded([av.Packet(packet) for packet in packets])]
    return len(shown) == 3 and all(np.array_equal(frame, shown[0]) for frame in shown)
