"""The GPU route compared with its formulas in numpy (effects.md 3 and 8)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpu_renderer import effects
from gpu_renderer.display_list.layer_contents import has_passes
from gpu_renderer.effects import Box, EffectScene, EffectStack, buffer_chain, chain, every_effect
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot
from tests.gpu_renderer.effects.baking import layer
from tests.gpu_renderer.effects.chains import Buffer, buffer_of, chained, entry, picture, scene_of, target_of

pytestmark = pytest.mark.gl
CLOSE = 2e-3
"""Tolerance for half floats and their sums."""


def linear(srgb: Buffer | float) -> Buffer:
    c = np.asarray(srgb, np.float64)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lit(
    painter: Painter, source: Buffer, held: Region, stack: tuple[EffectSnapshot, ...], scene: EffectScene
) -> Buffer:
    """Return the frame after `buffer_chain`, from a buffer with a region of the source."""
    part = source[held.y : held.bottom, held.x : held.right].copy()
    layer = buffer_chain(painter, target_of(painter, part, held.x, held.y), EffectStack.unbaked(stack), scene)
    whole = painter.pool.take(scene.frame, "f4")
    effects.layer_buffer.draw(painter, whole, layer, (scene.frame,), "over")
    found = np.frombuffer(whole.texture.read(), np.float32).reshape(*source.shape)
    painter.pool.give_back(whole, *layer.targets)
    return found.astype(np.float64)


def encoded(c: Buffer) -> Buffer:
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * np.maximum(c, 0) ** (1 / 2.4) - 0.055)


def blurred(buffer: Buffer, sigma: float) -> Buffer:
    """Blur with 61 taps per axis, bilinear, clamped at the frame's edge."""
    spacing = max(1.0, 2.5 * sigma / 30)
    offsets = np.arange(-30, 31) * spacing
    weights = np.exp(-0.5 * (offsets / sigma) ** 2)
    weights /= weights.sum()
    for axis in (1, 0):
        size = buffer.shape[axis]
        total = np.zeros_like(buffer)
        for offset, weight in zip(offsets, weights, strict=True):
            at = np.arange(size) + offset
            low = np.floor(at).astype(int)
            part = (at - low).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
            first = buffer.take(np.clip(low, 0, size - 1), axis=axis)
            second = buffer.take(np.clip(low + 1, 0, size - 1), axis=axis)
            total += weight * (first * (1 - part) + second * part)
        buffer = total
    return buffer


@pytest.mark.parametrize("sigma", [1.0, 6.0, 20.0, 150.0])
def test_a_blur_is_the_references_gaussian(painter: Painter, sigma: float) -> None:
    found = chained(painter, picture(), entry("blur", amount=sigma))
    assert np.abs(found - blurred(picture(), sigma)).max() < CLOSE


@pytest.mark.parametrize("sigma", [4.5, 6.0, 12.0, 14.2, 15.0, 19.0, 24.0, 40.0])
def test_a_wide_blur_at_a_smaller_size_stays_within_three_code_values(painter: Painter, sigma: float) -> None:
    buffer = np.zeros((320, 320, 4))
    buffer[100:221, 90:231] = 1
    exact, quick = (
        chained(painter, buffer, entry("blur", amount=sigma), scene=scene_of(buffer, exact_blur=exact))
        for exact in (True, False)
    )
    difference = np.abs(encoded(exact[..., :3]) - encoded(quick[..., :3])) * 255
    assert difference.max() < 3.5
    assert difference.mean() < 1


def test_a_shadow_lies_displaced_under_the_layer_in_its_own_colour(painter: Painter) -> None:
    source = picture()
    shadow = entry("drop-shadow", distance=5.0, angle=90.0, softness=2.0, color="#ff8000", opacity=50.0)
    alpha = np.roll(blurred(source, 2)[..., 3:], 5, axis=0) * 0.5
    silhouette = np.concatenate([linear(np.array([1, 128 / 255, 0])) * alpha, alpha], axis=2)
    expected = source + silhouette * (1 - source[..., 3:])
    difference = np.abs(chained(painter, source, shadow) - expected)
    # Tails under 1/255 vanish.
    assert difference.max() < 1 / 255


def test_a_glow_screens_two_lobes_and_keeps_the_layer_on_top(painter: Painter) -> None:
    source = picture(80, 90, 30)
    radius, intensity = 6.0, 0.9
    middle, wide = blurred(source, 1.15 * radius)[..., 3:], blurred(source, 2.2 * 1.15 * radius)[..., 3:]
    color = np.append(linear(np.array([0x78, 0xB4, 0xFF]) / 255), 1)
    light = color * wide * 0.4 * intensity
    lobe = color * middle * intensity
    light = lobe + light * (1 - lobe)
    expected = source + light * (1 - source[..., 3:])
    found = chained(painter, source, entry("glow", radius=radius))
    assert np.abs(found - expected).max() < 1.5 / 255


@pytest.mark.parametrize("exact", [True, False])
def test_a_glow_under_a_shadow_reaches_the_frames_edge(painter: Painter, exact: bool) -> None:
    """effects.md 8.2, `glow`: a Gaussian of the whole chain. The displaced shadow ends before the edge; the picture does not."""
    source = np.zeros((160, 160, 4))
    source[120:, 50:110] = (0.2, 0.1, 0, 1)
    shadow = entry("drop-shadow", distance=12.0, angle=-90.0, softness=8.0, color="#000000", opacity=50.0)
    glow = entry("glow", radius=14.0, color="#ff8000", intensity=100.0)
    alpha = np.zeros((160, 160, 1))
    alpha[:-12] = blurred(source, 8.0)[12:, :, 3:] * 0.5
    shaded = source + np.concatenate([np.zeros((160, 160, 3)), alpha], axis=2) * (1 - source[..., 3:])
    color = np.append(linear(np.array([1, 128 / 255, 0])), 1.0)
    wide, near = (blurred(shaded, 1.15 * 14.0 * factor)[..., 3:] * color for factor in (2.2, 1.0))
    light = near + 0.4 * wide * (1 - near)
    difference = np.abs(
        chained(painter, source, shadow, glow, scene=scene_of(source, exact_blur=exact))
        - (shaded + light * (1 - shaded[..., 3:]))
    )
    assert difference.max() < 3 / 255


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("last", ["drop-shadow", "glow", "blur"])
def test_a_shadow_that_ends_inside_the_frame_ends_there_for_the_next_effect(
    painter: Painter, last: str, exact: bool
) -> None:
    """effects.md 8.2, `drop-shadow`: the blurred frame is "drawn displaced", so nothing of it lies beyond its moved edge."""
    source = np.zeros((160, 160, 4))
    source[40:70, 50:110] = (0.2, 0.1, 0, 1)
    first = entry("drop-shadow", distance=24.0, angle=90.0, softness=20.0, color="#000000", opacity=100.0)
    alpha = np.zeros((160, 160, 1))
    alpha[24:] = blurred(source, 20.0)[:-24, :, 3:]
    shaded = source + np.concatenate([np.zeros((160, 160, 3)), alpha], axis=2) * (1 - source[..., 3:])
    color = np.append(linear(np.array([1, 128 / 255, 0])), 1.0)
    if last == "blur":
        second, expected = entry("blur", amount=9.0), blurred(shaded, 9.0)
    else:
        second = entry("drop-shadow", distance=0.0, softness=9.0, color="#ff8000", opacity=100.0)
        light = color * blurred(shaded, 9.0)[..., 3:]
        if last == "glow":
            second, radius = entry("glow", radius=9.0, color="#ff8000", intensity=100.0), 1.15 * 9.0
            wide, near = (blurred(shaded, radius * factor)[..., 3:] * color for factor in (2.2, 1.0))
            light = near + 0.4 * wide * (1 - near)
        expected = shaded + light * (1 - shaded[..., 3:])
    scene = scene_of(source, exact_blur=exact)
    found = lit(painter, source, Region(50, 40, 60, 30).grown(12), (first, second), scene)
    assert np.abs(found - expected).max() < 3 / 255


@pytest.mark.parametrize("stack", [("glow", "drop-shadow"), ("drop-shadow", "glow"), ("blur", "glow")])
def test_light_worked_out_at_a_smaller_size_is_that_of_the_frames_own(painter: Painter, stack: tuple[str, ...]) -> None:
    stored = {"glow": {"radius": 14.0}, "drop-shadow": {"softness": 24.0, "distance": 30.0}, "blur": {"amount": 9.0}}
    source = np.zeros((320, 420, 4))  # no shadow comes from beyond its edge, where light in large cells is cut off
    source[120:200, 140:280] = (0.2, 0.1, 0, 1)
    source[140:170, 180:220] = 0
    effects = [entry(name, **stored[name]) for name in stack]
    exact, quick = (
        chained(painter, source, *effects, scene=scene_of(source, exact_blur=exact)) for exact in (True, False)
    )
    assert np.abs(exact - quick).max() < 2.5 / 255


def test_a_stroke_takes_the_largest_alpha_within_a_disc_and_squares_its_opacity(painter: Painter) -> None:
    source = picture()
    found = chained(painter, source, entry("stroke", width=3.0, color="#ffffff", opacity=50.0))
    assert found[9, 30, 3] == pytest.approx(0.25, abs=CLOSE)
    assert found[8, 30, 3] == 0
    assert found[9, 11, 3] == 0, "the corner is round"
    assert np.abs(found[15:25, 15:45] - source[15:25, 15:45]).max() < CLOSE


def largest_in_disc(alpha: Buffer, width: float) -> Buffer:
    """Return the largest alpha within a disc, for each pixel. The buffer's edge repeats."""
    margin = int(min(max(width, 1), 16))
    padded = np.pad(alpha, margin, mode="edge")
    rows, columns = alpha.shape
    offsets = [
        (y, x) for y in range(-margin, margin + 1) for x in range(-margin, margin + 1) if y * y + x * x <= width**2
    ]
    copies = [padded[margin + y : margin + y + rows, margin + x : margin + x + columns] for y, x in offsets]
    return np.asarray(np.max(copies, axis=0))


@pytest.mark.parametrize("width", [-7.3, -1.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 7.3, 13.0, 16.0, 17.5, 40.0])
def test_a_stroke_looks_at_every_pixel_of_its_disc_up_to_the_frames_edge(painter: Painter, width: float) -> None:
    source = np.zeros((50, 70, 4))
    spots = np.random.default_rng(3).integers(0, (50, 70), (30, 2))
    source[spots[:, 0], spots[:, 1], 3] = np.linspace(0.25, 1, 30).astype(np.float16)
    source[0, 40, 3] = source[20:40, 69, 3] = 0.75
    found = chained(painter, source, entry("stroke", width=width))[..., 3]
    most = largest_in_disc(source[..., 3], width)
    assert np.abs(found - (source[..., 3] + (most - source[..., 3]) * (1 - source[..., 3]))).max() < CLOSE


def test_a_stroke_is_never_wider_than_sixteen_pixels(painter: Painter) -> None:
    source = picture(90, 90, 40)
    found = chained(painter, source, entry("stroke", width=30.0))
    assert found[45, 40 - 16, 3] == 1
    assert found[45, 40 - 17, 3] == 0


def test_a_fill_replaces_the_colour_and_its_opacity_thins_the_layer(painter: Painter) -> None:
    found = chained(painter, picture(), entry("fill", color="#ff2d55", opacity=50.0))
    assert found[20, 30].tolist() == pytest.approx([*(linear(np.array([255, 45, 85]) / 255) / 2), 0.5], abs=CLOSE)
    assert found[2, 2, 3] == 0


def test_the_middle_of_a_red_to_blue_ramp_is_187_0_188(painter: Painter) -> None:
    source = np.zeros((101, 101, 4)) + (0, 1, 0, 1)
    found = chained(painter, source, entry("gradient-ramp"))
    assert np.round(encoded(found[50, 50, :3]) * 255).tolist() == pytest.approx([187, 0, 188], abs=1)
    assert found[0, 50, 0] > 0.98
    assert found[100, 50, 2] > 0.98


def test_sharpening_raises_a_pixel_against_its_neighbours(painter: Painter) -> None:
    source = picture()
    around = source[19, 30, :3] + source[21, 30, :3] + source[20, 29, :3] + source[20, 31, :3]
    expected = source[20, 30, :3] + 0.6 * (4 * source[20, 30, :3] - around)
    assert chained(painter, source, entry("sharpen", amount=60.0))[20, 30, :3] == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("softness", [0.0, -20.0])
def test_a_sweep_without_softness_ends_at_its_edges(painter: Painter, softness: float) -> None:
    grey = np.full((20, 60, 4), (0.2, 0.2, 0.2, 1.0))
    lit = chained(painter, grey, entry("light-sweep", sweepWidth=20.0, softness=softness, intensity=50.0))[10, :, 0]
    assert lit[[0, 5, 55, 59]] == pytest.approx(0.2, abs=1e-3)
    assert lit[[15, 30, 45]] == pytest.approx(0.7, abs=1e-3)


def test_noise_has_the_mean_and_the_spread_of_its_amount(painter: Painter) -> None:
    source = np.zeros((64, 64, 4)) + (0.5, 0.5, 0.5, 1)
    found = chained(painter, source, entry("noise", amount=30.0))[..., 0]
    assert found.mean() == pytest.approx(0.5, abs=0.01)
    assert found.std() == pytest.approx(0.3 / math.sqrt(12), rel=0.1)


@pytest.mark.parametrize(
    ("operator", "expected"),
    [(0, [0.75, 0.5]), (1, [-0.25, 0.0]), (3, [0.25, 0.0]), (4, [0.5, 0.25]), (6, [0.25, 0.25])],
)
def test_arithmetic_combines_straight_linear_colours(painter: Painter, operator: int, expected: list[float]) -> None:
    source = np.zeros((4, 4, 4)) + (0.25, 0.25, 0.25, 1)
    constant = entry("arithmetic", operator=float(operator), red=127.5, green=63.75, clip=False)
    assert chained(painter, source, constant)[1, 1, :2].tolist() == pytest.approx(expected, abs=CLOSE)


def test_layer_coordinates_are_mirrored_about_the_frames_middle_as_in_the_references_export(painter: Painter) -> None:
    source = picture()
    bulge = entry("bulge", centerX=4.0, centerY=-6.0, radius=10.0, height=80.0)
    upright = chained(painter, source, bulge)
    mirrored = chained(painter, source[::-1].copy(), bulge, scene=scene_of(source, mirrored=True))
    assert np.abs(upright - mirrored[::-1]).max() < CLOSE
    assert np.abs(upright - source).max() > 0.1


def test_a_distortion_leaves_what_lies_beyond_the_layers_box(painter: Painter) -> None:
    source = picture(margin=0)
    box = Box(20, 10, 20, 20)
    found = chained(painter, source, entry("mirror", angle=0.0), scene=scene_of(source, box=box))
    assert np.abs(found[:, :20] - source[:, :20]).max() == 0
    assert np.abs(found[20, 31] - source[20, 28]).max() < CLOSE


def test_a_stylising_pass_erases_what_lies_beyond_the_layers_box(painter: Painter) -> None:
    source = picture(margin=0)
    found = chained(painter, source, entry("find-edges"), scene=scene_of(source, box=Box(20, 10, 20, 20)))
    assert found[2, 2, 3] == 0
    assert found[20, 30, 3] == 1


def test_a_cell_of_a_halftone_without_taps_in_the_layer_leaves_its_pixels(painter: Painter) -> None:
    source = picture(margin=0)
    found = chained(painter, source, entry("halftone", cellSize=2.0, screenAngle=179.5))
    assert np.abs(found[5:18, 0] - source[5:18, 0]).max() == 0
    assert np.abs(found[5:18, 1] - source[5:18, 1]).max() > CLOSE


def test_a_bend_of_no_amount_erases_what_lies_beyond_the_layers_box(painter: Painter) -> None:
    source = picture(margin=0)
    found = chained(painter, source, entry("bend", amount=0.0), scene=scene_of(source, box=Box(20, 10, 20, 20)))
    assert found[2, 2, 3] == 0
    assert np.abs(found[12:28, 22:38] - source[12:28, 22:38]).max() < CLOSE


def test_a_displacement_map_moves_by_red_and_green_of_another_layer(painter: Painter) -> None:
    source = picture(margin=0)
    grey = np.zeros_like(source) + (0.75, 0.5, 0, 1)
    other = target_of(painter, grey)
    scene = scene_of(source, layer_target=lambda layer_id: other if layer_id == "map" else None)
    stack = EffectStack.unbaked((entry("displacement-map", amount=8.0, mapLayerId="map"),))
    result = chain(painter, target_of(painter, source), stack, scene)
    found = buffer_of(result)
    painter.pool.give_back(result, other)
    assert np.abs(found[:, :50] - source[:, 4:54]).max() < CLOSE


def test_tiles_of_the_frame_flow_into_their_neighbours(painter: Painter) -> None:
    source = picture(margin=0)
    source[..., 0] = np.arange(60) / 60
    found = chained(painter, source, entry("motion-tile", scale=0.25))
    # The first pixel shows the frame at 1/8 px: 3/8 of it come from the opposite edge.
    assert found[20, 0, 0] == pytest.approx(3 / 8 * 59 / 60, abs=CLOSE)


def test_a_matte_that_is_missing_leaves_the_layer(painter: Painter) -> None:
    assert np.abs(chained(painter, picture(), entry("set-matte", matteLayerId="gone")) - picture()).max() == 0


def test_a_layer_has_one_colour_table_that_of_its_first_lookup(painter: Painter) -> None:
    def table(*corners: float) -> EffectSnapshot:
        data = tuple(value for step in corners for value in (step, step, step))
        return entry("apply-color-lut", intensity=50.0, lut=(("size", 2.0), ("size1d", 0.0), ("data", data)))

    darker, white = table(*(0.0, 0.5) * 4), table(*(1.0,) * 8)
    grey = np.tile([0.8, 0.8, 0.8, 1.0], (8, 8, 1))
    assert chained(painter, grey, darker, white)[4, 4, :3] == pytest.approx([0.2] * 3, abs=0.01)


def test_effects_run_in_list_order(painter: Painter) -> None:
    fill, stroke = entry("fill", color="#00ff00"), entry("stroke", color="#ffffff")
    assert chained(painter, picture(), fill, stroke)[10, 30, 0] == 1
    assert chained(painter, picture(), stroke, fill)[10, 30, 0] == 0


def test_a_region_of_the_frame_gives_the_same_pixels_as_the_whole_frame(painter: Painter) -> None:
    stack = (entry("blur", amount=3.0), entry("drop-shadow", distance=4.0, softness=3.0), entry("stroke"))
    source = picture(120, 160, 50)
    scene = scene_of(source)
    whole = chained(painter, source, *stack, scene=scene)
    unbaked = EffectStack.unbaked(stack)
    inner = Region(50, 50, 60, 20).grown(unbaked.spread_px(scene)).intersection(scene.frame)
    part = source[inner.y : inner.bottom, inner.x : inner.right]
    result = chain(painter, target_of(painter, part.copy(), inner.x, inner.y), unbaked, scene)
    found = buffer_of(result)
    painter.pool.give_back(result)
    assert np.abs(found - whole[inner.y : inner.bottom, inner.x : inner.right]).max() < CLOSE


@pytest.mark.parametrize("name", ["glow", "drop-shadow", "blur"])
@pytest.mark.parametrize("margin", [(3, 3), (5, 9), (17, 30)])
def test_light_does_not_hang_on_how_much_room_the_picture_has_beside_it(
    painter: Painter, name: str, margin: tuple[int, int]
) -> None:
    source = np.zeros((260, 380, 4))
    source[101:160, 143:251] = (0.2, 0.1, 0, 1)
    scene, stack = scene_of(source, exact_blur=False), (entry(name, radius=40.0, softness=50.0, amount=24.0),)
    content = Region(143, 101, 108, 59)
    found = []
    for held in (scene.frame, content.grown(margin[0]), content.grown(margin[1])):
        found.append(lit(painter, source, held, stack, scene))
    assert np.abs(found[0] - found[1]).max() < CLOSE
    assert np.array_equal(found[1], found[2])


def test_an_effect_that_would_change_nothing_needs_no_buffer() -> None:
    assert not has_passes(layer(entry("blur", amount=0.0), entry("glow", radius=-1.0), entry("sharpen", amount=0.0)))
    assert not has_passes(layer(entry("brightness"), entry("gaussian-blur"), entry("echo"), entry("acme.x")))
    assert has_passes(layer(entry("blur")))
    assert not has_passes(layer(entry("blur"), entry("gaussian-blur")))


def test_an_effect_over_the_whole_frame_spreads_over_the_whole_frame() -> None:
    scene = EffectScene(Region(0, 0, 640, 360), Box(0, 0, 10, 10), 10, 10)
    assert EffectStack.unbaked((entry("beam"),)).spread_px(scene) == 640
    assert EffectStack.unbaked((entry("twirl"),)).spread_px(scene) < 10


SPATIAL = [effect.id for effect in every_effect() if effect.route.is_spatial]


@pytest.mark.parametrize("effect", SPATIAL)
@pytest.mark.parametrize("odd", [1e9, -1e9, 0.0])
def test_absurd_numbers_draw_something_and_end(painter: Painter, effect: str, odd: float) -> None:
    kind = next(found for found in every_effect() if found.id == effect)
    stored = {parameter.key: odd for parameter in kind.parameters if parameter.kind.value == "N"}
    assert chained(painter, picture(), entry(effect, **stored), scene=scene_of(picture(), exact_blur=False)).shape == (
        40,
        60,
        4,
    )


def test_a_cylinder_takes_its_picture_from_within_a_hundredth_of_a_pixel(painter: Painter) -> None:
    stripes = np.ones((4, 240, 4))
    stripes[:, ::2, :3] = 0
    found = chained(painter, stripes, entry("cylinder", shading=0.0))[2, :, 0]
    x = (np.arange(240) + 0.5) / 120 - 1
    at = (0.5 + np.arcsin(x) / np.pi) * 240 - 0.5
    assert found == pytest.approx(np.interp(at, np.arange(240), stripes[0, :, 0]), abs=0.01)
