"""Features that meet on one layer: which one takes effect, and where they draw (compositing.md 2.9, effects.md
3.5)."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.opengl.painter import Painter
from motion.snapshot import CompositionSource, EffectSnapshot, Ghost, LayerSnapshot, ShapeSource, Transform2D
from tests.gpu_renderer.drawing import at, drawn, gradient, rect, snapshot

pytestmark = pytest.mark.gl
OFFSET = EffectSnapshot("offset", "offset", ())


@pytest.mark.parametrize("is_grouped", [False, True])
def test_an_effect_in_layer_coordinates_draws_in_the_strip_that_mirrors_its_layer(
    painter: Painter, is_grouped: bool
) -> None:
    """The layer covers rows 4 to 28, the strip rows 20 to 44. An offset of half the strip carries rows 20 to 28 to 32 to 40."""
    if is_grouped:
        inner = snapshot(rect("#ffffff", 12, 12, 24, 24), width=24, height=24, background=None)
        source = CompositionSource(inner, 24, 24, sealed=True)
        layer = LayerSnapshot("group", "group", source, Transform2D(32, 16), effects=(OFFSET,))
    else:
        layer = rect("#ffffff", 32, 16, 24, 24, effects=(OFFSET,))
    picture = drawn(painter, snapshot(layer, background="#000000"))
    assert [at(picture, 38, row)[0] for row in (12, 23, 36, 42)] == [255, 0, 255, 0]


def test_a_ghost_takes_the_route_of_a_layer_with_its_own_blend_mode(painter: Painter) -> None:
    """Backdrop blur drops an advanced blend mode, and preserved transparency the mode add, in a ghost as in a layer."""
    below = rect("#804020", 32, 24, 64, 48, id="below")

    def echoed(blend: str, **more: object) -> LayerSnapshot:
        moved = Ghost(Transform2D(20, 24), 1.0, blend)
        return rect("#406080", 44, 24, 16, 16, ghosts=(moved,), **more)  # type: ignore[arg-type]

    for blend, more in (("screen", {"backdrop_blur": 4.0}), ("add", {"preserve_transparency": True})):
        dropped, plain = (drawn(painter, snapshot(below, echoed(mode, **more))) for mode in (blend, "normal"))
        assert np.array_equal(dropped, plain)


@pytest.mark.parametrize(
    ("effect", "seen"),
    [
        (EffectSnapshot("e", "invert", ()), (255, 0, 0)),
        (EffectSnapshot("e", "fill", (("color", "#ffffff"),)), (0, 0, 0)),
    ],
    ids=["colour", "pass"],
)
def test_a_map_has_the_colour_effects_of_its_layer_but_none_of_its_passes(
    painter: Painter, effect: EffectSnapshot, seen: tuple[int, int, int]
) -> None:
    """A black layer is a luminance matte: only its inversion shows the other layer."""
    luma = EffectSnapshot("m", "set-matte", (("matteLayerId", "map"), ("useLuminance", True)))
    layers = [rect("#000000", 32, 24, 40, 40, id="map", effects=(effect,), opacity=0.0)]
    layers.append(rect("#ff0000", 32, 24, 64, 48, id="cut", effects=(luma,)))
    assert at(drawn(painter, snapshot(*layers, background="#000000")), 32, 24) == seen


def test_a_map_is_baked_as_its_layer_is(painter: Painter) -> None:
    matte = EffectSnapshot("m", "set-matte", (("matteLayerId", "map"),))
    empty = EffectSnapshot("e", "linear-wipe", (("completion", 50.0), ("wipeAngle", 0.0)))
    layers = [rect("#000000", 32, 24, 40, 40, id="map", effects=(empty,), opacity=0.0)]
    layers.append(rect("#ff0000", 32, 24, 64, 48, id="cut", effects=(matte,)))
    picture = drawn(painter, snapshot(*layers, background="#000000"))
    assert [at(picture, x, 24)[0] for x in (22, 42)] == [0, 255]


def test_the_straight_sides_of_a_turned_rounded_gradient_are_hard_in_a_buffer(painter: Painter) -> None:
    """Its texture is opaque up to the box there, and a buffer has one sample a pixel (compositing.md 9)."""
    source = ShapeSource("rect", 80, 28, (gradient("#000000", "#000000"),), radii=(8.0,) * 4)
    layer = LayerSnapshot("card", "card", source, Transform2D(32, 24, rotation=10), blend="multiply")
    middle = drawn(painter, snapshot(layer, background="#ffffff"))[:, 16:48, 0]
    assert set(np.unique(middle)) == {0, 255}
