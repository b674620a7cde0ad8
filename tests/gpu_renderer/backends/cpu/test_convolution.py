"""Convolution of targets by native kernels: each library gives the bytes of the formula and of the shader."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.effects.blur_passes import blurred, convolved, halved, mip_blurred
from gpu_renderer.effects.blur_weights import reference_gaussian
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.loading import installed, loaded
from gpu_renderer.kernels.windows import TAPS_MAX, Taps, WindowKernels
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.rounding import CUT, half_store
from gpu_renderer.opengl.targets import Format, Target

Halves = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float32]
PARTS = (Region(0, 0, 70, 9), Region(-9, -4, 100, 20), Region(5, 2, 30, 3), Region(90, 30, 4, 4))


@pytest.fixture(scope="module", params=range(len(installed())), ids=lambda index: installed()[index].stem)
def windows(request: pytest.FixtureRequest) -> WindowKernels:
    return loaded(installed()[request.param]).windows


def light(shape: tuple[int, ...]) -> Halves:
    """Return half floats of many magnitudes. Some colours exceed their alpha."""
    chance = np.random.default_rng(shape[1])
    size = chance.choice(np.array([0.0, 1e-6, 1e-3, 1.0, 3.0]), shape)
    return np.asarray(chance.random(shape) * size, np.float16).view(np.uint16)


def taps(*weights: float) -> Taps:
    places = np.flatnonzero(weights).astype(np.int32)
    return np.array(weights, np.float32)[places], places


def cut(numbers: Floats) -> Floats:
    """Round numbers to half floats, towards zero."""
    near = numbers.astype(np.float16)
    near[np.abs(near.astype(np.float32)) > np.abs(numbers)] = np.nextafter(
        near[np.abs(near.astype(np.float32)) > np.abs(numbers)], np.float16(0)
    )
    return near.astype(np.float32)


def summed(pixels: Floats, axis: int, kernel: Taps, first: int, count: int, *, repeats_edge: bool) -> Floats:
    """Apply the formula along an axis: add both sides of each distance before weighting them, the nearest first."""
    if pixels.ndim == 3:
        pixels = np.minimum(pixels, pixels[..., 3:])
    places, side = first + np.arange(count), pixels.shape[axis]

    def at(distance: int) -> Floats:
        asked = places + distance
        held = np.take(pixels, np.clip(asked, 0, side - 1), axis)
        inside = ((asked >= 0) & (asked < side)) | repeats_edge
        shape = [count if each == axis else 1 for each in range(pixels.ndim)]
        return np.where(inside.reshape(shape), held, np.float32(0))

    weights, distances = kernel
    found: Floats = np.asarray(weights[0] * at(0), np.float32)
    for weight, distance in zip(weights[1:], distances[1:], strict=True):
        found += weight * (at(distance) + at(-distance))
    return found


@pytest.mark.parametrize("is_half", [True, False])
@pytest.mark.parametrize("channels", [(4,), ()])
def test_a_convolution_is_that_of_the_formula(windows: WindowKernels, channels: tuple[int, ...], is_half: bool) -> None:
    kernels = taps(1.0), taps(0.4, 0.2, 0.1), taps(0.3, 0.0, 0.0, 0.2, 0.0, 0.15)
    for shape, part, repeats_edge in product(((9, 70), (1, 1), (150, 5)), PARTS, (False, True)):
        texels = light((*shape, *channels))
        for across, down in product(kernels, kernels):
            pixels = texels.view(np.float16).astype(np.float32)
            wanted = cut(summed(pixels, 1, across, part.x, part.width, repeats_edge=repeats_edge))
            wanted = summed(wanted, 0, down, part.y, part.height, repeats_edge=repeats_edge)
            found = windows.convolved(
                texels, part, across, down, repeats_edge=repeats_edge, is_half=is_half, thread_count=3
            )
            shown = found.view(np.float16).astype(np.float32) if is_half else found
            np.testing.assert_array_equal(shown, cut(wanted) if is_half else wanted)


def target_of(painter: Painter, region: Region, format: Format) -> Target:
    target = painter.pool.take(region, format, clear=False)
    target.texture.write(light((region.height, region.width, *((4,) if format == "f2" else ()))), alignment=1)
    return target


@pytest.mark.gl
@pytest.mark.parametrize(("source_format", "format"), [("f2", "f2"), ("f2", "a2"), ("a2", "a2")])
@pytest.mark.parametrize("sigma", [0.8, 5.0, 40.0])
def test_a_blur_has_the_bytes_of_the_shader(
    painter: Painter, sigma: float, source_format: Format, format: Format
) -> None:
    if not painter.is_software:
        pytest.skip("blurs run on the GPU")
    if half_store(painter) != CUT:
        pytest.skip("the driver does not cut half floats: the kernel's last bit is another one")
    kernel, region = reference_gaussian(sigma), Region(-20, 3, 130, 60)
    for clear_outside in (False, True):
        source = target_of(painter, Region(-3, 7, 97, 41), source_format)
        rows = Region(region.x, 7, region.width, 41)
        across = convolved(painter, source, kernel, 0, region=rows, clear_outside=clear_outside, format=format)
        wanted = convolved(painter, across, kernel, 1, region=region, clear_outside=clear_outside)
        found = blurred(painter, source, kernel, region=region, clear_outside=clear_outside, format=format)
        np.testing.assert_array_equal(found.read(), wanted.read())
        painter.pool.give_back(source, across, wanted, found)


@pytest.mark.gl
def test_a_blur_into_a_larger_target_of_floats_is_not_rounded(painter: Painter) -> None:
    source, region = target_of(painter, Region(0, 0, 50, 30), "f2"), Region(-2, -1, 60, 40)
    halves = mip_blurred(painter, source, (5.0, 3.0), 1, region)
    room = painter.pool.take(Region(-2, -1, 64, 64), "f4")
    floats = mip_blurred(painter, source, (5.0, 3.0), 1, region, into=room).read()[:40, :60]
    np.testing.assert_allclose(floats, halves.read().view(np.float16), rtol=2**-10, atol=2**-23)
    assert np.any(floats != floats.astype(np.float16))
    painter.pool.give_back(source, halves, room)


@pytest.mark.gl
@pytest.mark.parametrize("down", [250.0, 700.0, 2000.0])
def test_a_blur_of_a_small_picture_can_be_much_wider_along_one_axis(painter: Painter, down: float) -> None:
    """A thin plane is stretched much more down than across. The smaller sigma decides the size of the cells."""
    source = painter.pool.take(Region(0, 0, 64, 1024), "f2")
    card = np.zeros((1024, 64, 4), np.float16)
    card[300:600, 24:40] = 1
    source.texture.write(card.tobytes())
    small = halved(painter, source, 2)
    wanted = blurred(painter, source, reference_gaussian(10.0), reference_gaussian(down))
    found = mip_blurred(painter, small, (10.0, down), 2, Region(0, 0, 16, 256))
    cells = wanted.read().view(np.float16).astype(float).reshape(256, 4, 16, 4, 4).mean(axis=(1, 3))
    difference = np.abs(found.read().view(np.float16) - cells) / cells.max()
    assert difference.max() < 0.04 and difference.mean() < 0.01
    painter.pool.give_back(source, small, wanted, found)


def test_a_kernel_of_too_many_weights_is_refused(windows: WindowKernels) -> None:
    with pytest.raises(ValueError, match=f"more than {TAPS_MAX} weights"):
        windows.convolved(light((9, 70)), PARTS[0], taps(1.0), taps(*[1.0] * (TAPS_MAX + 1)), repeats_edge=True)
