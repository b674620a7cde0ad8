"""Distortions of a picture on the layer's own canvas (effects.md 8.8)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.effects.registry import every_effect
from gpu_renderer.opengl.painter import Painter
from tests.gpu_renderer.canvases import baked_pixels

pytestmark = pytest.mark.gl
WIDTH, HEIGHT = 96, 64
WARPS = [kind.id for kind in every_effect() if kind.family == "warp"]
Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def ramp() -> Pixels:
    """Return opaque pixels: red is the column, green the row."""
    pixels = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    pixels[..., 0] = np.arange(WIDTH)[None, :]
    pixels[..., 1] = np.arange(HEIGHT)[:, None]
    pixels[..., 3] = 255
    return pixels


def warped(painter: Painter, effect: str, **stored: float | bool) -> Pixels:
    return baked_pixels(painter, ramp(), effect, **stored)


STILL: dict[str, dict[str, float | bool]] = {
    "transform": {},
    "corner-pin": {},
    "bezier-warp": {},
    "mesh-warp": {},
    "liquify": {},
    "warp": {"bend": 0},
    "wave-warp": {"waveHeight": 0},
    "turbulent-displace": {"amount": 0},
    "polar-coordinates": {"interpolation": 0},
    "optics-compensation": {},
    "page-turn": {"amount": -100},
    "split": {},
    "slant": {},
    "smear": {"toX": 0},
    "rolling-shutter": {"sweep": 0},
    "flo-motion": {"knot1Amount": 0, "knot2Amount": 0},
    "griddler": {"horizontalScale": 100, "verticalScale": 100, "rotation": 0},
}


@pytest.mark.parametrize("effect", STILL)
def test_a_warp_without_strength_leaves_the_picture(painter: Painter, effect: str) -> None:
    assert np.array_equal(warped(painter, effect, **STILL[effect]), ramp())


def test_every_warp_changes_the_picture_somewhere(painter: Painter) -> None:
    strong: dict[str, dict[str, float | bool]] = {
        "transform": {"rotation": 30}, "corner-pin": {"topLeftX": 20}, "bezier-warp": {"top1Y": 20},
        "mesh-warp": {"v5X": 12}, "liquify": {"pushX": 10}, "optics-compensation": {"fieldOfView": 90},
        "page-turn": {"amount": 50, "curlRadius": 8}, "split": {"splitOffset": 20}, "slant": {"slant": 20},
    }  # fmt: skip
    same = [effect for effect in WARPS if np.array_equal(warped(painter, effect, **strong.get(effect, {})), ramp())]
    assert same == []


def test_a_corner_pin_puts_the_middle_where_the_projective_map_says(painter: Painter) -> None:
    # The pin [.1,.1, .9,0, 1,1, 0,.9] maps (.5, .5) to (.45, .45) (layers.md 3.4).
    offsets = {"topLeftX": 9.6, "topLeftY": 6.4, "topRightX": -9.6, "bottomLeftY": -6.4}
    found = warped(painter, "corner-pin", **offsets)
    row, column = int(0.45 * HEIGHT), int(0.45 * WIDTH)
    assert found[row, column, 0] == pytest.approx(0.5 * WIDTH, abs=1)
    assert found[row, column, 1] == pytest.approx(0.5 * HEIGHT, abs=1)


def test_a_moved_lattice_point_carries_the_picture_with_it(painter: Painter) -> None:
    found = warped(painter, "mesh-warp", v5X=12, v5Y=0)
    row, column = HEIGHT // 3, WIDTH // 3
    assert found[row, column, 0] == pytest.approx(column - 12, abs=1)


def test_a_split_shows_nothing_in_the_gap(painter: Painter) -> None:
    found = warped(painter, "split", splitOffset=20, angle=0)
    assert found[0, WIDTH // 2 - 15, 0] == WIDTH // 2 - 15 + 10
    assert found[0, WIDTH // 2 + 15, 0] == WIDTH // 2 + 15 - 10


def test_a_rolling_shutter_moves_the_last_row_by_the_whole_sweep(painter: Painter) -> None:
    found = warped(painter, "rolling-shutter", sweep=32)
    assert int(found[HEIGHT - 1, 80, 0]) == pytest.approx(80 - 32 * (HEIGHT - 0.5) / HEIGHT, abs=1)


def test_a_degenerate_pin_clears_the_layer(painter: Painter) -> None:
    flat = {"topRightX": -WIDTH, "bottomRightX": -WIDTH}
    assert warped(painter, "corner-pin", **flat)[..., 3].max() == 0


@pytest.mark.parametrize("angle", [180.0, 200.0])
def test_a_lens_of_a_half_turn_or_more_bends_by_the_same_formula(painter: Painter, angle: float) -> None:
    k = 0.5 * np.tan(np.radians(angle) / 2)
    away = np.arange(WIDTH) + 0.5 - WIDTH / 2
    bend = k * (away / (0.5 * np.hypot(WIDTH, HEIGHT))) ** 2
    scale = np.where(bend > 0.25, 0.5 / bend, 2 / (1 + np.sqrt(np.maximum(0.0, 1 - 4 * bend))))
    found = warped(painter, "optics-compensation", fieldOfView=angle)[HEIGHT // 2, :, 0]
    assert found == pytest.approx(WIDTH / 2 - 0.5 + away * scale, abs=1.01)


FOLDED = {
    "topLeftX": -25.9, "topLeftY": 41.0, "top1X": -32.8, "top1Y": 75.4, "top2X": -5.0, "top2Y": 27.9, "topRightX": 31.3,
    "topRightY": -23.7, "right1X": 27.3, "right1Y": 69.5, "right2X": 47.1, "right2Y": -8.6, "bottomRightX": -43.2,
    "bottomRightY": 36.6, "bottom1X": -8.8, "bottom1Y": -43.9, "bottom2X": 52.8, "bottom2Y": 4.1, "bottomLeftX": -28.5,
    "bottomLeftY": -39.4, "left1X": 41.7, "left1Y": 19.4, "left2X": -4.7, "left2Y": -58.3,
}  # fmt: skip


def test_a_folded_bezier_warp_is_inverted_in_doubles(painter: Painter) -> None:
    """Newton's method does not converge near the folds of a patch, and shows each last digit of its 24 steps."""
    if "GL_ARB_gpu_shader_fp64" not in painter.context.extensions:
        pytest.skip("this driver has no doubles")
    offsets = np.array(list(FOLDED.values())).reshape(12, 2)
    column, row, found = _newton(offsets + _rest())
    shown = warped(painter, "bezier-warp", **FOLDED)
    assert np.array_equal(shown[..., 3] > 0, found)
    within = found & (column > 1) & (column < WIDTH - 1) & (row > 1) & (row < HEIGHT - 1)
    assert within.sum() > 500
    assert np.abs(shown[within, 0] - (column[within] - 0.5)).max() < 1
    assert np.abs(shown[within, 1] - (row[within] - 0.5)).max() < 1


def _rest() -> Floats:
    """Return the 12 points of a patch at rest, clockwise from the top-left corner."""
    corners = np.array([(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (0, HEIGHT)], float)
    return np.concatenate(
        [[a + (b - a) * k / 3 for k in range(3)] for a, b in zip(corners, np.roll(corners, -1, 0), strict=True)]
    )


def _newton(points: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return the source column and row of each pixel's centre, and True where there is one (effects.md 8.8)."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    u, v, done = x / WIDTH, y / HEIGHT, np.zeros(x.shape, bool)
    for _ in range(24):
        error, along_u, along_v = _patch(points, u, v)
        error -= np.stack([x, y])
        done |= (error**2).sum(0) < 1e-8
        area = along_u[0] * along_v[1] - along_u[1] * along_v[0]
        u = np.where(done, u, (u - (error[0] * along_v[1] - error[1] * along_v[0]) / area).clip(-1, 2))
        v = np.where(done, v, (v - (along_u[0] * error[1] - along_u[1] * error[0]) / area).clip(-1, 2))
    miss = np.hypot(*(_patch(points, u, v)[0] - np.stack([x, y])))
    inside = (np.minimum(u, v) >= -1e-4) & (np.maximum(u, v) <= 1.0001)
    return u * WIDTH, v * HEIGHT, (miss <= 0.5) & inside


def _patch(points: Floats, u: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the Coons patch at (u, v) and its derivatives, shape (2, rows, columns)."""

    def curve(first: int, t: Floats) -> tuple[Floats, Floats]:
        a, b, c, d = (points[(first + k) % 12, :, None, None] for k in range(4))
        s = 1 - t
        place = s**3 * a + 3 * s * s * t * b + 3 * s * t * t * c + t**3 * d
        return place, 3 * (s * s * (b - a) + 2 * s * t * (c - b) + t * t * (d - c))

    (top, top_u), (right, right_v) = curve(0, u), curve(3, v)
    (bottom, bottom_u), (left, left_v) = curve(6, 1 - u), curve(9, 1 - v)
    p, q, r, s = (points[k, :, None, None] for k in (0, 3, 9, 6))
    place = (1 - v) * top + v * bottom + (1 - u) * left + u * right
    place -= (1 - v) * ((1 - u) * p + u * q) + v * ((1 - u) * r + u * s)
    along_u = (1 - v) * top_u - v * bottom_u - left + right - (1 - v) * (q - p) - v * (s - r)
    along_v = bottom - top - (1 - u) * left_v + u * right_v - (1 - u) * (r - p) - u * (s - q)
    return place, along_u, along_v
