"""Stylised pictures (format/effects.md 8.9)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.cells import blocks_of, turned_cells
from gpu_renderer.effects.parameters import color, degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.programs import UniformValue

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import Chain


@effect("mosaic", Tier.COMMON, Route.GPU)
class Mosaic(Effect):
    """Square blocks of one colour."""

    parameters = (
        number("horizontalBlocks", 20, 1, 500),
        number("verticalBlocks", 20, 1, 500),
        flag("sharpColors", False),
    )
    shader = "effects/mosaic.frag"

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        del values, scene
        return math.inf  # sharp colours repeat the last column and row beyond the box (effects.md 8.9)

    def draw(self, chain: Chain, values: EffectValues) -> None:
        if values.flag("sharpColors"):
            chain.apply(self.shader, values)
            return
        size = chain.scene.layer_width, chain.scene.layer_height
        counts = values.whole("horizontalBlocks"), values.whole("verticalBlocks")
        blocks = (min(max(1.0, side), max(1, count)) for side, count in zip(size, counts, strict=True))
        chain.apply_by_cells(self.shader, values, blocks_of(chain.scene, chain.target.region, *blocks), "f2")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        if values.flag("sharpColors"):
            canvas.apply(self.shader, values)
            return
        columns = min(canvas.width, max(1, values.whole("horizontalBlocks")))
        rows = min(canvas.height, max(1, values.whole("verticalBlocks")))
        means = canvas.shrunk(Region(0, 0, columns, rows))
        canvas.apply("effects/baked/blocks.frag", textures={"u_blocks": means})
        canvas.painter.pool.give_back(means)


@effect("find-edges", Tier.COMMON, Route.GPU)
class FindEdges(Effect):
    """Draws the edges of the picture."""

    parameters = (
        flag("invert", True),
        percent("blendWithOriginal", 0),
    )
    shader = "effects/find_edges.frag"


@effect("emboss", Tier.COMMON, Route.GPU)
class Emboss(Effect):
    """A grey relief."""

    parameters = (
        degrees("angle", 135, -360, 360),
        pixels("relief", 1, 0, 50),
        percent("contrast", 100, 0, 1000),
        percent("blend", 0),
    )
    shader = "effects/emboss.frag"


@effect("color-emboss", Tier.RARE, Route.GPU)
class ColorEmboss(Effect):
    """A relief that keeps the colours."""

    parameters = (
        degrees("direction", 45, -360, 360),
        pixels("relief", 1, 1, 50),
        percent("contrast", 100, 0, 500),
        percent("blendWithOriginal", 0),
    )
    shader = "effects/color_emboss.frag"


@effect("halftone", Tier.COMMON, Route.GPU)
class Halftone(Effect):
    """Dots of ink on paper."""

    parameters = (
        pixels("cellSize", 8, 2, 200),
        degrees("screenAngle", 45, -180, 180),
        percent("contrast", 100, 1, 400),
        color("inkColor", "#000000"),
        color("paperColor", "#ffffff"),
        flag("colorize", False),
        percent("blendWithOriginal", 0),
    )
    shader = "effects/halftone.frag"
    derived = frozenset({"u_means_region"})

    def draw(self, chain: Chain, values: EffectValues) -> None:
        cell, turn = max(2, values.whole("cellSize")), values.radians("screenAngle")
        chain.apply_by_cells(self.shader, values, turned_cells(chain.scene, chain.target.region, cell, turn), "f4")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        first, means = _cell_means(canvas, max(2, values.whole("cellSize")), values.radians("screenAngle"))
        rows, columns = means.shape[:2]
        texture = canvas.texture(means.tobytes(), columns, rows, format="f4")
        uniforms: dict[str, UniformValue] = {"u_means_region": (*first, float(columns), float(rows))}
        canvas.apply(self.shader, values, uniforms=uniforms, textures={"u_means": texture}, defines=(("MEANS", "1"),))
        texture.release()


def _cell_means(canvas: Canvas, cell: int, turn: float) -> tuple[tuple[float, float], npt.NDArray[np.float32]]:
    """Return the lowest column and row of a turned screen's cells over the canvas, and the mean colour of each, (rows, columns, 4).

    Transparent pixels count too, as black: cells that an edge cuts are darker.
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
