"""Edges drawn apart from insides: the same bytes as in one pass, however a shape is turned, cut off or stretched."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.backends.gl import quads
from gpu_renderer.content.raster import WHOLE, Raster, with_ink
from gpu_renderer.display_list.paint import Picture, quad_of
from gpu_renderer.geometry import placement
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.optimisation import Levers
from motion.snapshot import LayerSnapshot, PathPoint, Run, ShapeSource, Snapshot, SolidPaint, Transform2D
from tests.gpu_renderer.drawing import drawn, gradient, paper, pixels, renderer, snapshot

pytestmark = pytest.mark.gl
SIZE = (400, 300)


def shape(seed: int) -> LayerSnapshot:
    """A rectangle, a rounded one, an ellipse or a picture anywhere, turned, skewed, stretched, flipped, more or less opaque."""
    chance = random.Random(seed)
    kind = ("rect", "rect", "ellipse", "rect")[seed % 4]
    radius = chance.uniform(0, 90) if seed % 4 == 1 else 0.0
    paint = gradient("#ff8000", "#0080ff") if seed % 4 == 3 else SolidPaint("#4080c0" if seed % 3 else "#4080c080")
    source = ShapeSource(
        kind,  # type: ignore[arg-type]
        chance.uniform(60, 500),
        chance.uniform(60, 300),
        (paint,),
        radii=(radius,) * 4,
    )
    transform = Transform2D(
        chance.uniform(0, SIZE[0]), chance.uniform(0, SIZE[1]), chance.choice((0, 90, 17, 45, chance.uniform(0, 360))),
        chance.choice((1, -1, 3, 0.4)), chance.choice((1, 1.5, 6)), skew=chance.choice((0, 0, 0, 25)),
    )  # fmt: skip
    return LayerSnapshot(
        "s", "s", source, transform, opacity=chance.choice((1.0, 1.0, 0.6)), blend=chance.choice(("normal", "add"))
    )


@pytest.mark.parametrize("seed", range(48))
def test_an_edge_drawn_apart_gives_the_bytes_of_one_pass(painter: Painter, seed: int) -> None:
    scene = snapshot(paper(gradient("#102030", "#f0e0d0", angle=50), *SIZE), shape(seed), width=SIZE[0], height=SIZE[1])
    whole, apart = renderer(painter, replace(Levers(), split_edges=False)), renderer(painter)
    expected = pixels(whole.draw(scene, *SIZE)).copy()
    assert np.array_equal(pixels(apart.draw(scene, *SIZE)), expected)
    whole.release()
    apart.release()


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("background", ["#405060", None])
def test_an_edge_blended_apart_gives_the_bytes_of_one_pass(painter: Painter, seed: int, background: str | None) -> None:
    chance = random.Random(seed)
    turn, mode = chance.choice((0, 0, 0, 180, 90, 17)), chance.choice(("screen", "multiply", "overlay", "color"))
    placed = Transform2D(chance.uniform(0, SIZE[0]), chance.uniform(0, SIZE[1]), turn, chance.choice((1, -1, 0.4)))
    layers = [replace(shape(seed), blend=mode, transform=placed), replace(shape(seed + 1), blend="screen")]
    if background is None:
        layers.insert(0, replace(shape(seed + 2), blend="normal", opacity=0.8))
    scene = snapshot(*layers, width=SIZE[0], height=SIZE[1], background=background)
    whole, apart = renderer(painter, replace(Levers(), split_edges=False)), renderer(painter)
    expected = pixels(whole.draw(scene, *SIZE)).copy()
    assert np.array_equal(pixels(apart.draw(scene, *SIZE)), expected)
    whole.release()
    apart.release()


@contextmanager
def inked_picture(painter: Painter, chance: random.Random) -> Iterator[Picture]:
    """A picture of random colours within a transparent margin of random widths, perhaps none."""
    rows, columns = chance.randint(2, 160), chance.randint(2, 240)
    texels = np.zeros((rows, columns, 4), np.uint8)
    top, left = chance.choice((0, rows // 5)), chance.choice((0, columns // 3))
    texels[top : rows - chance.randint(0, rows // 4), left : columns - chance.randint(0, columns // 4)] = 255
    texels[..., :3] *= np.random.default_rng(columns).integers(0, 2, texels[..., :3].shape, dtype=np.uint8)
    texture = painter.context.texture((columns, rows), 4, texels.tobytes())
    texture.repeat_x = texture.repeat_y = False
    inked = with_ink(Raster(texels, columns, rows)).inked
    yield Picture(texture, columns * chance.uniform(0.3, 2), rows * chance.uniform(0.3, 2), 3.0, inked=inked)
    texture.release()


@pytest.mark.parametrize("seed", range(32))
@pytest.mark.parametrize("is_smooth", [True, False])
def test_a_picture_drawn_where_it_is_inked_gives_the_bytes_of_all_of_it(
    painter: Painter, seed: int, is_smooth: bool
) -> None:
    chance = random.Random(seed)
    turn = chance.choice((0, 90, chance.uniform(0, 360)))
    placed = placement.flat(
        Transform2D(chance.uniform(0, 400), chance.uniform(0, 300), turn, chance.choice((1, -1, 2)))
    )
    with inked_picture(painter, chance) as picture:
        found = []
        for ink in (picture, replace(picture, inked=WHOLE)):
            with painter.pool.lent(Region(0, 0, *SIZE)) as into:
                quad = quad_of(ink, placed)
                quads.draw(painter, ink, quad, into, opacity=0.7, is_smooth=is_smooth, split_edges=True)
                found.append(into.texture.read())
    assert found[0] == found[1]


def star(seed: int) -> LayerSnapshot:
    """A path somewhere in a box that it fills, or fills in part, turned, stretched and flipped."""
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


def test_a_scale_that_turning_left_a_hair_too_large_takes_no_finer_raster(painter: Painter) -> None:
    def turned(scale: float) -> Snapshot:
        layer = replace(star(3), transform=Transform2D(200, 150, 17, scale, scale))
        return snapshot(layer, width=SIZE[0], height=SIZE[1])

    assert np.array_equal(drawn(painter, turned(1.0)), drawn(painter, turned(1.0000000000000002)))
