"""Images in buffers and canvases: rounding, cropping, filtering (compositing.md 1.4, 5.6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.content.contents import Contents
from gpu_renderer.content.vector.surface import Pixels
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot, ImageSource, LayerSnapshot, Transform2D
from tests.gpu_renderer.drawing import Picture, Pictures, at, drawn, renderer, snapshot
from tests.gpu_renderer.fonts import reference_fonts

pytestmark = pytest.mark.gl
BAKED = (EffectSnapshot("m", "median", (("radius", 0.0),)),)
BLACK, WHITE = (0, 0, 0), (255, 255, 255)


def halves(rows: int, columns: int) -> Pixels:
    """Return an image: black on the left, white on the right."""
    pixels = np.full((rows, columns, 4), 255, np.uint8)
    pixels[:, : columns // 2, :3] = 0
    return pixels


def shown(painter: Painter, layer: LayerSnapshot, pixels: Pixels) -> Picture:
    contents = Contents(reference_fonts(), Pictures(a=pixels))
    return drawn(painter, snapshot(layer, background="#ff0000"), contents=contents)


def picture_layer(source: ImageSource, **more: object) -> LayerSnapshot:
    return LayerSnapshot("p", "p", source, Transform2D(32, 24), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("effects", [(), BAKED])
def test_a_picture_is_rounded_before_its_effects(painter: Painter, effects: tuple[EffectSnapshot, ...]) -> None:
    layer = picture_layer(ImageSource("a", 40, 40, radii=(20.0,) * 4), effects=effects)
    picture = shown(painter, layer, np.full((40, 40, 4), 255, np.uint8))
    assert at(picture, 14, 6) == (255, 0, 0)
    assert at(picture, 32, 24) == WHITE


@pytest.mark.parametrize("effects", [(), BAKED])
def test_a_picture_that_covers_its_box_is_cropped(painter: Painter, effects: tuple[EffectSnapshot, ...]) -> None:
    pixels = np.full((20, 80, 4), 255, np.uint8)
    pixels[:, 30:50, :3] = 0
    layer = picture_layer(ImageSource("a", 40, 40, cover=True), effects=effects)
    picture = shown(painter, layer, pixels)
    assert [at(picture, x, 24) for x in (17, 32, 47)] == [BLACK] * 3


@pytest.mark.parametrize(
    ("effects", "is_sharp"), [((), False), (BAKED, False), ((EffectSnapshot("s", "stroke"),), True)]
)
def test_draft_quality_shows_only_through_a_buffer_of_the_layers_own(
    painter: Painter, effects: tuple[EffectSnapshot, ...], is_sharp: bool
) -> None:
    layer = picture_layer(ImageSource("a", 40, 40), effects=effects, draft_quality=True)
    picture = shown(painter, layer, halves(2, 4))
    assert ({at(picture, x, 24) for x in range(14, 50)} == {BLACK, WHITE}) is is_sharp


def test_effects_that_write_nothing_ask_for_no_font(painter: Painter) -> None:
    contents = Contents(reference_fonts().for_job(), Pictures(a=halves(4, 4)))
    drawn(painter, snapshot(picture_layer(ImageSource("a", 40, 40), effects=BAKED)), contents=contents)
    assert contents.warnings == ()


def test_a_moving_picture_goes_through_its_effects_once(painter: Painter) -> None:
    contents = Contents(reference_fonts(), Pictures(a=halves(4, 4)))
    drawing = renderer(painter, contents=contents)
    kept = []
    for x in (20.0, 32.0, 40.0):
        moved = replace(picture_layer(ImageSource("a", 40, 40), effects=BAKED), transform=Transform2D(x, 24))
        drawing.draw(snapshot(moved), 64, 48)
        kept.append(painter.pool.acquired_count)
    drawing.release()
    assert kept == kept[:1] * 3
