"""Run one raster effect on given pixels."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.text.families import FontChain, Fonts, Style
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.effects.bake import bake
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot, LayerSnapshot, ParameterValue, ShapeSource, SolidPaint, Transform2D

ROOT = Path(__file__).resolve().parents[2]
Pixels = npt.NDArray[np.uint8]


@cache
def counter_faces() -> FontChain:
    """Return the faces of counters, from the farm's fonts."""
    return Fonts(FontFolders(ROOT / ".fonts").files()).chain(Style("monospace", 400, italic=False))


def baked_pixels(painter: Painter, pixels: Pixels, effect: str, **stored: ParameterValue) -> Pixels:
    """Return a layer's premultiplied pixels after an effect with these stored parameters, at scale 1."""
    rows, columns = pixels.shape[:2]
    source = ShapeSource("rect", columns, rows, (SolidPaint("#808080"),))
    entry = EffectSnapshot("fx", effect, tuple(stored.items()))
    layer = LayerSnapshot("l", "l", source, Transform2D(0, 0), effects=(entry,))
    baked = bake(painter, Raster(pixels, columns, rows), layer, lambda *_: np.zeros((1, 1), np.uint8), counter_faces)
    found = Canvas(painter, baked, 1.0).pixels().copy()
    painter.pool.give_back(baked)
    assert painter.pool.acquired_count == 0
    return found


def opaque(red: int, green: int, blue: int, rows: int = 8, columns: int = 8) -> Pixels:
    """Return pixels of one opaque colour."""
    return np.full((rows, columns, 4), (red, green, blue, 255), np.uint8)
