"""Content drawn at 1/2, 1/4 ... of the frame's size is what halving the content of the frame's size gives."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.quads import Cells, Style
from gpu_renderer.content.raster import Raster, with_content_box
from gpu_renderer.display_list.paint import Filter, Image, Paint, Shape, quad_of
from gpu_renderer.effects.blur_passes import halved
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import Transform2D

pytestmark = pytest.mark.gl
HALF_FLOAT = 2.0**-10
"""Two roundings of a value up to 1 to half floats."""


def paint(chance: random.Random) -> Paint:
    """Return a rounded rectangle, an ellipse, or a picture whose pixels reach its edge."""
    width, height = chance.uniform(20, 300), chance.uniform(20, 200)
    if chance.random() < 0.6:
        kind: Literal["rect", "ellipse"] = chance.choice(("rect", "ellipse"))
        radius = chance.choice((0.0, 18.0))
        return Shape(kind, Rgba(0.9, 0.4, 0.1, 1.0), width, height, radius, chance.random() < 0.2)
    texels = np.random.default_rng(chance.randint(0, 99)).integers(0, 256, (40, 60, 4), dtype=np.uint8)
    texels[..., 3] = 255
    return Image(texels, width, height, content_box=with_content_box(Raster(texels, 60, 40)).content_box)


def read(target: Target) -> np.ndarray:
    """Return the values of a half-float target."""
    return target.read().view(np.float16).astype(float)


@pytest.mark.parametrize("seed", range(24))
def test_drawing_into_cells_gives_the_halved_picture(painter: Painter, seed: int) -> None:
    chance = random.Random(seed)
    placed = matrix.placed(
        Transform2D(chance.uniform(0, 300), chance.uniform(0, 200), chance.choice((0, 90, chance.uniform(0, 360))))
    )
    shown, region = paint(chance), Region(chance.randint(-9, 9), chance.randint(-9, 9), 301, 203)
    style = Style(
        0.8, Filter(mask=np.full((8, 8), 200, np.uint8)) if chance.random() < 0.3 else Filter(), is_smooth=False
    )
    halvings, quad = chance.randint(1, 3), quad_of(shown, placed)
    cells = Cells(halvings, region)
    with painter.pool.acquired(region) as whole, painter.pool.acquired(cells.target_region) as small:
        quads.draw(painter, shown, quad, whole, style)
        quads.draw(painter, shown, quad, small, replace(style, cells=cells))
        wanted = halved(painter, whole, halvings, has_rim=True)
        left, top = small.region.x - wanted.region.x, small.region.y - wanted.region.y
        rows, columns = slice(top, top + small.region.height), slice(left, left + small.region.width)
        assert read(wanted).max() > 0.1
        assert np.abs(read(small) - read(wanted)[rows, columns]).max() <= HALF_FLOAT
        painter.pool.give_back(wanted)
    painter.textures.release()
