"""Quads that are drawn only where their content is not transparent give the bytes of whole quads."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.backends.gl import quads
from gpu_renderer.content.raster import WHOLE, Raster, with_content_box
from gpu_renderer.display_list.paint import Image, quad_of
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import LayerSnapshot, PathPoint, Run, ShapeSource, Snapshot, SolidPaint, Transform2D
from tests.gpu_renderer.drawing import drawn, snapshot

pytestmark = pytest.mark.gl
SIZE = (400, 300)


def image(chance: random.Random) -> Image:
    """Return an image of random colours with a transparent margin of random width, or none."""
    rows, columns = chance.randint(2, 160), chance.randint(2, 240)
    texels = np.zeros((rows, columns, 4), np.uint8)
    top, left = chance.choice((0, rows // 5)), chance.choice((0, columns // 3))
    texels[top : rows - chance.randint(0, rows // 4), left : columns - chance.randint(0, columns // 4)] = 255
    texels[..., :3] *= np.random.default_rng(columns).integers(0, 2, texels[..., :3].shape, dtype=np.uint8)
    box = with_content_box(Raster(texels, columns, rows)).content_box
    return Image(texels, columns * chance.uniform(0.3, 2), rows * chance.uniform(0.3, 2), 3.0, content_box=box)


@pytest.mark.parametrize("seed", range(32))
@pytest.mark.parametrize("is_smooth", [True, False])
def test_an_image_drawn_where_it_is_not_transparent_gives_the_bytes_of_all_of_it(
    painter: Painter, seed: int, is_smooth: bool
) -> None:
    chance = random.Random(seed)
    turn = chance.choice((0, 90, chance.uniform(0, 360)))
    placed = matrix.placed(Transform2D(chance.uniform(0, 400), chance.uniform(0, 300), turn, chance.choice((1, -1, 2))))
    shown, found = image(chance), []
    for paint in (shown, replace(shown, content_box=WHOLE)):
        with painter.pool.acquired(Region(0, 0, *SIZE)) as into:
            quads.draw(painter, paint, quad_of(paint, placed), into, quads.Style(0.7, is_smooth=is_smooth))
            found.append(into.texture.read())
    painter.textures.release()
    assert found[0] == found[1]


def star(seed: int) -> LayerSnapshot:
    """Return a path in a box that it fills wholly or in part, rotated, stretched or flipped."""
    chance = random.Random(seed)
    width, height = chance.uniform(20, 300), chance.uniform(20, 200)
    left, right = sorted((chance.uniform(-0.5, 0.5), chance.choice((0.5, chance.uniform(-0.5, 0.5)))))
    top, bottom = sorted((chance.uniform(-0.5, 0.5), chance.choice((-0.5, chance.uniform(-0.5, 0.5)))))
    corners = ((left, top), (right, top * 0.5 + bottom * 0.5), (left * 0.2 + right * 0.8, bottom), (left, bottom))
    run = Run(tuple(PathPoint(*(x * width, y * height) * 3) for x, y in corners), closed=True)
    source = ShapeSource("path", width, height, (SolidPaint("#4080c0"),), runs=(run,))
    transform = Transform2D(
        chance.uniform(0, SIZE[0]), chance.uniform(0, SIZE[1]), chance.choice((0, 90, 17, chance.uniform(0, 360))),
        chance.choice((1, -1, 3, 0.3)), chance.choice((1, 1.5, 0.2)), skew=chance.choice((0, 0, 25)),
    )  # fmt: skip
    return LayerSnapshot("s", "s", source, transform, opacity=chance.choice((1.0, 0.6)))


def test_a_scale_that_turning_left_a_hair_too_large_takes_the_finer_raster(painter: Painter) -> None:
    """The reference compares doubles without a tolerance (layers.md 5.3)."""

    def turned(scale: float) -> Snapshot:
        layer = replace(star(3), transform=Transform2D(200, 150, 17, scale, scale))
        return snapshot(layer, width=SIZE[0], height=SIZE[1])

    assert not np.array_equal(drawn(painter, turned(1.0)), drawn(painter, turned(1.0000000000000002)))
