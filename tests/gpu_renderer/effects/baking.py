"""Layers of the raster route, and the pixels of their effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector.mask import MaskRaster
from gpu_renderer.effects import bake
from gpu_renderer.effects.bake import Masking
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot, LayerSnapshot, ParameterValue, ShapeSource, Transform2D
from tests.gpu_renderer.canvases import Pixels

SHAPE = ShapeSource("rect", 100, 80, ())
Coverage = npt.NDArray[np.uint8]


def layer(*effects: EffectSnapshot, **fields: object) -> LayerSnapshot:
    return replace(LayerSnapshot("l", "l", SHAPE, Transform2D(0, 0), effects=effects), **fields)  # type: ignore[arg-type]


def entry(effect: str, mask_id: str | None = None, **stored: ParameterValue) -> EffectSnapshot:
    return EffectSnapshot("fx", effect, tuple(stored.items()), mask_id=mask_id)


REST = entry("median", radius=0.0)
"""Raster effect without influence. It makes the layer take the raster route."""


def rectangle(rows: int = 40, columns: int = 60, margin: int = 12) -> Pixels:
    pixels = np.zeros((rows, columns, 4), np.uint8)
    pixels[margin:-margin, margin:-margin] = (48, 128, 255, 255)
    return pixels


def no_masks(_paths: object, _raster: MaskRaster) -> Coverage:
    return np.zeros((1, 1), np.uint8)


def run(
    painter: Painter, pixels: Pixels, *effects: EffectSnapshot, masking: Masking = no_masks, **fields: object
) -> Pixels:
    rows, columns = pixels.shape[:2]
    fields = {"source": ShapeSource("rect", columns, rows, ()), **fields}
    baked = bake(painter, Raster(pixels, columns, rows), layer(*effects, **fields), masking)
    found = Canvas(painter, baked, 1.0).pixels().copy()
    painter.pool.give_back(baked)
    assert painter.pool.acquired_count == 0
    return found
