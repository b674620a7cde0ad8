"""The raster route: its conditions, size and order (effects.md 2, 4 and 8.2)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.content.contents import Contents
from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector.mask import MaskRaster
from gpu_renderer.content.vector.shape import padding as shape_padding
from gpu_renderer.effects import Route, bake, baking, every_effect, needs_baking
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    AdjustmentSource,
    EffectSnapshot,
    ImageSource,
    LayerSnapshot,
    MaskPath,
    ShapeSource,
    SolidPaint,
    Stroke,
    TextStyle,
    Transform2D,
    VideoSource,
)
from tests.gpu_renderer.canvases import Pixels, baked_pixels, opaque
from tests.gpu_renderer.drawing import Picture, Pictures, at, drawn, snapshot
from tests.gpu_renderer.effects.baking import REST, SHAPE, Coverage, entry, layer, no_masks, rectangle, run
from tests.gpu_renderer.fonts import reference_fonts, text


def picture_of(painter: Painter, held: LayerSnapshot, photo: Pixels) -> Picture:
    contents = Contents(reference_fonts().for_job(), Pictures(photo=photo))
    return drawn(painter, snapshot(held), contents=contents)


def test_a_raster_effect_a_scope_or_a_faded_fill_bakes_the_layer() -> None:
    assert not needs_baking(layer(entry("blur"), entry("brightness")))
    assert needs_baking(layer(entry("blur"), entry("gaussian-blur")))
    assert needs_baking(layer(entry("blur", mask_id="scope")))
    assert needs_baking(layer(fill_opacity=0.5))


def test_fill_opacity_bakes_shapes_and_texts_and_adjustment_layers_never_bake() -> None:
    assert needs_baking(layer(source=text("a"), fill_opacity=0.5))
    assert not needs_baking(layer(source=ImageSource("a", 20, 20), fill_opacity=0.5))
    assert not needs_baking(layer(entry("gaussian-blur"), source=AdjustmentSource()))


@pytest.mark.parametrize(
    ("output_scale", "layer_scale", "expected"),
    [(1.0, 1.0, 1.0), (0.4, 1.0, 1.0), (0.5, 0.2, 0.5), (1.0, 1.2, 2.0), (1.0, -2.5, 4.0), (1.0, 30.0, 4.0)],
)
def test_the_canvas_takes_the_next_step_of_the_ladder(output_scale: float, layer_scale: float, expected: float) -> None:
    requested = output_scale * max(1.0, abs(layer_scale))
    scale = baking(layer(), output_scale, 100, 80, requested=requested).scale
    assert scale == (expected if expected != 1.0 or output_scale > 0.5 else 0.5)


def test_padding_is_the_farthest_effect_and_a_pixel_up_to_a_limit() -> None:
    assert baking(layer(entry("linear-wipe")), 1, 100, 80).padding_px == 0
    assert baking(layer(entry("blur", amount=7.0), entry("satin")), 1, 100, 80).padding_px == 22
    assert baking(layer(entry("drop-shadow", distance=10.0, softness=5.0)), 1, 100, 80).padding_px == 26
    assert baking(layer(entry("glow", radius=1e9)), 1, 100, 80).padding_px == 257


def test_a_canvas_is_padded_by_a_pixel_more_than_its_effects_and_its_outline_reach() -> None:
    bleed = baking(layer(entry("blur", amount=7.0), entry("satin")), 1, 100, 80).bleed_px
    assert shape_padding(SHAPE, bleed) == 22
    outlined = replace(SHAPE, strokes=(Stroke(SolidPaint("#ffffff"), 30.0),))
    assert shape_padding(outlined, bleed) == 31


def test_continuous_rasters_climb_higher_on_the_ladder() -> None:
    assert baking(layer(), 1.0, 100, 80, requested=6.0).scale == 4
    assert baking(replace(layer(), continuous_raster=True), 1.0, 100, 80, requested=6.0).scale == 8


@pytest.mark.gl
def test_a_picture_is_stretched_over_the_padding_of_its_effects(painter: Painter) -> None:
    photo, source = opaque(200, 0, 0, rows=20, columns=20), ImageSource("photo", 20, 20)
    still = LayerSnapshot("l", "l", source, Transform2D(32, 24), effects=(entry("median", radius=0.0),))
    outlined = replace(still, effects=(*still.effects, entry("stroke", width=4.0, opacity=0.0)))
    plain, stretched = (picture_of(painter, held, photo) for held in (still, outlined))
    assert (plain[24, :, 0] > 100).sum() == 20
    assert (stretched[24, :, 0] > 100).sum() == 30


@pytest.mark.gl
def test_a_picture_that_covers_its_box_is_cropped_after_its_effects_too(painter: Painter) -> None:
    photo = opaque(200, 0, 0, rows=20, columns=60)
    photo[:, 20:40] = (0, 200, 0, 255)
    source = ImageSource("photo", 20, 20, cover=True)
    held = LayerSnapshot("l", "l", source, Transform2D(32, 24), effects=(entry("median", radius=0.0),))
    assert at(picture_of(painter, held, photo), 24, 24) == (0, 200, 0)


@pytest.mark.gl
def test_a_picture_keeps_its_round_corners_under_raster_effects(painter: Painter) -> None:
    source = ImageSource("photo", 20, 20, radii=(8, 8, 8, 8))
    held = LayerSnapshot("l", "l", source, Transform2D(32, 24), effects=(entry("median", radius=0.0),))
    picture = picture_of(painter, held, opaque(200, 0, 0, rows=20, columns=20))
    assert at(picture, 22, 14) == at(picture, 2, 2)
    assert at(picture, 32, 14)[0] > 150


def test_the_longest_side_of_a_canvas_is_bounded() -> None:
    plan = baking(layer(transform=Transform2D(0, 0, scale_x=4)), 1, 3000, 100)
    assert plan.scale * 3000 <= 4096


def test_a_picture_keeps_what_the_output_shows_and_video_all_it_has() -> None:
    picture = layer(source=ImageSource("a", 510, 340))
    assert [baking(picture, scale, 510, 340).scale for scale in (0.2, 0.375, 1.0, 5.0)] == [0.375, 0.75, 1.5, 6.0]
    assert baking(layer(source=VideoSource("a", 510, 340, 0)), 1, 510, 340).scale == math.inf


@pytest.mark.gl
def test_a_picture_is_reduced_before_its_effects(painter: Painter) -> None:
    source = layer(entry("median"), source=ImageSource("a", 100, 50))
    baked = bake(painter, Raster(opaque(9, 8, 7, rows=200, columns=400), 100, 50), source, no_masks, scale_max=1.5)
    assert baked.size == (150, 75)
    painter.pool.give_back(baked)


@pytest.mark.gl
def test_a_reduced_picture_lies_between_itself_and_means_rounded_down_of_three_pixels_along_an_odd_side(
    painter: Painter,
) -> None:
    photo = opaque(10, 10, 10, rows=4, columns=5)
    photo[0, 0, 0], photo[:, 1, 1], photo[:, 4, 2] = 13, 90, 90
    canvas = Canvas.of(painter, Raster(photo, 5, 4), 0.4)
    reduced = canvas.pixels().copy()
    painter.pool.give_back(canvas.target)
    # 20 pixels become 4: level log2(20 / 4) / 2 - 0.5. There the photo itself has 70 and 30, and its means have 50 and
    # 30.
    between = math.log2(20 / 4) / 2 - 0.5
    green = round(70 * (1 - between) + 50 * between)
    assert reduced[..., :3].tolist() == [[[10, green, 10], [10, 10, 30]]] * 2


@pytest.mark.gl
@pytest.mark.parametrize(("left", "expected"), [(4, 4), (5, 6), (8, 8), (9, 10), (44, 44), (49, 50), (254, 254)])
def test_the_roundings_of_single_precision_decide_halves_of_a_reduced_picture(
    painter: Painter, left: int, expected: int
) -> None:
    photo = opaque(0, 0, 0, rows=1, columns=4)
    photo[:, 1, :3], photo[:, 2, :3] = left, left + 1
    canvas = Canvas.of(painter, Raster(photo, 4, 1), 0.75)
    middle = canvas.pixels()[0, 1].copy()
    painter.pool.give_back(canvas.target)
    assert middle.tolist() == [expected, expected, expected, 255]


@pytest.mark.gl
def test_the_cells_of_brush_strokes_are_whole_pixels(painter: Painter) -> None:
    photo = np.random.default_rng(5).integers(0, 256, (40, 60, 4), np.uint8)
    photo[..., 3] = 255
    found = [
        run(painter, photo, entry("brush-strokes", randomness=100.0, cellSize=size)) for size in (11.0, 10.6, 10.4)
    ]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[1], found[2])


@pytest.mark.gl
def test_effects_run_strictly_in_list_order_on_bytes(painter: Painter) -> None:
    half, double = entry("brightness", amount=50.0), entry("brightness", amount=200.0)
    assert run(painter, opaque(200, 100, 50), double, half, entry("median", radius=0.0))[4, 4].tolist() == [
        127,
        100,
        50,
        255,
    ]
    assert run(painter, opaque(200, 100, 50), half, double, entry("median", radius=0.0))[4, 4].tolist() == [
        200,
        100,
        50,
        255,
    ]


@pytest.mark.gl
def test_a_scoped_effect_leaves_what_lies_outside_its_mask(painter: Painter) -> None:
    path = MaskPath("scope", "none", ())
    stack = (entry("invert", mask_id="scope"),)
    found = run(painter, opaque(200, 100, 50), *stack, masks=(path,), masking=left_half)
    assert found[4, 1].tolist() == [55, 155, 205, 255]
    assert found[4, 6].tolist() == [200, 100, 50, 255]


@pytest.mark.gl
def test_a_partly_covered_pixel_of_a_scope_loses_alpha_as_in_the_reference(painter: Painter) -> None:
    path = MaskPath("scope", "none", ())
    half = run(painter, opaque(255, 255, 255), entry("invert", mask_id="scope"), masks=(path,), masking=half_coverage)
    assert half[4, 4, 3] == pytest.approx(191, abs=1)


@pytest.mark.gl
def test_a_scope_that_names_no_path_applies_everywhere(painter: Painter) -> None:
    assert run(painter, opaque(255, 0, 0), entry("invert", mask_id="gone"))[4, 4].tolist() == [0, 255, 255, 255]


@pytest.mark.gl
def test_the_mask_comes_before_the_effects(painter: Painter) -> None:
    found = run(
        painter, opaque(0, 0, 0), entry("stroke", width=1.0), masks=(MaskPath("m", "add", ()),), masking=left_half
    )
    assert found[4, 5, 3] == 0
    assert found[4, 4, :3].tolist() == [255, 255, 255]


@pytest.mark.gl
def test_fill_opacity_fades_the_pixels_and_not_the_styles(painter: Painter) -> None:
    stack = (entry("stroke", width=2.0), entry("inner-shadow", softness=0.0, distance=0.0))
    found = run(painter, rectangle(), *stack, fill_opacity=0.0)
    assert found[20, 30, 3] == 0
    assert found[11, 30].tolist() == [255, 255, 255, 255]


@pytest.mark.gl
def test_fill_opacity_fades_texts_as_it_fades_shapes(painter: Painter) -> None:
    """The reference leaves texts as they are and drops their effects: "do not replicate, apply it like shapes" (compositing.md 4)."""
    letter = text("I", TextStyle(family="Arial", size=100, weight=700, fill="#ff0000"))
    held = layer(entry("stroke", width=4.0, color="#0000ff"), source=letter, fill_opacity=0.25)
    scene = snapshot(replace(held, transform=Transform2D(32, 24)), background="#000000")
    found = drawn(painter, scene, contents=Contents(reference_fonts(), Pictures()))
    assert found[24, 32, :3].tolist() == [137, 0, 0]
    assert [0, 0, 255] in found[24, :, :3].tolist()


@pytest.mark.gl
def test_an_inner_shadow_darkens_along_the_edge_it_is_cast_from(painter: Painter) -> None:
    found = baked_pixels(painter, rectangle(), "inner-shadow", distance=4.0, angle=90.0, softness=0.0, opacity=100.0)
    assert found[12:16, 30, 2].tolist() == [0, 0, 0, 0]
    assert found[16, 30].tolist() == [48, 128, 255, 255]
    assert found[27, 30].tolist() == [48, 128, 255, 255]


@pytest.mark.gl
def test_an_inner_glow_adds_light_from_all_sides(painter: Painter) -> None:
    found = baked_pixels(painter, rectangle(), "inner-glow", size=4.0, color="#ffffff", opacity=100.0).astype(int)
    assert found[12, 30, 0] > found[15, 30, 0] > found[20, 30, 0]
    assert found[12, 30, 0] == pytest.approx(found[27, 30, 0], abs=1)


@pytest.mark.gl
def test_satin_is_symmetric_about_the_middle(painter: Painter) -> None:
    found = baked_pixels(painter, rectangle(), "satin", distance=6.0, size=3.0, opacity=100.0).astype(int)
    assert np.abs(found - found[::-1, ::-1]).max() <= 1
    assert found[20, 30, 2] > found[13, 13, 2]


@pytest.mark.gl
def test_satin_of_a_picture_is_displaced_by_whole_pixels_and_that_of_a_plain_shape_is_not(painter: Painter) -> None:
    def band(source: ShapeSource | ImageSource, distance: float) -> Pixels:
        satin = entry("satin", distance=distance, angle=0.0, size=4.0, opacity=100.0)
        return run(painter, rectangle(), satin, source=source)

    picture, plain = ImageSource("a", 60, 40), ShapeSource("rect", 60, 40, (SolidPaint("#808080"),))
    assert np.array_equal(band(picture, 6.4), band(picture, 6.0))
    assert np.array_equal(band(picture, 6.6), band(picture, 7.0))
    assert not np.array_equal(band(plain, 6.4), band(plain, 6.0))


@pytest.mark.gl
def test_a_bevel_lights_the_side_towards_its_light_and_shades_the_other(painter: Painter) -> None:
    grey = rectangle()
    grey[12:-12, 12:-12, :3] = 100
    up = baked_pixels(painter, grey, "bevel", size=4.0, angle=90.0)[..., 0].astype(int)
    down = baked_pixels(painter, grey, "bevel", size=4.0, angle=90.0, direction="down")[..., 0].astype(int)
    assert (up[26, 30] - 100) * (up[13, 30] - 100) < 0
    assert (down[26, 30] - 100) * (up[26, 30] - 100) < 0


@pytest.mark.gl
@pytest.mark.parametrize("radius", [1, 3, 5])
def test_a_gaussian_blur_is_three_box_passes(painter: Painter, radius: int) -> None:
    source = rectangle().astype(np.float64)
    expected = source
    for _ in range(3):
        for axis in (1, 0):
            padded = np.pad(expected, [(radius, radius) if a == axis else (0, 0) for a in range(3)], mode="edge")
            windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * radius + 1, axis=axis)
            expected = np.rint(windows.mean(axis=-1))
    found = baked_pixels(painter, rectangle(), "gaussian-blur", blurriness=radius * math.sqrt(3) + 0.01)
    assert np.abs(found - expected).max() <= 1


@pytest.mark.gl
def test_a_blur_along_one_axis_leaves_the_other(painter: Painter) -> None:
    found = baked_pixels(painter, rectangle(), "gaussian-blur", blurriness=6.0, dimensions=1.0)
    assert found[11].max() == 0
    assert 0 < found[20, 11, 3] < 255


@pytest.mark.gl
def test_a_browsers_blur_is_a_gaussian_transparent_outside(painter: Painter) -> None:
    pixels = opaque(255, 255, 255, rows=41, columns=41)
    found = run(painter, pixels, entry("blur", amount=4.0), entry("median", radius=0.0))
    assert found[20, 0, 3] == pytest.approx(255 * 0.55, abs=3)


BAKED = [effect.id for effect in every_effect() if effect.route in (Route.RASTER, Route.GPU)]


@pytest.mark.gl
@pytest.mark.parametrize("effect", BAKED)
@pytest.mark.parametrize("odd", [1e9, -1e9])
@pytest.mark.parametrize("is_software", [True, False])
def test_absurd_numbers_bake_something_and_end(
    painter: Painter, monkeypatch: pytest.MonkeyPatch, effect: str, odd: float, is_software: bool
) -> None:
    monkeypatch.setattr(painter, "is_software", is_software)
    kind = next(found for found in every_effect() if found.id == effect)
    stored = tuple((parameter.key, odd) for parameter in kind.parameters if parameter.kind.value == "N")
    assert run(painter, rectangle(), EffectSnapshot("fx", effect, stored), entry("median", radius=0.0)).shape == (
        40,
        60,
        4,
    )


@pytest.mark.gl
@pytest.mark.parametrize("effect", BAKED)
def test_a_layer_without_a_visible_pixel_takes_every_effect(painter: Painter, effect: str) -> None:
    empty = np.zeros((12, 9, 4), np.uint8)
    assert run(painter, empty, entry(effect), REST).shape == empty.shape


def left_half(_paths: object, raster: MaskRaster) -> Coverage:
    coverage = np.zeros((round(raster.height), round(raster.width)), np.uint8)
    coverage[:, : coverage.shape[1] // 2] = 255
    return coverage


def half_coverage(_paths: object, raster: MaskRaster) -> Coverage:
    return np.full((round(raster.height), round(raster.width)), 128, np.uint8)
