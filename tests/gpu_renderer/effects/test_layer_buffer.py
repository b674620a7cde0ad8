"""Glows behind a layer's content."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.effects import layer_buffer
from gpu_renderer.effects.layer_buffer import Compositing, LayerBuffer
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.opengl.painter import Painter

pytestmark = pytest.mark.gl
FRAME = Region(0, 0, 640, 400)
SMALL_PARTS = tuple(Region(x, y, 64, 100) for x in range(0, 640, 64) for y in range(0, 400, 100))
"""The frame in parts that are each too small to check for the ends of the glow."""


def over_colour(painter: Painter, layer: LayerBuffer, draws: list[Rects]) -> npt.NDArray[np.float16]:
    """Return the texels of a target after drawing a layer over it, in a number of draws."""
    with painter.pool.acquired(FRAME) as into:
        painter.erase(into, FRAME, (0.1, 0.3, 0.2, 1.0))
        for rects in draws:
            layer_buffer.draw(painter, into, layer, rects, "over", Compositing(0.7))
        return np.frombuffer(into.texture.read(), np.float16)


@pytest.mark.parametrize(
    "spots",
    [
        (Region(300, 160, 40, 60),),
        (Region(0, 0, 30, 20), Region(620, 380, 20, 20)),
        (Region(-90, 100, 100, 10),),
        (Region(0, 0, 640, 400),),
        (),
    ],
    ids=["in the middle", "in two corners", "past the edge", "everywhere", "nowhere"],
)
def test_a_glow_drawn_within_its_bounds_is_the_same_as_drawn_everywhere(
    painter: Painter, spots: tuple[Region, ...]
) -> None:
    source = painter.pool.take(FRAME)
    for point in spots:
        painter.erase(source, point.intersection(FRAME), (0.9, 0.5, 0.1, 1.0))
    layer = layer_buffer.softened(painter, source, 40.0, FRAME, exact=False)
    bounded = over_colour(painter, layer, [(FRAME,)])
    everywhere = over_colour(painter, layer, [(part,) for part in SMALL_PARTS])
    assert np.array_equal(bounded, everywhere)
    painter.pool.give_back(*layer.targets)
