"""Images deformed by a mesh."""

from __future__ import annotations

import numpy as np

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector.mesh import deformed
from motion.snapshot import Mesh

RED, BLUE = (255, 0, 0, 255), (0, 0, 255, 255)
SQUARE = ((0, 1, 2), (1, 3, 2))


def halves(padding_px: int = 0) -> Raster:
    """Return a box of 10 x 10 px at two pixels per px: red on the left, blue on the right."""
    side, edge = 20 + 4 * padding_px, 2 * padding_px
    pixels = np.zeros((side, side, 4), np.uint8)
    pixels[edge : side - edge, edge : side // 2] = RED
    pixels[edge : side - edge, side // 2 : side - edge] = BLUE
    return Raster(pixels, 10, 10, padding_px)


def mesh(*corners: tuple[float, float]) -> Mesh:
    texture = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
    return Mesh(tuple((*place, *uv) for place, uv in zip(corners, texture, strict=True)), SQUARE)


def test_a_mesh_at_rest_leaves_the_picture_as_it_is() -> None:
    still = deformed(halves(), mesh((-5, -5), (5, -5), (-5, 5), (5, 5)))
    assert still.padding == 0
    assert np.array_equal(still.pixels, halves().pixels)


def test_the_picture_grows_by_what_the_mesh_reaches_out() -> None:
    moved = deformed(halves(), mesh((-2, -5), (8, -5), (-2, 5), (8, 5)))
    assert (moved.width, moved.height, moved.padding) == (10, 10, 3)
    assert moved.pixels.shape == (32, 32, 4)
    assert tuple(moved.pixels[16, 14]) == RED
    assert tuple(moved.pixels[16, 30]) == BLUE
    assert tuple(moved.pixels[16, 10]) == (0, 0, 0, 0)


def test_a_padded_picture_shrinks_onto_its_mesh() -> None:
    still = deformed(halves(padding_px=2), mesh((-5, -5), (5, -5), (-5, 5), (5, 5)))
    assert still.padding == 2
    assert tuple(still.pixels[14, 9]) == RED
    assert tuple(still.pixels[14, 19]) == BLUE
    assert tuple(still.pixels[14, 5]) == tuple(still.pixels[5, 14]) == (0, 0, 0, 0)


def test_a_mesh_without_end_is_cut_off() -> None:
    far = deformed(halves(), mesh((-1e7, -5), (1e7, -5), (-1e7, 5), (1e7, 5)))
    assert far.padding == 512
