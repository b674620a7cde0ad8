"""Edges drawn apart from insides: the same bytes as in one pass, however a shape is turned, cut off or stretched."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.levers import Levers
from gpu_renderer.painter import Painter
from motion.snapshot import LayerSnapshot, ShapeSource, SolidPaint, Transform2D
from tests.gpu_renderer.drawing import gradient, paper, pixels, renderer, snapshot

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
