"""Window effects, which native kernels compute if OpenGL runs on the CPU: a GPU's shaders give the same."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.opengl.painter import Painter
from motion.snapshot import ParameterValue
from tests.gpu_renderer.canvases import Pixels, baked_pixels

pytestmark = pytest.mark.gl
EXACT = 1
"""Levels: shaders round the colours of soft edges in single floats."""
WIDE_BLUR = 4
"""Levels: shaders compute a wide box at a smaller size."""
STREAK = 2
"""Levels: displaced copies are filtered with weights of 1/256, and a rasteriser can choose the neighbouring weight."""
TONE = 5
"""Levels between two of 64 tones: a mean halfway between them can become either."""
CONTOUR = 2
"""Levels: a tap halfway between two pixels can take either."""
Stored = dict[str, ParameterValue]
EFFECTS: list[tuple[str, Stored, int]] = [
    ("median", {"radius": 2.0}, EXACT),
    ("median", {"radius": 8.0}, EXACT),
    ("dust-scratches", {"radius": 3.0, "threshold": 12.0}, EXACT),
    ("minimax", {"operation": 2.0, "radius": 5.0, "channel": 1.0}, EXACT),
    ("minimax", {"operation": 1.0, "radius": 3.0, "channel": 3.0, "direction": 1.0}, EXACT),
    ("simple-choker", {"chokeAmount": 3.0}, EXACT),
    ("matte-choker", {"spread": 6.0, "choke": 3.0, "softness": 4.0, "iterations": 2.0}, EXACT),
    ("fast-box-blur", {"blurRadius": 4.0, "iterations": 2.0}, EXACT),
    ("gaussian-blur", {"blurriness": 9.0, "dimensions": 2.0, "repeatEdge": False}, EXACT),
    ("gaussian-blur", {"blurriness": 30.0}, EXACT),
    ("gaussian-blur", {"blurriness": 60.0}, WIDE_BLUR),
    ("gaussian-blur", {"blurriness": 60.0, "dimensions": 1.0}, WIDE_BLUR),
    ("gaussian-blur", {"blurriness": 60.0, "dimensions": 2.0, "repeatEdge": False}, WIDE_BLUR),
    ("gaussian-blur", {"blurriness": 200.0, "repeatEdge": False}, WIDE_BLUR),
    ("fast-box-blur", {"blurRadius": 120.0}, WIDE_BLUR),
    ("unsharp-mask", {"radius": 6.0, "amount": 80.0}, EXACT),
    ("shadow-highlight", {"shadowAmount": 90.0, "radius": 12.0}, EXACT),
    ("cartoon", {"smoothness": 3.0, "levels": 64.0, "edgeOpacity": 0.0}, TONE),
    ("directional-blur", {}, STREAK),
    ("directional-blur", {"length": 40.0, "direction": 90.0}, STREAK),
    ("directional-blur", {"length": 7.3, "direction": -30.0}, STREAK),
    ("directional-blur", {"length": 200.0, "direction": 200.0}, STREAK),
    ("vector-blur", {}, CONTOUR),
    ("vector-blur", {"amount": 40.0, "angleOffset": 70.0, "smoothness": 0.0}, CONTOUR),
    ("vector-blur", {"amount": 5.0, "smoothness": 6.0}, CONTOUR),
    ("glass", {"bumpSoftness": 3.0}, CONTOUR),
    ("radial-shadow", {"softness": 6.0}, EXACT),
]


@pytest.fixture
def shaders_alone(painter: Painter) -> Painter:
    """Return a painter that draws as on a GPU."""
    found = Painter(painter.context, flat_uniforms=False)
    found.is_software = False
    return found


def soft_ring() -> Pixels:
    """Return repeating colours with soft edges and an opaque middle, premultiplied."""
    y, x = np.mgrid[0:61, 0:83].astype(np.float64)
    alpha = np.clip((34 - np.hypot(x - 41, y - 30)) / 9, 0, 1)
    color = np.stack([x % 16 / 15, y % 11 / 10, (x + y) % 7 / 6], axis=2)
    pixels: Pixels = np.rint(np.dstack([color * alpha[..., None], alpha]) * 255).astype(np.uint8)
    return pixels


@pytest.mark.parametrize(("effect", "stored", "levels"), EFFECTS)
def test_kernels_and_shaders_make_the_same_picture(
    painter: Painter, shaders_alone: Painter, effect: str, stored: Stored, levels: int
) -> None:
    by_kernels = baked_pixels(painter, soft_ring(), effect, **stored).astype(int)
    by_shaders = baked_pixels(shaders_alone, soft_ring(), effect, **stored).astype(int)
    assert np.abs(by_kernels - by_shaders).max() <= levels
    assert np.any(by_kernels != soft_ring()), "the effect changes the picture"


@pytest.mark.parametrize(
    ("effect", "stored"),
    [
        ("fast-box-blur", {"blurRadius": 4.0, "iterations": 3.0}),
        ("fast-box-blur", {"blurRadius": 32.0, "repeatEdge": True}),
        ("gaussian-blur", {"blurriness": 30.0, "dimensions": 2.0}),
        ("cartoon", {"smoothness": 9.0, "levels": 64.0, "edgeThreshold": 30.0}),
    ],
)
def test_shaders_store_bytes_between_the_axes_of_a_box_as_kernels_do(
    painter: Painter, shaders_alone: Painter, effect: str, stored: Stored
) -> None:
    """Tones of a cartoon show a difference of one byte."""
    opaque = soft_ring()
    opaque[..., 3] = 255
    by_kernels, by_shaders = (baked_pixels(each, opaque, effect, **stored) for each in (painter, shaders_alone))
    assert np.array_equal(by_kernels, by_shaders)


def test_colours_keep_their_precision_where_a_blur_is_faint(painter: Painter, shaders_alone: Painter) -> None:
    """A picture of one colour equals its own blur, even where the wide window holds little of it."""
    pixels = np.zeros((64, 80, 4), np.uint8)
    pixels[:, 38:41] = (200, 121, 43, 255)
    for each in (painter, shaders_alone):
        assert np.array_equal(
            baked_pixels(each, pixels, "unsharp-mask", radius=20.0, amount=500.0, threshold=0.0), pixels
        )


def test_a_box_blur_keeps_the_colour_of_its_faint_parts(painter: Painter, shaders_alone: Painter) -> None:
    """The reference blurs straight colours weighted by alpha (effects.md 6), and stores bytes between the passes."""
    color = np.array([200, 121, 43])
    pixels = np.zeros((64, 80, 4), np.uint8)
    pixels[20:44, 24:56] = (*color, 255)
    for each, levels in ((painter, 0), (shaders_alone, 1)):
        found = baked_pixels(each, pixels, "fast-box-blur", blurRadius=30.0, iterations=10.0, repeatEdge=False)
        expected = np.floor(color * found[..., 3:] / 255 + 0.5)
        assert np.abs(found[..., :3] - expected).max() <= levels
        assert 0 < found[32, 2, 3] < 60


@pytest.mark.parametrize("effect", ["gaussian-blur", "fast-box-blur"])
def test_a_window_wider_than_the_canvas_counts_whole(painter: Painter, effect: str) -> None:
    stored: Stored = {"blurriness": 41 * 3**0.5} if effect == "gaussian-blur" else {"blurRadius": 41.0}
    pixels = np.full((8, 8, 4), 255, np.uint8)
    found = baked_pixels(painter, pixels, effect, **stored, dimensions=1.0, repeatEdge=False)
    alpha = 255
    for _ in range(3 if effect == "gaussian-blur" else 1):
        alpha = round(alpha * 8 / 83)
    assert np.all(found == alpha)
