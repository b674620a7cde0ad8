"""Probe of the driver: how it rounds a store into a target, so that a shader can round in the same way.

OpenGL leaves the rounding of half floats to the driver. Mesa's software rasteriser truncates them towards zero.
Graphics cards round to nearest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gpu_renderer.errors import ShaderError
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.targets import Format, Target, TargetPool

_SHADER = "convert/stored.frag"
FLOATS, CUT, PACKED = 0, 1, 2
"""STORE of include/stored.glsl: floats unchanged; half floats truncated towards zero; half floats as the driver packs them."""
_SIDE = 128
"""Side of the square of probed pixels, four numbers a pixel."""
_SPECIAL = (
    0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 65504.0, 65519.0, 65520.0, 65536.0, 2.0**-14, 2.0**-24, 2.0**-25,
)  # fmt: skip
"""Special values, the largest half floats and the floats just above them, and the smallest half floats."""


class Passes(Protocol):
    """The calls of `Painter` that the probe needs. A painter probes its driver before it is complete."""

    pool: TargetPool

    def draw(self, shader: str, into: Target, *, textures: Mapping[str, Target], defines: Mapping[str, object]) -> None:
        """Run a fragment shader over the whole of `into`."""

    def finish(self) -> None:
        """Wait for queued passes."""


def half_store(painter: Passes) -> int | None:
    """Return the STORE that matches the driver's half-float targets, or None if no known one does."""
    square = Region(0, 0, _SIDE, _SIDE)
    numbers = painter.pool.take(square, "f4", clear=False)
    numbers.texture.write(_numbers().tobytes())
    wanted = _drawn(painter, numbers, FLOATS, "f2").view(np.float16).astype(np.float32)
    found = next((store for store in (CUT, PACKED) if _is_same(painter, numbers, store, wanted)), None)
    painter.pool.give_back(numbers)
    return found


def _is_same(painter: Passes, numbers: Target, store: int, wanted: npt.NDArray[np.float32]) -> bool:
    try:
        found = _drawn(painter, numbers, store, "f4")
    except ShaderError:  # a driver without the packing functions
        return False
    both_nan = np.isnan(found) & np.isnan(wanted)
    return bool(np.all((found.view(np.uint32) == wanted.view(np.uint32)) | both_nan))


def _drawn(painter: Passes, numbers: Target, store: int, format: Format) -> npt.NDArray[np.float32]:
    into = painter.pool.take(numbers.region, format, clear=False)
    painter.draw(_SHADER, into, textures={"u_numbers": numbers}, defines={"STORE": store})
    painter.finish()
    found = into.read()
    painter.pool.give_back(into)
    return found


def _numbers() -> npt.NDArray[np.float32]:
    """Return floats near half floats of every exponent and both signs, and the special values."""
    chance = np.random.default_rng(0)
    count = 4 * _SIDE * _SIDE
    exponents = np.resize(np.arange(127 - 28, 127 + 18, dtype=np.uint32), count)
    bits = chance.integers(0, 1 << 23, count, dtype=np.uint32) | exponents << 23
    bits |= chance.integers(0, 2, count, dtype=np.uint32) << 31
    ties = bits[: count // 4]
    ties &= np.uint32(0xFFFFF000)  # numbers halfway between two half floats, and half floats themselves
    found = bits.view(np.float32)
    found[: len(_SPECIAL)] = _SPECIAL
    return found
