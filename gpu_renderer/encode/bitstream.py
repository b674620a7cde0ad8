"""Reader and writer of the parts of an H.264 stream that a repeated picture needs (ITU-T H.264, 7.3 and 9.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

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
    """A NAL unit: its type, its reference priority (0: not a reference), its payload without emulation prevention."""

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
    """Return True if other pictures can refer to the one in a byte stream. All its slices agree (7.4.1)."""
    start = stream.find(_START_CODE)
    while start >= 0:
        header = stream[start + 3]
        if header & 31 in (SLICE, IDR_SLICE):
            return header >> 5 & 3 != 0
        start = stream.find(_START_CODE, start + 3)
    return False


def byte_stream(unit: NalUnit) -> bytes:
    """Return a NAL unit with a start code and emulation prevention (7.4.1)."""
    escaped = bytearray()
    zeros = 0
    for byte in unit.payload:
        if zeros >= 2 and byte <= 3:
            escaped.append(3)
            zeros = 0
        escaped.append(byte)
        zeros = zeros + 1 if byte == 0 else 0
    return b"\0" + _START_CODE + bytes([unit.ref_idc << 5 | unit.kind]) + bytes(escaped)


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

    def flag(self) -> bool:
        """Read one bit."""
        return self.fixed(1) == 1

    def unsigned(self) -> int:
        """Read an unsigned Exp-Golomb number: ue(v)."""
        zeros = 0
        while not self.flag():
            zeros += 1
        return (1 << zeros) - 1 + self.fixed(zeros)

    def signed(self) -> int:
        """Read a signed Exp-Golomb number: se(v)."""
        code = self.unsigned()
        return (code + 1) // 2 if code % 2 else -(code // 2)


class BitWriter:
    """Writer of bit fields."""

    def __init__(self) -> None:
        self._bits: list[str] = []

    def fixed(self, value: int, count: int) -> None:
        """Write an unsigned number of `count` bits: u(n)."""
        self._bits.append(f"{value:0{count}b}" if count else "")

    def unsigned(self, value: int) -> None:
        """Write an unsigned Exp-Golomb number: ue(v)."""
        length = (value + 1).bit_length()
        self.fixed(value + 1, 2 * length - 1)

    def signed(self, value: int) -> None:
        """Write a signed Exp-Golomb number: se(v)."""
        self.unsigned(2 * value - 1 if value > 0 else -2 * value)

    def aligned(self, filler: str) -> bytes:
        """Return all bits, padded to whole bytes with "0" or "1"."""
        text = "".join(self._bits)
        text += filler * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Values of one sequence and one picture parameter set that slice headers depend on."""

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
    return _picture(BitReader(units[PICTURE_PARAMETERS]), frame_num_bits, order_bits)


def _sequence(bits: BitReader) -> tuple[int, int]:
    profile = bits.fixed(8)
    bits.fixed(16)
    bits.unsigned()
    if profile in _HIGH_PROFILES:
        is_420 = bits.unsigned() == 1
        bits.unsigned()
        bits.unsigned()
        bits.flag()
        if not is_420 or bits.flag():
            raise StreamNotUnderstood("another chroma format than 4:2:0, or scaling matrices")
    frame_num_bits = bits.unsigned() + 4
    order_type = bits.unsigned()
    if order_type == 1:
        raise StreamNotUnderstood("picture order of type 1")
    order_bits = bits.unsigned() + 4 if order_type == 0 else 0
    bits.unsigned()
    bits.flag()
    bits.unsigned()
    bits.unsigned()
    if not bits.flag():
        raise StreamNotUnderstood("interlaced pictures")
    return frame_num_bits, order_bits


def _picture(bits: BitReader, frame_num_bits: int, order_bits: int) -> Parameters:
    picture_set = bits.unsigned()
    bits.unsigned()
    if not bits.flag():
        raise StreamNotUnderstood("no arithmetic coding")
    has_bottom_order = bits.flag()
    if bits.unsigned() != 0:
        raise StreamNotUnderstood("groups of slices")
    reference_count = bits.unsigned() + 1
    bits.unsigned()
    is_weighted = bits.flag()
    bits.fixed(2)
    for _ in range(3):
        bits.signed()
    has_deblocking = bits.flag()
    bits.flag()
    if bits.flag():
        raise StreamNotUnderstood("redundant pictures")
    return Parameters(
        picture_set, frame_num_bits, order_bits, has_bottom_order, reference_count, is_weighted, has_deblocking
    )


class Counted(NamedTuple):
    """Numbers of a picture: among the reference pictures, and in display order (two per frame)."""

    frame_num: int
    order: int


def counted(unit: NalUnit, of: Parameters) -> Counted:
    """Return the numbers of a slice's picture."""
    bits = BitReader(unit.payload)
    for _ in range(3):
        bits.unsigned()
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
    """A P slice of skipped macroblocks only, with the initial state of its arithmetic code."""

    first_macroblock: int
    cabac_table: int
    qp_delta: int
    data: bytes


def skipped_slice(unit: NalUnit, of: Parameters) -> SkippedSlice:
    """Read the P slice that an encoder wrote for a picture equal to the one before it (7.3.3)."""
    bits = BitReader(unit.payload)
    first_macroblock, slice_type, _ = bits.unsigned(), bits.unsigned() % 5, bits.unsigned()
    if unit.kind != SLICE or unit.ref_idc == 0 or slice_type != P_SLICE:
        raise StreamNotUnderstood("not a P slice that others refer to")
    _counts(bits, unit, of)
    references = bits.unsigned() + 1 if bits.flag() else of.reference_count
    if bits.flag():
        raise StreamNotUnderstood("references in another order")
    if of.is_weighted:
        _pass_weights(bits, references)
    if bits.flag():
        raise StreamNotUnderstood("references marked one by one")
    cabac_table, qp_delta = bits.unsigned(), bits.signed()
    if of.has_deblocking and bits.unsigned() != 1:
        bits.signed()
        bits.signed()
    return SkippedSlice(first_macroblock, cabac_table, qp_delta, unit.payload[-(-bits.position // 8) :])


def _pass_weights(bits: BitReader, references: int) -> None:
    bits.unsigned()
    bits.unsigned()
    for _ in range(references):
        for numbers in (2, 4):
            for _ in range(numbers if bits.flag() else 0):
                bits.signed()


def repeating(after: Counted, distance: int, of: Parameters, skipped: SkippedSlice) -> NalUnit:
    """Return a slice that shows a reference picture again.

    `distance`: number of frames since the reference picture; the frames between repeat it too.
    """
    bits = BitWriter()
    bits.unsigned(skipped.first_macroblock)
    bits.unsigned(P_SLICE + 5)  # all slices of the picture are of this type
    bits.unsigned(of.picture_set)
    bits.fixed((after.frame_num + distance) % (1 << of.frame_num_bits), of.frame_num_bits)
    if of.order_bits:
        bits.fixed((after.order + 2 * distance) % (1 << of.order_bits), of.order_bits)
        if of.has_bottom_order:
            bits.signed(0)
    bits.fixed(1, 1)
    bits.unsigned(0)  # one reference
    bits.fixed(0, 1)
    if of.is_weighted:
        bits.unsigned(0)
        bits.unsigned(0)
        bits.fixed(0, 2)
    bits.fixed(0, 1)
    bits.unsigned(skipped.cabac_table)
    bits.signed(skipped.qp_delta)
    if of.has_deblocking:
        bits.unsigned(1)
    return NalUnit(SLICE, 2, bits.aligned("1") + skipped.data)
