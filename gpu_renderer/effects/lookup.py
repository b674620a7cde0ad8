"""The colour table that `apply-color-lut` stores, and the effect (effects.md 8.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.values import EffectValues
from motion.snapshot import ParameterValue

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import EffectChain

Vector = tuple[float, float, float]
VOLUME_MAX, LINE_MAX = 256, 16384
"""Largest number of steps of a 3D table along an axis, and of a table per channel: the limits of a texture."""


@dataclass(frozen=True, slots=True, eq=False)
class LookupTable:
    """A table with `size` steps an axis, red fastest (shape (size, size, size, 3)), or with `size` steps for each channel."""

    size: int
    is_volume: bool
    steps: npt.NDArray[np.float32]
    domain_min: Vector
    domain_max: Vector

    @classmethod
    def read(cls, stored: ParameterValue) -> LookupTable | None:
        """Return the table of a stored record, given as (key, value) pairs, or None for an inconsistent record."""
        record = _record(stored)
        volume, line = _whole(record.get("size"), VOLUME_MAX), _whole(record.get("size1d"), LINE_MAX)
        if (volume > 0) == (line > 0):
            return None
        steps = _numbers(record.get("data"))
        low, high = _vector(record.get("domainMin"), 0.0), _vector(record.get("domainMax"), 1.0)
        if steps.size != 3 * (volume**3 or line) or not np.isfinite(steps).all():
            return None
        if any(top <= bottom for bottom, top in zip(low, high, strict=True)):
            return None
        return cls(volume or line, volume > 0, steps, low, high)

    @property
    def packed_size(self) -> tuple[int, int]:
        """Width and height of the packed picture: the slices of blue side by side."""
        return (self.size * self.size, self.size) if self.is_volume else (self.size, 1)

    @property
    def signed_size(self) -> int:
        """Size, negative for tables by channel."""
        return self.size if self.is_volume else -self.size

    @property
    def red_domain(self) -> tuple[float, float]:
        """Domain of red, which the GPU form uses for all channels."""
        return self.domain_min[0], self.domain_max[0]

    def picture(self) -> npt.NDArray[np.float32]:
        """Table as a picture, shape (height, width, 3): rows of green, columns of red, slices of blue side by side."""
        if not self.is_volume:
            return self.steps.reshape(1, self.size, 3)
        cube = self.steps.reshape(self.size, self.size, self.size, 3)  # blue, green, red
        return cube.transpose(1, 0, 2, 3).reshape(self.size, self.size * self.size, 3)

    def packed(self) -> bytes:
        """Return the picture as 8-bit RGBA."""
        levels = np.floor(np.clip(self.picture(), 0, 1) * 255 + 0.5).astype(np.uint8)
        return np.dstack([levels, np.full(levels.shape[:2], 255, np.uint8)]).tobytes()

    def floats(self) -> bytes:
        """Return the picture as 32-bit RGB."""
        return np.ascontiguousarray(self.picture(), np.float32).tobytes()


def _record(stored: ParameterValue) -> dict[str, ParameterValue]:
    pairs = stored if isinstance(stored, tuple) else ()
    return {p[0]: p[1] for p in pairs if isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str)}


def _whole(value: ParameterValue, most: int) -> int:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return int(value) if is_number and 0 < value <= most else 0  # type: ignore[arg-type, operator]


def _numbers(value: ParameterValue) -> npt.NDArray[np.float32]:
    numbers = value if isinstance(value, tuple) else ()
    return np.array([v if isinstance(v, (int, float)) else math.nan for v in numbers], np.float32)


def _vector(value: ParameterValue, default: float) -> Vector:
    numbers = _numbers(value)
    r, g, b = numbers.tolist() if numbers.size == 3 and np.isfinite(numbers).all() else [default] * 3
    return r, g, b


@effect("apply-color-lut")
class ApplyColorLut(Effect):
    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        table = LookupTable.read(values.stored("lut"))
        if table is None:
            return
        # The reference uploads one table per layer. A later effect reads the first effect's table with its own size and
        # domain.
        uploaded = chain.shared.setdefault(ApplyColorLut, table)
        assert isinstance(uploaded, LookupTable), "no other effect shares by this class"
        texture = chain.texture(uploaded.packed(), *uploaded.packed_size)
        chain.apply(
            self.shader,
            values,
            uniforms={"u_size": table.signed_size, "u_domain": table.red_domain},
            spent={"u_table": texture},
        )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        table = LookupTable.read(values.stored("lut"))
        if table is None:
            return
        volume = canvas.texture(table.floats(), *table.packed_size, format="f4", channels=3)
        canvas.apply(
            "effects/baked/color_lut.frag",
            values,
            uniforms={"u_size": table.signed_size, "u_domain_min": table.domain_min, "u_domain_max": table.domain_max},
            spent={"u_table": volume},
        )
