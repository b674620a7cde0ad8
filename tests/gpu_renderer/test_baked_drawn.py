"""Strokes and text drawn over a layer's canvas (effects.md 8.6)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from gpu_renderer.effects.contour import contours, runs
from gpu_renderer.effects.drawn import _number_text, _timecode_text
from gpu_renderer.effects.noise import random_numbers
from gpu_renderer.effects.particles import h2
from gpu_renderer.effects.registry import find
from gpu_renderer.effects.values import resolve
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot, ParameterValue
from tests.gpu_renderer.canvases import Pixels, baked_pixels, opaque
from tests.gpu_renderer.effects.baking import REST, entry, run

pytestmark = pytest.mark.gl


def disc(radius: float = 20) -> Pixels:
    y, x = np.mgrid[0:64, 0:64]
    alpha = np.clip(radius - np.hypot(x - 32, y - 32) + 0.5, 0, 1)[..., None] * 255
    return np.concatenate([alpha * 0, alpha * 0, alpha * 0, alpha], axis=2).astype(np.uint8)


def test_the_contour_of_a_disc_is_one_loop_of_its_perimeter_from_the_top() -> None:
    (loop,) = contours(disc()[..., 3], 128)
    length = sum(math.dist(a, b) for a, b in zip(loop, [*loop[1:], loop[0]], strict=True))
    assert length == pytest.approx(math.tau * 20, rel=0.02)
    assert loop[0][1] == min(y for _, y in loop)


def test_a_hole_is_a_loop_of_its_own() -> None:
    alpha = disc(24)[..., 3].copy()
    alpha[28:36, 28:36] = 0
    assert len(contours(alpha, 128)) == 2


def test_runs_cover_their_share_of_the_loop() -> None:
    (loop,) = contours(disc()[..., 3], 128)
    pieces = runs(loop, 4, 0.5, 0.1)
    drawn = sum(math.dist(a, b) for piece in pieces for a, b in pairwise(piece))
    assert len(pieces) == 4
    assert drawn == pytest.approx(math.tau * 20 / 2, rel=0.03)


def test_many_translucent_strokes_end_below_their_colour_as_on_the_canvas(painter: Painter) -> None:
    found = baked_pixels(
        painter, disc(), "vegas", segments=200.0, length=100.0, width=30.0, color="#3f141e", opacity=51.27
    )
    assert found[12, 32].tolist() == [61, 18, 28, 255]


@pytest.mark.parametrize(
    ("effect", "color", "given"),
    [
        ("checkerboard", "colorA", {"width": 64.0, "height": 64.0, "colorB": "#9e0482"}),
        ("grid", "color", {"thickness": 200.0}),
        ("fill", "color", {}),
    ],
)
def test_translucent_paints_round_as_on_the_canvas(
    painter: Painter, effect: str, color: str, given: dict[str, ParameterValue]
) -> None:
    found = baked_pixels(painter, opaque(126, 76, 173, 64, 64), effect, opacity=35.84, **{color: "#9e0482"}, **given)
    assert found[32, 32].tolist() == [138, 50, 158, 255]


def test_an_inverted_circle_has_an_opacity_of_whole_bytes(painter: Painter) -> None:
    given: dict[str, ParameterValue] = {"radius": 4.0, "color": "#4af35e", "opacity": 46.58, "invertCircle": True}
    found = baked_pixels(painter, opaque(0, 0, 0, 64, 64), "circle", **given)
    assert found[2, 2].tolist() == [35, 113, 44, 255]


def test_lines_of_a_grid_lie_on_quarters_of_a_pixel_above_and_below_only(painter: Painter) -> None:
    places: dict[str, ParameterValue] = {"width": 32.0, "height": 32.0, "anchorX": 16.0, "anchorY": 16.0}
    found = baked_pixels(painter, opaque(0, 0, 0, 32, 32), "grid", thickness=3.11, color="#ffffff", **places)[..., 0]
    assert found[14:19, 4].tolist() == [0, 255, 255, 255, 0]
    assert found[4, 14:19].tolist() == [14, 255, 255, 255, 14]


def test_the_shadow_of_an_ellipse_has_the_opacity_of_its_color_and_of_its_stroke(painter: Painter) -> None:
    """The shadow has the stroke's colour, with its alpha, and a canvas multiplies it by the alpha of what casts it."""
    ring: dict[str, float | str] = {
        "ellipseWidth": 60.0,
        "ellipseHeight": 40.0,
        "thickness": 4.0,
        "softness": 24.0,
        "color": "#ffffff",
    }
    empty = np.zeros((60, 90, 4), np.uint8)
    full, half = (
        baked_pixels(painter, empty, "ellipse", opacity=opacity, **ring)[30, 45, 3] for opacity in (100.0, 50.0)
    )
    assert full > 20
    assert abs(half - full / 4) <= 1


@pytest.mark.parametrize("softness", [0.0, -8.0, 1e-300])
def test_an_ellipse_without_a_softness_has_no_shadow(painter: Painter, softness: float) -> None:
    """1e-300 is 0 as a float, for which Skia makes no blur."""
    found = baked_pixels(
        painter, np.zeros((60, 90, 4), np.uint8), "ellipse", ellipseWidth=60.0, ellipseHeight=40.0, softness=softness
    )
    assert found[10, 45].tolist() == [255, 255, 255, 255]
    assert not found[15:45, 45].any()


def test_a_strokes_color_has_its_opacity_as_a_byte(painter: Painter) -> None:
    empty = np.zeros((64, 64, 4), np.uint8)
    ring: dict[str, ParameterValue] = {
        "waveCount": 1.0,
        "maxRadius": 20.0,
        "phase": 180.0,
        "thickness": 8.0,
        "fadeOut": 0.0,
    }
    found = baked_pixels(painter, empty, "radio-waves", color="#c4bab5", opacity=13.974, composite=2.0, **ring)
    assert found[32, 42].tolist() == [28, 26, 26, 36]  # of the exact opacity: 27, 26, 25, 36


def test_a_gradient_over_a_canvas_is_dithered(painter: Painter) -> None:
    found = baked_pixels(painter, opaque(0, 0, 0, 64, 64), "gradient-ramp", colorA="#000000", colorB="#101010")
    off = found[..., 0] - 16 * (np.arange(64) + 0.5)[:, None] / 64
    assert 0.8 < np.abs(off).max() < 1.0  # rounding alone is off by half a level
    assert abs(off.mean()) < 0.02


def test_vegas_draws_on_the_outline_and_not_inside(painter: Painter) -> None:
    found = baked_pixels(painter, disc(), "vegas", segments=1.0, length=100.0, width=4.0)
    assert found[12, 32].tolist() == [255, 255, 255, 255]
    assert found[32, 32].tolist() == [0, 0, 0, 255]


@pytest.mark.parametrize("size", [23.3, 28.44, 37.7, 51.2])
def test_counters_are_hinted_as_text_layers_are(painter: Painter, size: float) -> None:
    """The upper edge of a 7's bar is between two rows of pixels at any size."""
    found = baked_pixels(painter, opaque(0, 0, 0, 80, 80), "numbers", value=7.0, size=size)[:, 40, 0].astype(int)
    top = int(np.argmax(found > 8))
    assert found[top] > 230


@pytest.mark.parametrize("effect", ["lightning", "radio-waves", "write-on", "numbers", "timecode"])
def test_the_effect_draws_over_the_layer_and_repeats_itself(painter: Painter, effect: str) -> None:
    first, second = (baked_pixels(painter, opaque(20, 20, 20, 200, 500), effect) for _ in range(2))
    assert np.array_equal(first, second)
    assert first[..., :3].max() > 150 or first[..., :3].min() == 0
    assert not np.array_equal(first, opaque(20, 20, 20, 200, 500))


def text_of(effect: str, **stored: ParameterValue) -> str:
    kind = find(effect)
    assert kind is not None
    values = resolve(kind, EffectSnapshot("fx", effect, tuple(stored.items())))
    return _number_text(values) if effect == "numbers" else _timecode_text(values)


def test_the_strokes_of_lightning_add_up_one_by_one(painter: Painter) -> None:
    straight: dict[str, ParameterValue] = {
        "amplitude": 0.0,
        "branches": 0.0,
        "startY": 0.0,
        "endY": 0.0,
        "thickness": 4.0,
        "color": "#404040",
    }
    found = baked_pixels(painter, opaque(20, 20, 20, 64, 128), "lightning", **straight)
    assert found[32, 64].tolist() == [20 + 64 + 22, 20 + 64 + 22, 20 + 64 + 22, 255]
    over = baked_pixels(painter, opaque(20, 20, 20, 64, 128), "lightning", composite=0.0, **straight)
    assert over[32, 64].tolist() == [64, 64, 64, 255]


def test_a_half_is_rounded_up_in_a_number() -> None:
    assert text_of("numbers", value=2.5) == "3"
    assert text_of("numbers", value=0.125, decimals=2) == "0.13"


def test_numbers_are_padded_then_grouped() -> None:
    assert text_of("numbers", value=-1234567.891, decimals=2, useCommas=True) == "-1,234,567.89"
    assert text_of("numbers", value=42, padTo=6, useCommas=True) == "000,042"


def test_a_timecode_counts_frames_of_its_rate() -> None:
    assert text_of("timecode", time=3661.5, fps=24, followCompTime=False) == "01:01:01:12"
    assert text_of("timecode", time=1.0, fps=29.97, dropFrame=True) == "00:00:00;29"


def test_a_waveform_without_samples_draws_nothing_and_with_samples_something(painter: Painter) -> None:
    plain = opaque(20, 20, 20, 60, 60)
    assert np.array_equal(baked_pixels(painter, plain, "audio-waveform"), plain)
    single = baked_pixels(painter, plain, "audio-waveform", samples=(0.5,), displayMode=1.0)
    assert np.array_equal(single, plain)
    wave = baked_pixels(painter, plain, "audio-waveform", samples=(0.0, 0.5, -0.5, 0.2))
    assert not np.array_equal(wave, plain)


def test_a_spectrum_of_silence_draws_no_bars(painter: Painter) -> None:
    plain = opaque(20, 20, 20, 60, 60)
    assert np.array_equal(baked_pixels(painter, plain, "audio-spectrum"), plain)
    loud = baked_pixels(painter, plain, "audio-spectrum", magnitudes=(1.0,) * 32, maxHeight=40.0)
    assert not np.array_equal(loud, plain)


def test_no_line_of_a_grid_begins_beyond_the_canvas(painter: Painter) -> None:
    plain, sides = opaque(0, 0, 0, 8, 69), {"width": 10.0, "height": 1000.0, "anchorY": 500.0}
    row = baked_pixels(painter, plain, "grid", thickness=12.0, color="#ffffff", **sides)[4, :, 0]
    assert row[:66].min() == 255
    assert row[66:].max() == 0


def test_a_ring_with_a_wide_feather_is_full_where_its_ramps_meet(painter: Painter) -> None:
    found = baked_pixels(painter, opaque(0, 0, 0, 64, 64), "circle", radius=30.0, thickness=12.0, feather=10.0)
    row = found[32, 32:, 0]
    assert row.max() > 230
    assert row[16] == 0
    # stops, sorted: 0 at 17.999, 1 at 20, 1 at 28, 0 at 30 px from the centre; this pixel is at 24.5
    assert row[24] == 255


def test_a_baked_ray_is_an_anti_aliased_triangle_that_fades_along_itself(painter: Painter) -> None:
    share, fine = 0.1, (np.arange(80 * 8) + 0.5) / 8
    draws = random_numbers(1, 22695477.0, 1)
    arc = math.tau * share
    angle = math.radians(50) - arc / 2 + (next(draws) - 0.5) * arc * 0.6
    length, half_width = 60 * (0.55 + 0.45 * next(draws)), 0.35 * arc
    x, y = fine[None, :] - 40, fine[:, None] - 40
    along, across = x * math.cos(angle) + y * math.sin(angle), np.abs(y * math.cos(angle) - x * math.sin(angle))
    inside = (across <= along * math.tan(half_width)) & (along <= length * math.cos(half_width))
    light = inside * np.interp(along / length, [0, 0.6, 1], [0.8, 0.8 * 0.35, 0]) * 255
    wanted = light.reshape(80, 8, 80, 8).mean(axis=(1, 3))
    ray = entry(
        "light-rays",
        rayCount=1.0,
        rayLength=60.0,
        rotation=50.0,
        spread=100 * share,
        color="#ffffff",
        opacity=80.0,
        falloff=40.0,
        seed=1.0,
    )
    found = run(painter, opaque(0, 0, 0, 80, 80), ray, REST)[..., 0]
    assert wanted.max() > 150
    assert np.abs(found - wanted).max() <= 16


def flare(color: str, scale: float) -> EffectSnapshot:
    """Return a flare whose lamp is at (80, 20) of a canvas of 160 x 100 px."""
    return entry("lens-flare", color=color, scale=scale, centerY=-30.0, brightness=100.0)


def test_a_baked_flare_adds_the_alpha_of_its_gradients(painter: Painter) -> None:
    found = run(painter, np.zeros((100, 160, 4), np.uint8), flare("#204080", 1.0), REST)[29, 89]
    share = math.hypot(9.5, 9.5) / (0.35 * 160)  # of the halo, which alone covers this pixel
    alpha = np.interp(share, [0, 0.25, 1], [0.55, 0.18, 0])
    assert np.abs(found - np.array([32, 64, 128, 255]) * alpha).max() <= 1


def test_the_core_of_a_baked_flare_fades_from_white_to_its_color_as_straight_colors_do(painter: Painter) -> None:
    red = run(painter, opaque(0, 0, 0, 100, 160), flare("#0000ff", 5.0), REST)[28, 80:104, 0]
    share = np.hypot(np.arange(24) + 0.5, 8.5) / (0.5 * 0.06 * 160 * 5)
    white = np.clip(1 - share, 0, 1) * np.interp(share, [0, 1], [0.95, 0.5])
    assert white[0] > 0.4
    assert np.abs(red - white * 255).max() <= 2


def test_a_rate_of_drips_beyond_its_control_lets_more_drops_fall(painter: Painter) -> None:
    y, x = np.mgrid[0:64, 0:96]
    stripes = np.stack([x * 2, y * 3, (x * y) % 200, np.full_like(x, 255)], axis=2).astype(np.uint8)
    most, beyond = (
        baked_pixels(painter, stripes, "drizzle", dripRate=rate, spreading=40.0).astype(int) for rate in (100.0, 104.0)
    )
    # The 31st drop: its ring moves only pixels at one distance from its centre.
    middle = np.array([h2(30, 1) * 96, h2(30, 12) * 64])
    moved = np.argwhere(np.abs(most - beyond).max(axis=2) > 2)[:, ::-1] + 0.5
    off = np.hypot(*(moved - middle).T) - h2(30, 304) * 40
    assert len(moved) > 20
    assert np.abs(off).max() <= 2.5 * 0.08 * 40


def test_a_line_that_is_written_ends_at_its_end(painter: Painter) -> None:
    plain, stored = opaque(20, 20, 20, 40, 120), {"startX": -40.0, "endX": 0.0}
    done, beyond = (baked_pixels(painter, plain, "write-on", completion=share, **stored) for share in (100.0, 140.0))
    assert np.array_equal(done, beyond)
