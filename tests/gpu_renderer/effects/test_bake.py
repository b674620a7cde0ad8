"""The raster route: when, at which size, in which order (format/effects.md 2, 4 and 8.2)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.content.contents import Contents
from gpu_renderer.content.raster import Raster
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
    ParameterValue,
    ShapeSource,
    SolidPaint,
    Stroke,
    TextSource,
    TextStyle,
    Transform2D,
    VideoSource,
)
from tests.gpu_renderer.canvases import Pixels, baked_pixels, opaque
from tests.gpu_renderer.drawing import Picture, Pictures, at, drawn, snapshot
from tests.gpu_renderer.fonts import reference_fonts

SHAPE = ShapeSource("rect", 100, 80, ())
Coverage = npt.NDArray[np.uint8]


def layer(*effects: EffectSnapshot, **fields: object) -> LayerSnapshot:
    return replace(LayerSnapshot("l", "l", SHAPE, Transform2D(0, 0), effects=effects), **fields)  # type: ignore[arg-type]


def entry(effect: str, mask_id: str | None = None, **stored: ParameterValue) -> EffectSnapshot:
    return EffectSnapshot("fx", effect, tuple(stored.items()), mask_id=mask_id)


REST = entry("median", radius=0.0)
"""A raster effect at rest: it takes the layer to the raster route."""


def rectangle(rows: int = 40, columns: int = 60, margin: int = 12) -> Pixels:
    pixels = np.zeros((rows, columns, 4), np.uint8)
    pixels[margin:-margin, margin:-margin] = (48, 128, 255, 255)
    return pixels


def picture_of(painter: Painter, held: LayerSnapshot, photo: Pixels) -> Picture:
    contents = Contents(reference_fonts().for_job(), Pictures(photo=photo))
    return drawn(painter, snapshot(held), contents=contents)


def test_a_raster_effect_a_scope_or_a_faded_fill_bakes_the_layer() -> None:
    assert not needs_baking(layer(entry("blur"), entry("brightness")))
    assert needs_baking(layer(entry("blur"), entry("gaussian-blur")))
    assert needs_baking(layer(entry("blur", mask_id="scope")))
    assert needs_baking(layer(fill_opacity=0.5))


def test_fill_opacity_bakes_shapes_alone_and_adjustment_layers_never_bake() -> None:
    text = TextSource("a", "a", TextStyle(), TextStyle())
    assert not needs_baking(layer(source=text, fill_opacity=0.5))
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
    assert baked.target.size == (150, 75)
    painter.pool.give_back(baked.target)


@pytest.mark.gl
def test_a_reduced_picture_lies_between_itself_and_means_rounded_down_of_three_pixels_along_an_odd_side(
    painter: Painter,
) -> None:
    photo = opaque(10, 10, 10, rows=4, columns=5)
    photo[0, 0, 0], photo[:, 1, 1], photo[:, 4, 2] = 13, 90, 90
    canvas = Canvas.of(painter, Raster(photo, 5, 4), 0.4)
    reduced = canvas.pixels().copy()
    painter.pool.give_back(canvas.target)
    # 20 pixels become 4: level log2(20 / 4) / 2 - 0.5. The photo itself shows 70 and 30 there, its means show 50 and 30.
    between = math.log2(20 / 4) / 2 - 0.5
    green = round(70 * (1 - between) + 50 * between)
    assert reduced[..., :3].tolist() == [[[10, green, 10], [10, 10, 30]]] * 2


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
        128,
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
def test_css_filters_weigh_luma_as_browsers_do(painter: Painter) -> None:
    grey = run(painter, opaque(200, 100, 50), entry("grayscale"), entry("median", radius=0.0))[4, 4, 0]
    assert grey == round(0.213 * 200 + 0.715 * 100 + 0.072 * 50)


@pytest.mark.gl
@pytest.mark.parametrize("effect", ["grayscale", "sepia", "invert"])
def test_a_css_filter_takes_no_more_than_all(painter: Painter, effect: str) -> None:
    most, more = (run(painter, opaque(200, 100, 50), entry(effect, amount=amount), REST) for amount in (100.0, 150.0))
    assert np.array_equal(more, most)


@pytest.mark.gl
def test_an_invalid_css_filter_takes_the_whole_run_with_it(painter: Painter) -> None:
    half, invalid, between = entry("brightness", amount=50.0), entry("blur", amount=-1.0), entry("fill", opacity=0.0)
    assert run(painter, opaque(200, 100, 50), half, invalid, REST)[4, 4].tolist() == [200, 100, 50, 255]
    assert run(painter, opaque(200, 100, 50), half, between, invalid, REST)[4, 4].tolist() == [100, 50, 25, 255]


@pytest.mark.gl
def test_css_filters_have_no_guard(painter: Painter) -> None:
    half = np.full((8, 8, 4), (0, 0, 0, 128), np.uint8)
    glowing = run(painter, half, entry("glow", radius=0.0, color="#ffffff", intensity=100.0), REST)
    assert glowing[4, 4].tolist() == pytest.approx([64, 64, 64, 192], abs=1)


@pytest.mark.gl
def test_the_colour_of_a_css_shadow_is_held_within_full_opacity(painter: Painter) -> None:
    half = np.full((8, 8, 4), (0, 0, 0, 128), np.uint8)
    found = run(painter, half, entry("glow", radius=0.0, color="#ffffff", intensity=150.0), REST)
    assert found[4, 4, 3] == pytest.approx(192, abs=1)


@pytest.mark.gl
@pytest.mark.parametrize(
    "kernel",
    [
        entry("threshold", level=0.0),
        entry("tritone", shadows="#ffffff"),
        entry("cell-pattern", invert=True, size=500.0),
    ],
    ids=lambda kernel: kernel.type,
)
def test_a_kernel_skips_transparent_pixels(painter: Painter, kernel: EffectSnapshot) -> None:
    found = run(painter, rectangle(), kernel, entry("shift-channels", takeAlphaFrom=5.0))
    assert found[2, 2].tolist() == [0, 0, 0, 255]


@pytest.mark.gl
@pytest.mark.parametrize(
    "kernel",
    [
        entry("find-edges"),
        entry("emboss"),
        entry("color-emboss", contrast=400.0),
        entry("halftone"),
        entry("texturize", contrast=100.0),
        entry("threads", spacing=0.0),
        entry("spill-suppressor", keyColor="#ff0000"),
        entry("strobe-light", strobeOperation=1.0, strobeDuty=100.0),
        entry("light-wipe", completion=0.1, lightWidth=400.0),
    ],
    ids=lambda kernel: kernel.type,
)
def test_a_kernel_leaves_the_colour_of_a_keyed_pixel(painter: Painter, kernel: EffectSnapshot) -> None:
    steps = opaque(200, 100, 50)
    steps[:, 4:, :3] = (220, 110, 60)
    found = run(painter, steps, entry("alpha-levels", outWhite=0.0), kernel, entry("shift-channels", takeAlphaFrom=5.0))
    assert found.tolist() == steps.tolist()


@pytest.mark.gl
@pytest.mark.parametrize(
    "blur",
    [entry("bilateral-blur", radius=8.0, colorSigma=255.0), entry("smart-blur", radius=8.0, threshold=255.0, mode=2.0)],
    ids=lambda blur: blur.type,
)
def test_a_blur_at_a_reduced_size_does_not_darken_the_edge_of_a_shape(painter: Painter, blur: EffectSnapshot) -> None:
    white = np.zeros((200, 200, 4), np.uint8)
    white[40:-40, 40:-40] = 255
    found = run(painter, white, blur).astype(int)
    assert (found[..., 3] - found[..., 0]).max() <= 2


@pytest.mark.gl
def test_a_block_of_a_mosaic_keeps_its_colour_at_a_low_alpha(painter: Painter) -> None:
    dot = np.zeros((8, 16, 4), np.uint8)
    dot[2, 3] = (100, 100, 100, 255)
    blocks = entry("mosaic", horizontalBlocks=1.0, verticalBlocks=1.0)
    found = run(painter, dot, REST, blocks, entry("shift-channels", takeAlphaFrom=5.0))
    assert found[4, 4].tolist() == [100, 100, 100, 255]


def signed(number: float) -> int:
    return (int(number) + 2**31) % 2**32 - 2**31


def hash_b(a: int, b: int, k: float) -> float:
    """Hash HB of effects.md 6."""
    first = signed(a * 374761393.0 + b * 668265263.0 + k)
    second = signed(float(first ^ (first >> 13)) * 1274126177.0)
    return (second ^ (second >> 16)) / 4294967295


@pytest.mark.gl
def test_the_hash_of_scattered_rows_adds_the_evolution_last(painter: Painter) -> None:
    rows = opaque(0, 0, 0, 40, 8)
    rows[..., 0] = np.arange(40)[:, None]
    found = run(painter, rows, entry("scatter", amount=10.0, grain=2.0, seed=1.0, evolution=128.0))
    key = 1442695040888963328.0 + 2 * 2246822519.0 + 128 * 3266489917.0  # in another order the sum rounds otherwise
    for y in range(40):
        moved = [y + (2 * hash_b(x, y, key) - 1) * 10 for x in range(8)]
        assert found[y, :, 0].tolist() == [min(39, max(0, math.floor(place + 0.5))) for place in moved]


@pytest.mark.gl
def test_a_kernel_reads_a_colour_with_an_alpha_as_grey(painter: Painter) -> None:
    for shadows, shown in (("#ff0000", [255, 0, 0, 255]), ("#ff0000ff", [128, 128, 128, 255])):
        found = run(painter, opaque(0, 0, 0), entry("tritone", shadows=shadows), REST)
        assert found[4, 4].tolist() == shown


@pytest.mark.gl
def test_a_drawn_colour_keeps_its_alpha(painter: Painter) -> None:
    found = run(painter, opaque(0, 0, 0), entry("fill", color="#ff000080"), REST)
    assert found[4, 4].tolist() == [128, 0, 0, 255]


def mitchell(x: float) -> float:
    """The cubic with B = C = 1/3, as it is defined."""
    x = abs(x)
    if x < 1:
        return (7 * x**3 - 12 * x**2 + 16 / 3) / 6
    return (-7 / 3 * x**3 + 12 * x**2 - 20 * x + 32 / 3) / 6 if x < 2 else 0.0


@pytest.mark.gl
def test_corner_colours_are_enlarged_by_a_cubic_on_images(painter: Painter) -> None:
    left, right = {"colorTL": "#000000", "colorBL": "#000000"}, {"colorTR": "#ffffff", "colorBR": "#ffffff"}
    stack, places = (entry("four-color-gradient", **left, **right), REST), (np.arange(40) + 0.5) / 40
    on_shape = run(painter, opaque(0, 0, 0, 4, 40), *stack)[2, :, 0]
    on_image = run(painter, opaque(0, 0, 0, 4, 40), *stack, source=ImageSource("a", 40, 4))[2, :, 0]
    cubic = [255 * (mitchell(1 - f) + mitchell(2 - f)) for f in places]
    assert on_shape.tolist() == pytest.approx((255 * places).tolist(), abs=1)
    assert on_image.tolist() == pytest.approx(cubic, abs=1)


@pytest.mark.gl
def test_a_transformed_image_is_enlarged_by_a_cubic(painter: Painter) -> None:
    step = opaque(0, 0, 0, 4, 40)
    step[:, 20:, :3] = 255
    found = run(painter, step, entry("transform", scale=400.0), source=ImageSource("a", 40, 4))[2, :, 0]
    at = 20 + ((np.arange(40) + 0.5) - 20) / 4 - 0.5
    wanted = [255 * sum(mitchell(q - tap) for tap in range(20, 45)) for q in at]
    assert found.tolist() == pytest.approx(np.clip(wanted, 0, 255).tolist(), abs=1)
    flat = run(painter, step, entry("transform", scale=400.0))[2, :, 0]
    assert flat.tolist() == pytest.approx((255 * np.clip(at - 19, 0, 1)).tolist(), abs=1)


@pytest.mark.gl
def test_baked_noise_is_enlarged_by_a_cubic_on_images(painter: Painter) -> None:
    stack, whole = (entry("fractal-noise", scale=50.0), REST), opaque(0, 0, 0, 96, 768)
    on_shape = run(painter, whole, *stack)[..., 0].astype(int)
    on_image = run(painter, whole, *stack, source=ImageSource("a", 768, 96))[..., 0].astype(int)
    cells = on_shape[1::3, 1::3]  # the middle of each cell of 3 x 3 px
    padded = np.pad(cells, 1, mode="edge")
    rows = mitchell(1) * (padded[:-2] + padded[2:]) + mitchell(0) * padded[1:-1]
    wanted = mitchell(1) * (rows[:, :-2] + rows[:, 2:]) + mitchell(0) * rows[:, 1:-1]
    assert np.abs(on_image[1::3, 1::3] - wanted).max() <= 1


@pytest.mark.gl
def test_rays_are_composited_one_by_one(painter: Painter) -> None:
    stack = (entry("light-rays", color="#ffffff", opacity=60.0, falloff=0.0, rayLength=4000.0, composite=0.0), REST)
    brightest = int(run(painter, opaque(0, 0, 0, 64, 64), *stack)[..., 0].max())
    assert 255 * 0.6 + 10 < brightest <= 255 * (1 - 0.4 * 0.4) + 1


@pytest.mark.gl
def test_a_projected_shadow_is_softened_by_a_pixel_at_least(painter: Painter) -> None:
    def alpha(softness: float) -> Pixels:
        shadow = entry("radial-shadow", lightX=0.0, lightY=0.0, softness=softness, renderMode=1.0, shadowOpacity=100.0)
        return run(painter, rectangle(), shadow)[..., 3]

    assert set(np.unique(alpha(0.0))) == {0, 255}
    assert len(np.unique(alpha(0.3))) > 2


@pytest.mark.gl
def test_a_colour_table_by_channel_may_be_long(painter: Painter) -> None:
    inverse = tuple(1 - step / 1023 for step in range(1024) for _ in range(3))
    lut = (("size", 0.0), ("size1d", 1024.0), ("data", inverse))
    found = run(painter, opaque(200, 100, 50), entry("apply-color-lut", lut=lut), REST)
    assert found[4, 4].tolist() == [55, 155, 205, 255]


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
def test_absurd_numbers_bake_something_and_end(painter: Painter, effect: str, odd: float) -> None:
    kind = next(found for found in every_effect() if found.id == effect)
    stored = tuple((parameter.key, odd) for parameter in kind.parameters if parameter.kind.value == "N")
    assert run(painter, rectangle(), EffectSnapshot("fx", effect, stored), entry("median", radius=0.0)).shape == (
        40,
        60,
        4,
    )


def no_masks(*_arguments: object) -> Coverage:
    return np.zeros((1, 1), np.uint8)


def left_half(_paths: object, width: float, height: float, *_rest: object) -> Coverage:
    coverage = np.zeros((round(height), round(width)), np.uint8)
    coverage[:, : coverage.shape[1] // 2] = 255
    return coverage


def half_coverage(_paths: object, width: float, height: float, *_rest: object) -> Coverage:
    return np.full((round(height), round(width)), 128, np.uint8)


def run(
    painter: Painter, pixels: Pixels, *effects: EffectSnapshot, masking: object = no_masks, **fields: object
) -> Pixels:
    rows, columns = pixels.shape[:2]
    fields = {"source": ShapeSource("rect", columns, rows, ()), **fields}
    baked = bake(painter, Raster(pixels, columns, rows), layer(*effects, **fields), masking)  # type: ignore[arg-type]
    found = Canvas(painter, baked.target, 1.0).pixels().copy()
    painter.pool.give_back(baked.target)
    assert painter.pool.acquired_count == 0
    return found
