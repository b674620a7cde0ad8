"""Arrays beside pages without access, and a program that calls the native kernels with random and extreme arguments on them.

An access beyond an array ends the program. `python -m tests.gpu_renderer.backends.cpu.guarded LIBRARY SEED COUNT`.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Samples, weights
from gpu_renderer.kernels import bindings, places, windows
from gpu_renderer.kernels.bindings import HALF_PATTERNS, Backdrop, FilterTaps, Kernels
from gpu_renderer.kernels.draw_ops import (
    ADJUST,
    BUFFER,
    CELLS,
    COVERAGE,
    ELLIPSE,
    GLOW,
    GLOWING_BUFFER,
    GROUP,
    IMAGE,
    MODES_KNOWN,
    NO_EXTENTS,
    NOISE_PASS,
    QUANTISE,
    RAMP_PASS,
    RECTANGLE,
    Content,
    DrawOp,
    DrawOps,
    Grade,
    Pass,
    References,
    Variant,
    adjust_op,
    draw_op,
    quantise_op,
    table_pairs,
)
from gpu_renderer.kernels.loading import loaded

Array = npt.NDArray[Any]
EXTREMES = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, -1e-30, 1e30, -1e30, 3e38, math.inf, -math.inf, math.nan)
SIDES = (1, 1, 2, 3, 5, 8, 17, 31, 64, 65, 130, 513, 1025)
_PAGE, _NO_ACCESS = mmap.PAGESIZE, 0
_protect: Callable[..., int] = ctypes.CDLL(None).mprotect
_protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int  # type: ignore[attr-defined]


class Guards:
    """Maker of arrays that begin or end at a page without access. Takes the place of numpy in the kernels' bindings."""

    def __init__(self) -> None:
        self.is_behind = True
        """True to place the page behind the array, False in front of it."""

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike = float) -> Array:
        """Return an array of undefined content."""
        kind = np.dtype(dtype)
        size = int(np.prod(shape)) * kind.itemsize
        inner = -(-size // _PAGE) * _PAGE
        memory = mmap.mmap(-1, inner + 2 * _PAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for place in (address, address + _PAGE + inner):
            if _protect(place, _PAGE, _NO_ACCESS):
                raise OSError("a page cannot be protected")
        start = _PAGE + (inner - size if self.is_behind else 0)
        return np.frombuffer(memory, np.uint8, size, start).view(kind).reshape(shape)

    def full(self, shape: int | tuple[int, ...], value: float, dtype: npt.DTypeLike = float) -> Array:
        """Return an array of one value."""
        found = self.empty(shape, dtype)
        found[...] = value
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def held(self, content: Array) -> Array:
        """Return a copy of an array."""
        copy = self.empty(content.shape, content.dtype)
        copy[...] = content
        return copy


class Chance:
    """Random arguments."""

    def __init__(self, seed: int, guards: Guards) -> None:
        self.rng, self.guards = np.random.default_rng(seed), guards

    def one_of(self, choices: Any) -> Any:
        """Return one of the choices."""
        return choices[self.rng.integers(len(choices))]

    def flag(self) -> bool:
        """Return True or False."""
        return bool(self.rng.integers(2))

    def side(self, least: int = 1, most: int = 1 << 20) -> int:
        """Return a number of pixels."""
        return int(min(most, max(least, self.one_of(SIDES))))

    def number(self, scale: float = 2.0) -> float:
        """Return a number, in one of eight calls an extreme one."""
        return float(self.one_of(EXTREMES)) if self.rng.integers(8) == 0 else float(self.rng.normal() * scale)

    def noise(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """Return random bits: half floats and floats include infinities and NaN."""
        found = self.guards.empty(shape, dtype)
        found.view(np.uint8)[...] = self.rng.integers(0, 256, found.view(np.uint8).shape, dtype=np.uint8)
        return found

    def part(self, width: int, height: int) -> Region:
        """Return pixels of a picture."""
        (left, right), (top, bottom) = (sorted(self.rng.integers(0, side + 1, 2).tolist()) for side in (width, height))
        return Region(left, top, max(1, right - left), max(1, bottom - top)).intersection(Region(0, 0, width, height))

    def region(self, width: int, height: int) -> Region:
        """Return a region that can exceed a picture."""
        left, top = (int(self.rng.integers(-side, side + 1)) for side in (width, height))
        return Region(left, top, int(self.rng.integers(1, 2 * width + 2)), int(self.rng.integers(1, 2 * height + 2)))

    def to_unit(self, region: Region, *, is_projective: bool) -> tuple[float, ...]:
        """Return a matrix from frame px to a quad, and its fold: usual ones, and those with extreme numbers."""
        fold = [self.number(0.01) if self.flag() else 0.0 for _ in range(3)]
        if self.flag():
            size = max(region.width, region.height)
            found = [self.number(1 / size) for _ in range(4)]
            if self.flag():
                found[1] = found[2] = 0.0  # upright
            far = [self.number(1 / size), self.number(1 / size)] if is_projective else [0.0, 0.0]
            return found[0], found[1], far[0], found[2], found[3], far[1], self.number(), self.number(), 1.0, *fold
        return (*(self.number() for _ in range(9)), *fold)


def _composites(kernels: Kernels, chance: Chance) -> None:
    """Composite random operations into parts of a picture."""
    width, height = chance.side(), chance.side(most=65)
    frame = Region(0, 0, width, height)
    operations = [_operation(kernels, chance, frame) for _ in range(chance.rng.integers(0, 9))]
    backdrop = _backdrop(chance, frame)
    picture = chance.guards.empty((height, width, 4), np.uint8)
    parts = tuple(chance.part(width, height) for _ in range(chance.rng.integers(1, 4)))
    parts = tuple(part for part in parts if not part.is_empty)
    levels = chance.noise((HALF_PATTERNS,), np.uint8)
    kernels.composite(backdrop, DrawOps(operations), levels, picture, parts)
    for part in parts:
        linear = chance.guards.empty((part.height, part.width, 4), np.uint16)
        kernels.composite_linear(backdrop, DrawOps(operations), linear, part, 1)


def _backdrop(chance: Chance, frame: Region) -> Backdrop:
    shape = (frame.height, frame.width, 4)
    match chance.rng.integers(3):
        case 0:
            linear = chance.noise((256,), np.float32)
            return Backdrop(footage=chance.noise(shape, np.uint8), linear=linear)
        case 1:
            return Backdrop(halves=chance.noise(shape, np.uint16))
    return Backdrop(color=(chance.number(), chance.number(), chance.number()))


def _operation(kernels: Kernels, chance: Chance, frame: Region) -> DrawOp:
    region = chance.region(frame.width, frame.height)
    kind = int(chance.rng.integers(ADJUST + 1))
    if kind == QUANTISE:
        return quantise_op(region)
    if kind == ADJUST:
        passes = [
            Pass(chance.one_of((RAMP_PASS, NOISE_PASS)), chance.flag(), tuple(chance.number() for _ in range(12)))
            for _ in range(chance.rng.integers(3))
        ]
        return adjust_op(region, _grade(chance), passes, ())
    if kind in (BUFFER, GLOWING_BUFFER, GLOW):
        return _buffer(chance, kind, region)
    return _content(kernels, chance, kind, region)


def _grade(chance: Chance) -> Grade | None:
    if chance.flag():
        return None
    table = table_pairs(chance.rng.bytes(768)) if chance.flag() else None
    return Grade(
        (chance.number(), chance.number(), chance.number()),
        chance.flag(),
        tuple(chance.number() for _ in range(12)) if chance.flag() else None,
        None if table is None else chance.guards.held(table),
    )


def _content(kernels: Kernels, chance: Chance, kind: int, region: Region) -> DrawOp:
    is_projective, columns, rows = chance.flag(), chance.side(most=130), chance.side(most=65)
    gradient = ramps = 0
    geometry, color = [chance.number() for _ in range(4)], [chance.number() for _ in range(4)]
    texels: Array | None = None
    extents, mask = NO_EXTENTS, None
    if kind in (RECTANGLE, ELLIPSE):
        geometry[3] = float(chance.flag())
        if chance.flag():
            gradient, ramps = int(chance.rng.integers(1, 3)), int(chance.rng.integers(0, 5))
            texels = chance.guards.held(np.array([chance.number() for _ in range(8 + 6 * ramps)], np.float32))
    elif kind in (COVERAGE, IMAGE):
        columns, rows = max(2, columns), max(2, rows)
        texels = chance.noise((rows, columns) if kind == COVERAGE else (rows, columns, 4), np.uint8)
        if chance.flag():
            mask = chance.noise((chance.side(2, 65), chance.side(2, 65)), np.uint8)
    elif kind == GROUP:
        texels = chance.noise((rows, columns, 4), np.uint16)
        geometry = [float(number) for number in chance.region(2 * columns, 2 * rows)[:2]] + [columns, rows]
    else:
        texels = chance.noise((rows, columns, 4), np.float32 if kind == CELLS else np.uint16)
        if chance.flag():
            texels[...] = texels[0, 0]
        if chance.flag():
            extents = kernels.extents(texels, chance.part(columns, rows))
    variant = Variant(
        kind, int(chance.one_of((0, 1, 4))), is_projective, kind in (COVERAGE, IMAGE) and chance.flag(),
        int(chance.one_of(sorted(MODES_KNOWN))) if chance.flag() else 0,
        kind in (COVERAGE, IMAGE) and chance.flag(), gradient, ramps,
    )  # fmt: skip
    content = Content(tuple(geometry), tuple(color), texels, extents)
    to_unit = chance.to_unit(region, is_projective=is_projective)
    return draw_op(variant, region, content, chance.number(), References(mask=mask, grade=_grade(chance)), to_unit)


def _buffer(chance: Chance, kind: int, region: Region) -> DrawOp:
    columns, rows = chance.side(most=130), chance.side(most=65)
    place = (*map(float, chance.region(2 * columns, 2 * rows)[:2]), float(columns), float(rows))

    def glow(matte: DrawOp | None) -> DrawOp:
        is_nearest = chance.flag()
        cells = chance.noise((rows, columns, 4), np.uint16 if is_nearest else np.float32)
        numbers = place if is_nearest else (chance.number(9), chance.number(9), float(columns), float(rows))
        opacity, cells_per_px = chance.number(), float(chance.one_of((0.5, 0.25, 1 / 64)))
        content = Content(numbers, texels=cells, cells_per_px=cells_per_px)
        return draw_op(Variant(GLOW, is_nearest=is_nearest), region, content, opacity, References(matte=matte))

    halves = Content(place, texels=chance.noise((rows, columns, 4), np.uint16))
    matte = draw_op(Variant(BUFFER, mode=int(chance.rng.integers(1, 5))), region, halves) if chance.flag() else None
    if kind == GLOW:
        return glow(matte)
    behind = glow(None) if kind == GLOWING_BUFFER else None
    variant = Variant(kind, is_nearest=behind is not None and behind.variant.is_nearest)
    return draw_op(variant, region, halves, chance.number(), References(behind, matte))


def _converts(kernels: Kernels, chance: Chance) -> None:
    """Convert pictures to NV12, and decoded frames to pixels."""
    width, height = chance.side(most=1025), chance.side(most=31)
    coded_width, coded_height = width + width % 2, height + height % 2
    stride, picture = coded_width + int(chance.one_of((0, 2, 14))), chance.noise((height, width, 4), np.uint8)
    luma, chroma = (chance.guards.empty((rows, stride), np.uint8) for rows in (coded_height, coded_height // 2))
    part = chance.part(coded_width // 2, coded_height // 2)
    for region in (Region(0, 0, coded_width, coded_height), Region(*(2 * number for number in part))):
        kernels.nv12(picture, region, luma.ctypes.data, chroma.ctypes.data, stride)
    scene = chance.noise((height, width, 4), np.uint16)
    kernels.display_encode(
        scene.ctypes.data, chance.noise((HALF_PATTERNS,), np.uint8), picture, Region(0, 0, width, height)
    )
    columns, rows = max(8, width & ~1), max(8, height & ~1)
    padding = int(chance.one_of((0, 1, 32)))
    blue, red = (chance.noise((rows // 2, columns // 2 + padding), np.uint8)[:, : columns // 2] for _ in range(2))
    samples = Samples(chance.noise((rows, columns + padding), np.uint8)[:, :columns], blue, red)
    luma, chroma = (chance.guards.empty((lines, columns), np.uint8) for lines in (rows, rows // 2))
    kernels.interleave(samples, luma.ctypes.data, chroma.ctypes.data, columns)
    by = chance.guards.held(weights("bt709", full_range=chance.flag()))
    kernels.colour_decode(samples, by, chance.part(columns, rows))
    across, down = (_taps(chance, side, chance.side(most=513)) for side in (columns, rows))
    shown = chance.guards.empty((down.count, across.count, 4), np.uint8)
    kernels.resample(samples, by, across, down, shown)
    kernels.resample(chance.noise((rows, columns, 4), np.uint8), None, across, down, shown)


def _taps(chance: Chance, texels: int, count: int) -> FilterTaps:
    kept = (chance.rng.integers(0, texels - 1, count), chance.rng.integers(0, 257, count))
    return FilterTaps(*(chance.guards.held(each.astype(np.int32)) for each in kept))


def _filters(kernels: Kernels, chance: Chance) -> None:
    """Run the windows, blurs and convolutions of effects."""
    native, rows, columns = kernels.windows, chance.side(most=65), chance.side(most=130)
    pixels, margin = chance.noise((rows, columns, 4), np.uint8), int(chance.one_of((0, 1, 2, 9, 80)))
    for axis in (0, 1):
        operation = chance.one_of(("mean", "largest", "smallest", "weighted mean"))
        native.window(pixels, axis, margin, operation, repeats_edge=chance.flag())
    native.medians(pixels, min(margin, 3), is_disc=chance.flag())
    copies = int(chance.rng.integers(1, 9))
    numbers = [chance.number(9) for _ in range(2 * copies)]
    moves = chance.guards.held(np.array(numbers, np.float32).reshape(copies, 2))
    native.directional_blur(pixels, moves, chance.guards.held(np.full(copies, 255 // copies, np.int32)))
    field = native.heights(pixels, margin)
    steps = np.arange(-copies, copies + 1) * chance.rng.uniform(-20, 20)
    native.contour_blur(pixels, field, chance.guards.held(steps.astype(np.float32)), chance.rng.uniform(-9, 9))
    native.straighten(pixels)
    native.premultiply(pixels)
    native.level_counts(pixels)
    shape = (rows, columns, 4) if chance.flag() else (rows, columns)
    texels, part = chance.noise(shape, np.uint16), chance.region(columns, rows)
    across, down = _convolution(chance), _convolution(chance)
    native.convolved(texels, part, across, down, repeats_edge=chance.flag(), is_half=chance.flag())


def _convolution(chance: Chance) -> windows.Taps:
    count = int(chance.one_of((1, 2, 5, 31, windows.TAPS_MAX)))
    places = np.cumsum(chance.rng.integers(1, 4, count)) if chance.flag() else np.arange(1, count + 1)
    held = np.array([chance.number() for _ in range(count)], np.float32), (places - places[0]).astype(np.int32)
    return chance.guards.held(held[0]), chance.guards.held(held[1])


def _places(kernels: Kernels, chance: Chance) -> None:
    """Place layers on the frame."""
    count, native = chance.side(most=130), kernels.places
    numbers = np.array([chance.number(50) for _ in range(9 * count)]).reshape(count, 9)
    maps = native.maps(
        chance.guards.held(numbers), (1.0, 0.0, chance.number(), 0.0, 1.0, chance.number(), 0.0, 0.0, 1.0)
    )
    sizes, boxes = chance.rng.uniform(0, 100, (count, 2)), chance.rng.uniform(0, 0.5, (count, 4))
    regions = chance.region(64, 64), chance.part(64, 64)
    for shown in (maps, chance.guards.held(chance.rng.normal(0, 20, (count, 6)))):
        native.quads(shown, chance.guards.held(sizes), chance.guards.held(boxes), *regions)


def main(library: Path, seed: int, count: int) -> None:
    """Call each kernel of a library `count` times, and name each call before it, so that a crash can be repeated."""
    guards, kernels = Guards(), loaded(library)
    vars(bindings)["np"] = vars(places)["np"] = vars(windows)["np"] = guards  # also guards scratch memory and results
    for number in range(count):
        guards.is_behind = number % 2 == 0
        chance = Chance(seed + number, guards)
        for calls in (_composites, _converts, _filters, _places):
            sys.stdout.write(f"{seed + number} {calls.__name__}\n")
            sys.stdout.flush()
            calls(kernels, chance)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
