"""Stylised pictures and ramps (effects.md 8.9 and 8.6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects import canvas_filters
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.scene import blocks_of, rotated_cells
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.programs import UniformValue

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import EffectChain

SMOOTHNESS_MAX_PX = 12


@effect("mosaic")
class Mosaic(Effect):
    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        if values.flag("sharpColors"):
            chain.apply(self.shader, values)
            return
        counts = values.whole("horizontalBlocks", 1), values.whole("verticalBlocks", 1)
        blocks = (min(side, count) for side, count in zip(chain.scene.sides, counts, strict=True))
        chain.apply_by_cells(self.shader, values, blocks_of(chain.scene, chain.target.region, *blocks), "f2")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        if values.flag("sharpColors"):
            canvas.apply(self.shader, values)
            return
        columns = values.whole("horizontalBlocks", 1, canvas.width)
        rows = values.whole("verticalBlocks", 1, canvas.height)
        means = canvas_filters.shrunk(canvas, Region(0, 0, columns, rows))
        canvas.apply("effects/baked/blocks.frag", spent={"u_blocks": means})


@effect("halftone")
class Halftone(Effect):
    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        cell, turn = values.whole("cellSize", 2), values.radians("screenAngle")
        chain.apply_by_cells(self.shader, values, rotated_cells(chain.scene, chain.target.region, cell, turn), "f4")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        turn = values.radians("screenAngle")
        first, means = _cell_means(canvas, values.whole("cellSize", 2), turn)
        rows, columns = means.shape[:2]
        texture = canvas.texture(means.tobytes(), columns, rows, format="f4")
        uniforms: dict[str, UniformValue] = {
            "u_means_region": (*first, float(columns), float(rows)),
            "u_turn": (math.cos(turn), math.sin(turn)),
        }
        canvas.apply(self.shader, values, uniforms=uniforms, spent={"u_means": texture}, defines=(("MEANS", "1"),))


def _cell_means(canvas: Canvas, cell: int, turn: float) -> tuple[tuple[float, float], npt.NDArray[np.float32]]:
    """Return the lowest column and row of a rotated screen's cells over the canvas, and the cells' mean colours.

    Means have the shape (rows, columns, 4). Transparent pixels count as black, so cells at an edge are darker.
    """
    pixels = canvas.straight_pixels()
    y, x = np.indices(pixels.shape[:2])
    across = np.floor((x * math.cos(turn) + y * math.sin(turn)) / cell).astype(int)
    down = np.floor((y * math.cos(turn) - x * math.sin(turn)) / cell).astype(int)
    left, top, columns, rows = across.min(), down.min(), np.ptp(across) + 1, np.ptp(down) + 1
    place = ((down - top) * columns + across - left).ravel()
    sums = [np.bincount(place, level.ravel(), rows * columns) for level in np.moveaxis(pixels, 2, 0)[:3]]
    counts = np.maximum(np.bincount(place, minlength=rows * columns), 1)
    means = np.stack([*(channel / counts / 255 for channel in sums), np.ones(rows * columns)], axis=1)
    return (float(left), float(top)), means.reshape(rows, columns, 4).astype(np.float32)


@effect("cartoon")
class Cartoon(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        radius = values.whole("smoothness", 0, SMOOTHNESS_MAX_PX)
        soft = canvas.box_means(radius)
        canvas.apply(self.shader, values, spent={"u_soft": soft})


@effect("glass")
class Glass(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        field = canvas_filters.luma_field(canvas, values.whole("bumpSoftness"))
        canvas.apply(self.shader, values, spent={"u_field": field})


@effect("strobe-light")
class StrobeLight(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        period = max(0.001, values.number("strobePeriod"))
        time = values.stored("time")
        seconds = float(time) if isinstance(time, (int, float)) else 0.0
        is_off = (seconds % period) / period >= values.fraction("strobeDuty")
        return is_off or values.number("intensity") <= 0


@effect("gradient-ramp")
class GradientRamp(Effect):
    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        x, y, width, height = chain.scene.layer_box
        frame = np.array(chain.scene.frame[2:], np.float64)
        direction = np.array((math.cos(values.radians("angle")), math.sin(values.radians("angle"))))
        away = direction * 0.5 * (abs(direction[0]) * width + abs(direction[1]) * height)
        first, axis = (np.array((x + 0.5 * width, y + 0.5 * height)) - away) / frame, 2.0 * away / frame
        scale = max(float(axis @ axis), 1e-4)
        right, down = (axis / frame / scale).tolist()
        uniforms: dict[str, UniformValue] = {"u_slope": (right, down), "u_start": -float(first @ axis) / scale}
        chain.apply(self.shader, values, uniforms=uniforms)
