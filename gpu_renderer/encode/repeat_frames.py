"""Repeat frames: frames equal to the previous one, written without the encoder.

An encoder spends as much time on an unchanged frame as on any other, although the result is a few bytes that skip every
macroblock. This module learns these bytes from the encoder, which encodes two equal frames once per size. It reads and
writes the required parts of an H.264 stream (ITU-T H.264, 7.3 and 9.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import av
import numpy as np

from gpu_renderer.encode.planes import grey_frame
from gpu_renderer.encode.profile import EncoderProfile, configure, decoded, encoded

ENCODED_REPEATS = 8
"""Number of repeats that are encoded before the rest are written as repeat frames.

They let the encoder refine a still picture to full quality. They also limit the number of key frames, because a key frame
must follow repeat frames.
"""
NOISY_ROWS = 32
SLICE, IDR_SLICE, SEQUENCE_PARAMETERS, PICTURE_PARAMETERS = 1, 5, 7, 8
"""Kinds of NAL units (table 7-1)."""
P_SLICE = 0
_HIGH_PROFILES = (100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135)
_START_CODE = b"\0\0\1"
_HEADER_BYTES_MAX = 256
"""Upper bound of the size of the headers read here."""


class StreamNotUnderstood(Exception):
    """The stream uses a feature that this module cannot read."""


class NalUnit(NamedTuple):
    """A NAL unit: type, reference priority (0: not a reference), and payload without emulation prevention."""

    kind: int
    ref_idc: int
    payload: bytes


def nal_units(stream: bytes) -> Iterator[NalUnit]:
    """Yield the NAL units of a byte stream with start codes (annex B)."""
    start = stream.find(_START_CODE)
    while start >= 0:
        following = stream.find(_START_CODE, start + 3)
        unit = stream[start + 3 : following if following >= 0 else len(stream)].rstrip(b"\0")
        if unit:
            yield NalUnit(unit[0] & 31, unit[0] >> 5 & 3, unit[1:].replace(b"\0\0\3", b"\0\0"))
        start = following


def is_reference(stream: bytes) -> bool:
    """Return True if the picture in a byte stream is a reference picture. All of its slices agree (7.4.1)."""
    start = stream.find(_START_CODE)
    while start >= 0:
        header = stream[start + 3]
        if header & 31 in (SLICE, IDR_SLICE):
            return header >> 5 & 3 != 0
        start = stream.find(_START_CODE, start + 3)
    return False


def byte_stream(unit: NalUnit) -> bytes:
    """Return a NAL unit with a start code and emulation prevention (7.4.1)."""
    escaped = re.sub(rb"\0\0(?=[\0-\3])", b"\0\0\3", unit.payload)
    return b"\0" + _START_CODE + bytes([unit.ref_idc << 5 | unit.kind]) + escaped


class BitReader:
    """Reader of bit fields. Raises StreamNotUnderstood past the end."""

    def __init__(self, payload: bytes) -> None:
        header = payload[:_HEADER_BYTES_MAX]
        self._bits, self._length = int.from_bytes(header), len(header) * 8
        self.position = 0

    def fixed(self, count: int) -> int:
        """Read an unsigned number of `count` bits: u(n)."""
        self.position += count
        if self.position > self._length:
            raise StreamNotUnderstood("a header ends too early")
        return self._bits >> self._length - self.position & (1 << count) - 1

    def unsigned(self) -> int:
        """Read an unsigned Exp-Golomb number: ue(v)."""
        zeros = 0
        while not self.fixed(1):
            zeros += 1
        return (1 << zeros) - 1 + self.fixed(zeros)

    def signed(self) -> int:
        """Read a signed Exp-Golomb number: se(v)."""
        code = self.unsigned()
        return (code + 1) // 2 if code % 2 else -(code // 2)

    def fields(self, kinds: str) -> list[int]:
        """Read fields in order: `1` is a flag, `u` an unsigned and `s` a signed Exp-Golomb number."""
        read = {"1": lambda: self.fixed(1), "u": self.unsigned, "s": self.signed}
        return [read[kind]() for kind in kinds]


def exp_golomb(value: int) -> str:
    """Return the bits of an unsigned Exp-Golomb number: ue(v)."""
    return f"{value + 1:0{2 * (value + 1).bit_length() - 1}b}"


def signed_exp_golomb(value: int) -> str:
    """Return the bits of a signed Exp-Golomb number: se(v)."""
    return exp_golomb(2 * value - 1 if value > 0 else -2 * value)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Values of a sequence and a picture parameter set that slice headers depend on."""

    picture_set: int
    frame_num_bits: int
    order_bits: int
    """Bits of the picture order count, 0 if it is not written (type 2)."""
    has_bottom_order: bool
    reference_count: int
    """Default number of pictures that a P slice refers to."""
    is_weighted: bool
    has_deblocking: bool


def parameters(extradata: bytes) -> Parameters:
    """Read a stream's parameter sets (7.3.2.1, 7.3.2.2). Raises StreamNotUnderstood."""
    units = {unit.kind: unit.payload for unit in nal_units(extradata)}
    if SEQUENCE_PARAMETERS not in units or PICTURE_PARAMETERS not in units:
        raise StreamNotUnderstood("there are no parameter sets")
    frame_num_bits, order_bits = _sequence(BitReader(units[SEQUENCE_PARAMETERS]))
    bits = BitReader(units[PICTURE_PARAMETERS])
    picture_set, _, is_arithmetic, has_bottom_order, slice_groups, references, _, is_weighted = bits.fields("uu11uuu1")
    bits.fixed(2)
    *_, has_deblocking, _, has_redundant_pictures = bits.fields("sss111")
    if not is_arithmetic or slice_groups or has_redundant_pictures:
        raise StreamNotUnderstood("no arithmetic coding, groups of slices, or redundant pictures")
    return Parameters(
        picture_set, frame_num_bits, order_bits, bool(has_bottom_order), references + 1, bool(is_weighted),
        bool(has_deblocking),
    )  # fmt: skip


def _sequence(bits: BitReader) -> tuple[int, int]:
    profile = bits.fixed(8)
    bits.fixed(16)
    bits.unsigned()
    if profile in _HIGH_PROFILES:
        chroma_format, _, _, _, has_scaling = bits.fields("uuu11")
        if chroma_format != 1 or has_scaling:
            raise StreamNotUnderstood("another chroma format than 4:2:0, or scaling matrices")
    frame_num_bits, order_type = bits.unsigned() + 4, bits.unsigned()
    if order_type == 1:
        raise StreamNotUnderstood("picture order of type 1")
    order_bits = bits.unsigned() + 4 if order_type == 0 else 0
    *_, is_progressive = bits.fields("u1uu1")
    if not is_progressive:
        raise StreamNotUnderstood("interlaced pictures")
    return frame_num_bits, order_bits


class Counted(NamedTuple):
    """Frame number (among reference pictures) and picture order count (two per frame) of a picture."""

    frame_num: int
    order: int


def counted(unit: NalUnit, of: Parameters) -> Counted:
    """Return the frame number and picture order count of a slice's picture."""
    bits = BitReader(unit.payload)
    bits.fields("uuu")
    return _counts(bits, unit, of)


def _counts(bits: BitReader, unit: NalUnit, of: Parameters) -> Counted:
    frame_num = bits.fixed(of.frame_num_bits)
    if unit.kind == IDR_SLICE:
        bits.unsigned()
    order = bits.fixed(of.order_bits)
    if of.has_bottom_order and of.order_bits:
        bits.signed()
    return Counted(frame_num, order)


class SkippedSlice(NamedTuple):
    """A P slice with only skipped macroblocks, with the initial state of its arithmetic coder."""

    first_macroblock: int
    cabac_table: int
    qp_delta: int
    data: bytes


def skipped_slice(unit: NalUnit, of: Parameters) -> SkippedSlice:
    """Read the P slice that an encoder wrote for a picture equal to the previous one (7.3.3)."""
    bits = BitReader(unit.payload)
    first_macroblock, slice_type, _ = bits.fields("uuu")
    if unit.kind != SLICE or unit.ref_idc == 0 or slice_type % 5 != P_SLICE:
        raise StreamNotUnderstood("not a P slice that others refer to")
    _counts(bits, unit, of)
    references = bits.unsigned() + 1 if bits.fixed(1) else of.reference_count
    if bits.fixed(1):
        raise StreamNotUnderstood("references in another order")
    if of.is_weighted:
        _pass_weights(bits, references)
    if bits.fixed(1):
        raise StreamNotUnderstood("references marked one by one")
    cabac_table, qp_delta = bits.unsigned(), bits.signed()
    if of.has_deblocking and bits.unsigned() != 1:
        bits.fields("ss")
    return SkippedSlice(first_macroblock, cabac_table, qp_delta, unit.payload[-(-bits.position // 8) :])


def _pass_weights(bits: BitReader, references: int) -> None:
    bits.fields("uu")
    for _ in range(references):
        bits.fields("ss" if bits.fixed(1) else "")
        bits.fields("ssss" if bits.fixed(1) else "")


def repeating(after: Counted, distance: int, of: Parameters, skipped: SkippedSlice) -> NalUnit:
    """Return a slice that shows a reference picture again.

    `distance` is the number of frames since the reference picture. The frames between also repeat it.
    """
    frame_num = (after.frame_num + distance) % (1 << of.frame_num_bits)
    order = (after.order + 2 * distance) % (1 << of.order_bits)
    all_slices_are_p = P_SLICE + 5
    bits = "".join((
        exp_golomb(skipped.first_macroblock),
        exp_golomb(all_slices_are_p),
        exp_golomb(of.picture_set),
        f"{frame_num:0{of.frame_num_bits}b}",
        f"{order:0{of.order_bits}b}" if of.order_bits else "",
        signed_exp_golomb(0) if of.order_bits and of.has_bottom_order else "",
        "1", exp_golomb(0),  # one reference
        "0",  # default order of references
        exp_golomb(0) * 2 + "00" if of.is_weighted else "",
        "0",  # no reference marking
        exp_golomb(skipped.cabac_table),
        signed_exp_golomb(skipped.qp_delta),
        exp_golomb(1) if of.has_deblocking else "",
    ))  # fmt: skip
    bits += "1" * (-len(bits) % 8)
    return NalUnit(SLICE, 2, int(bits, 2).to_bytes(len(bits) // 8) + skipped.data)


class RepeatFrames:
    """Writer of repeat frames for the streams of one encoder profile and size."""

    def __init__(self, of: Parameters, slices: Sequence[SkippedSlice]) -> None:
        """Create a writer. `slices` are the skipped slices of one picture."""
        self._of, self._slices = of, tuple(slices)

    def after(self, packet: bytes, count: int) -> Iterator[bytes]:
        """Yield `count` packets that show the picture of `packet` again."""
        last = counted(_slices(packet)[0], self._of)
        for distance in range(1, count + 1):
            units = (repeating(last, distance, self._of, skipped) for skipped in self._slices)
            yield b"".join(byte_stream(unit) for unit in units)


@lru_cache(maxsize=16)
def repeat_frames(profile: EncoderProfile, width: int, height: int, fps: float) -> RepeatFrames | None:
    """Return the writer of repeat frames for pictures of this size, or None if the encoder's streams do not allow them.

    A decoder verifies one repeat frame. The first call for a size takes tens of megabytes and tens of milliseconds.
    """
    try:
        grey = _encoded(profile, width, height, fps, noisy=False)
        of = parameters(grey[0])
        repeat = [unit for unit in _slices(grey[1]) if unit.kind == SLICE]
        found = RepeatFrames(of, [skipped_slice(unit, of) for unit in repeat])
        noise = _encoded(profile, width, height, fps, noisy=True)
        return found if noise[0] == grey[0] and _repeats(found, *noise) else None
    except (StreamNotUnderstood, av.FFmpegError, IndexError):
        return None


def _encoded(profile: EncoderProfile, width: int, height: int, fps: float, *, noisy: bool) -> tuple[bytes, bytes]:
    """Return the parameter sets and packets of two grey frames, or of one frame with mild noise at its top.

    The noise is mild because NVENC's driver can crash if a frame needs more bits than it has samples. Threads and lookahead
    are off: they change no header and would cost more than these frames.
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
    return [unit for unit in nal_units(stream) if unit.kind in (SLICE, IDR_SLICE)]


def _repeats(found: RepeatFrames, parameter_sets: bytes, picture: bytes) -> bool:
    """Return True if a decoder shows the picture three times."""
    packets = (parameter_sets + picture, *found.after(picture, 2))
    shown = [frame.to_ndarray() for frame in decoded([av.Packet(packet) for packet in packets])]
    return len(shown) == 3 and all(np.array_equal(frame, shown[0]) for frame in shown)
