"""Colour stage: a layer's affine colour effects as one matrix, its tables as one table (effects.md 3.2 to 3.4)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.registry import Effect, known
from gpu_renderer.effects.values import EffectValues, resolve
from gpu_renderer.opengl.programs import UniformValue
from motion.snapshot import EffectSnapshot

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas

Affine = npt.NDArray[np.float64]
"""Three rows of four: out = A[:, :3] @ rgb + A[:, 3], on straight colours of 0..1."""
Table = npt.NDArray[np.uint8]
"""Shape (256, 3): the output of each encoded level of each channel."""
TABLE_SHAPE = (256, 3)

Luma = tuple[float, float, float]
"""Weights of red, green and blue in the luma."""
LUMA, CSS_LUMA = (0.2126, 0.7152, 0.0722), (0.213, 0.715, 0.072)
"""Weights of the GPU route, and of the browser's CSS filters."""
IDENTITY: Affine = np.hstack([np.eye(3), np.zeros((3, 1))])


class MatrixEffect(Effect):
    """A colour effect that is an affine map of the straight colour."""

    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        """Return the maps to apply in order. On the raster route colours are clamped after each map."""
        raise NotImplementedError

    def affine(self, values: EffectValues) -> Affine:
        """Return the map of the GPU route."""
        return functools.reduce(lambda done, step: after(step, done), self.steps(values, LUMA))

    def filters(self, values: EffectValues) -> Sequence[Affine | Table]:
        """Return the matrices and tables to apply in order on the raster route."""
        return self.steps(values, CSS_LUMA)

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        for step in self.filters(values):
            if step.shape == TABLE_SHAPE:
                canvas.table(step.astype(np.uint8))
            else:
                canvas.matrix(step.astype(np.float64))


class TableEffect(Effect):
    """A colour effect that maps each channel by a table."""

    def table(self, values: EffectValues) -> Table:
        """Return the 256 entries of each channel."""
        raise NotImplementedError

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.table(self.table(values))


@dataclass(frozen=True, slots=True, eq=False)
class ColorStage:
    """Changes of a layer's straight colours before spatial effects."""

    affine: Affine
    table: Table | None

    @property
    def has_matrix(self) -> bool:
        """True if there are matrix effects."""
        return self.affine is not IDENTITY

    @property
    def uniforms(self) -> dict[str, UniformValue]:
        """Affine map for shaders/include/color_stage.glsl."""
        return {
            "u_grade_matrix": tuple(float(v) for v in self.affine[:, :3].T.ravel()),
            "u_grade_offset": tuple(float(v) for v in self.affine[:, 3]),
        }

    def graded_fill(self, rgb: tuple[float, float, float]) -> tuple[float, float, float]:
        """Return the fill of a plain solid shape: the matrix alone, on sRGB fractions (effects.md 3.3)."""
        r, g, b = np.clip(self.affine[:, :3] @ np.asarray(rgb) + self.affine[:, 3], 0, 1).tolist()
        return r, g, b


def color_stage(effects: Iterable[EffectSnapshot]) -> ColorStage | None:
    """Return the matrix and table effects of a stack, merged in order, or None if it has none."""
    affine, table, found = IDENTITY, None, False
    for effect, entry in known(effects):
        if isinstance(effect, MatrixEffect):
            affine, found = after(effect.affine(resolve(effect, entry)), affine), True
        elif isinstance(effect, TableEffect):
            step = effect.table(resolve(effect, entry))
            table, found = step if table is None else looked_up(step, table), True
    return ColorStage(affine, table) if found else None


def after(second: Affine, first: Affine) -> Affine:
    """Return the map that applies `first`, then `second`."""
    return np.hstack([second[:, :3] @ first[:, :3], (second[:, :3] @ first[:, 3] + second[:, 3])[:, None]])


def looked_up(second: Table, first: Table) -> Table:
    """Return the table that applies `first`, then `second`."""
    return np.stack([second[first[:, channel], channel] for channel in range(3)], axis=1)
