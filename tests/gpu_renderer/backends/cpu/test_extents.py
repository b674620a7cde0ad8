"""Texels that the kernels do not sample: transparent ones around the content of a plane, and equal ones in its middle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.backends.cpu.kernel_texels import KernelTexels
from gpu_renderer.content.raster import UnitRect
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.bindings import Backdrop, Kernels
from gpu_renderer.kernels.draw_ops import (
    CELLS,
    HALF_CELLS,
    NO_EXTENTS,
    Content,
    DrawOps,
    Extents,
    Grade,
    References,
    Texels,
    Variant,
    draw_op,
)
from gpu_renderer.kernels.loading import installed, loaded
from gpu_renderer.opengl.painter import Painter

COLUMNS, ROWS = 48, 40
VISIBLE, FLAT = (5, 4, 37, 36), (11, 10, 31, 30)
CROP = (1 / COLUMNS, 1 / ROWS, 40 / COLUMNS, 38 / ROWS)
FRAME = Region(0, 0, 300, 200)
QUADS: dict[str, Matrix3] = {
    "upright": (210.3, 0, 40.2, 0, 150.1, 20.7, 0, 0, 1),
    "turned": (170.0, -60.0, 90.0, 70.0, 110.0, 5.0, 0, 0, 1),
    "in perspective": (190.0, 20.0, 60.0, -30.0, 150.0, 40.0, -0.3, 0.2, 1),
    "small": (21.0, -3.0, 60.0, 4.0, 17.0, 40.0, -0.1, 0.1, 1),
    "beyond the frame": (900.0, 200.0, -250.0, -300.0, 800.0, -200.0, -0.3, 0.2, 1),
}


@pytest.fixture(params=[path.stem for path in installed()])
def library(request: pytest.FixtureRequest) -> Kernels:
    return loaded(next(path for path in installed() if path.stem == request.param))


def card(*, is_half: bool, alpha: float = 1.0) -> Texels:
    """Return a premultiplied card of one colour whose edge fades out over six texels, in a larger target."""
    y, x = np.mgrid[:ROWS, :COLUMNS]
    inset = np.minimum.reduce([x - 4, 37 - x, y - 3, 36 - y]).clip(0, 7)
    texels: npt.NDArray[np.float64] = (inset / 7)[..., None] * np.array((0.7, 0.2, 0.4, 1.0)) * alpha
    return texels.astype(np.float16).view(np.uint16) if is_half else texels.astype(np.float32)


def composited(
    kernels: Kernels,
    texels: Texels,
    quad: Matrix3,
    extents: Extents,
    opacity: float,
    grade: Grade | None,
    crop: UnitRect = CROP,
) -> npt.NDArray[np.uint16]:
    kind = HALF_CELLS if texels.dtype == np.uint16 else CELLS
    is_projective, steps = not matrix.is_affine(quad), () if grade is None else ("MATRIX",)
    variant, content = Variant(kind, 4, is_projective, grading=steps), Content(crop, texels=texels, extents=extents)
    to_unit = matrix.inverse(quad)
    assert to_unit is not None
    op = draw_op(variant, FRAME, content, opacity, References(grade=grade), matrix.folded_columns(quad, to_unit))
    noise = np.random.default_rng(3).random((FRAME.height, FRAME.width, 4)).astype(np.float16).view(np.uint16)
    found = np.zeros_like(noise)
    kernels.composite_linear(Backdrop(halves=noise, at=FRAME[:2]), DrawOps([op]), found, FRAME, 1)
    return found


@pytest.mark.parametrize("is_half", [False, True])
def test_extents_are_the_visible_texels_and_the_equal_ones_in_their_middle(library: Kernels, is_half: bool) -> None:
    texels, part = card(is_half=is_half), Region(0, 0, COLUMNS, ROWS)
    assert library.extents(texels, part) == (*VISIBLE, *FLAT)
    assert library.extents(texels, Region(0, 0, 20, ROWS)) == (5, 4, 20, 36, 11, 10, 20, 30)
    assert library.extents(np.zeros_like(texels), part) == NO_EXTENTS


def test_a_middle_of_several_colours_has_one_texel(library: Kernels) -> None:
    texels = np.random.default_rng(1).random((ROWS, COLUMNS, 4)).astype(np.float32)
    left, top, right, bottom = library.extents(texels, Region(0, 0, COLUMNS, ROWS))[4:]
    assert (right - left, bottom - top) == (1, 1)


@pytest.mark.parametrize("grade", [None, Grade(matrix=(0.5, 0.1, 0, 0.2, 0.9, 0, 0, 0.3, 0.8, 0.05, 0, 0.1))])
@pytest.mark.parametrize(("alpha", "opacity"), [(1.0, 1.0), (0.6, 1.0), (1.0, 0.7)])
@pytest.mark.parametrize("quad", QUADS)
@pytest.mark.parametrize("is_half", [False, True])
def test_known_extents_leave_the_bytes_unchanged(
    library: Kernels, is_half: bool, quad: str, alpha: float, opacity: float, grade: Grade | None
) -> None:
    texels = card(is_half=is_half, alpha=alpha)
    extents = library.extents(texels, Region(0, 0, COLUMNS, ROWS))
    known, unknown = (
        composited(library, texels, QUADS[quad], found, opacity, grade) for found in (extents, NO_EXTENTS)
    )
    assert np.array_equal(known, unknown)


def test_pixels_behind_the_horizon_of_a_plane_are_the_same_with_extents(library: Kernels) -> None:
    """The plane is seen from its edge: pixels beside it lie behind its horizon, where edges of texels change sides."""
    texels = np.zeros((ROWS, COLUMNS, 4), np.float32)
    texels[18:22, 15:31], texels[18:22, 31:37] = (0.7, 0.2, 0.4, 1.0), (0.35, 0.1, 0.2, 0.5)
    extents = library.extents(texels, Region(0, 0, COLUMNS, ROWS))
    quad = (101.25, 0.61, 179.15, 77.79, 37.03, 137.35, 0.56, 0.69, 1)
    known, unknown = (
        composited(library, texels, quad, found, 1.0, None, (16 / COLUMNS, 19 / ROWS, 28 / COLUMNS, 2 / ROWS))
        for found in (extents, NO_EXTENTS)
    )
    assert np.array_equal(known, unknown)


def test_texels_outside_the_extents_are_not_sampled(library: Kernels) -> None:
    """Other texels there do not change the picture."""
    texels = card(is_half=False)
    extents = library.extents(texels, Region(0, 0, COLUMNS, ROWS))
    expected = composited(library, texels, QUADS["in perspective"], extents, 1.0, None)
    left, top, right, bottom = FLAT
    other = texels.copy()
    other[top + 4 : bottom - 4, left + 4 : right - 4] = 0.3
    other[:, VISIBLE[2] + 4 :] = 0.3
    assert np.array_equal(composited(library, other, QUADS["in perspective"], extents, 1.0, None), expected)


def test_extents_are_found_when_a_second_frame_uses_a_target(software: Painter) -> None:
    texels = KernelTexels(software, loaded(installed()[-1]))
    crop = (0.0, 0.0, 1.0, 1.0)
    with software.pool.acquired(Region(0, 0, COLUMNS, ROWS), "f4") as target:
        target.texture.write(card(is_half=False).tobytes())
        for expected in (NO_EXTENTS, (*VISIBLE, *FLAT), (*VISIBLE, *FLAT)):
            texels.begin_frame()
            texels.of(target)
            assert texels.extents(target, crop) == expected
