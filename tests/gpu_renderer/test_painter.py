"""Set and copy parts of targets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.geometry.region import Rects, Region, outside
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import CHANNELS, Format, Target

pytestmark = pytest.mark.gl

HELD = Region(64, -20, 300, 200)
PARTS = (Region(70, 0, 1, 1), Region(100, 10, 90, 130), Region(300, 150, 500, 500))
DTYPES = {"f1": np.uint8, "f2": np.float16, "f4": np.float32}


def read(target: Target) -> npt.NDArray[np.generic]:
    components, dtype = CHANNELS[target.format]
    found = target.framebuffer.read(components=components, alignment=1, dtype=dtype)
    return np.frombuffer(found, DTYPES[dtype]).reshape(target.region.height, target.region.width, components)


def noise(painter: Painter, format: Format) -> Target:
    components, dtype = CHANNELS[format]
    target = painter.pool.take(HELD, format)
    values = np.random.default_rng(7).integers(0, 255, (HELD.height, HELD.width, components))
    target.texture.write(values.astype(DTYPES[dtype]).tobytes(), alignment=1)
    return target


def within(rects: Rects) -> npt.NDArray[np.bool_]:
    marked = np.zeros((HELD.height, HELD.width), bool)
    for part in rects:
        region = part.intersection(HELD)
        top, left = region.y - HELD.y, region.x - HELD.x
        marked[top : top + region.height, left : left + region.width] = True
    return marked


@pytest.mark.parametrize("format", CHANNELS)
def test_a_part_is_copied_value_by_value_and_nothing_else(painter: Painter, format: Format) -> None:
    source, into = noise(painter, format), painter.pool.take(HELD, format)
    for part in PARTS:
        painter.copy(source, into, part)
    expected = np.where(within(PARTS)[..., None], read(source), read(source).dtype.type(0))
    assert np.array_equal(read(into), expected)
    painter.pool.give_back(source, into)


@pytest.mark.parametrize("format", CHANNELS)
def test_a_part_is_copied_between_targets_of_different_parts_of_the_frame(painter: Painter, format: Format) -> None:
    source, into = noise(painter, format), painter.pool.take(Region(90, 0, 100, 300), format)
    painter.copy(source, into, Region(100, 10, 80, 500))
    found, expected = read(into), read(source)[30:200, 36:116]
    assert np.array_equal(found[10:180, 10:90], expected)
    found = found.copy()
    found[10:180, 10:90] = 0
    assert not found.any()
    painter.pool.give_back(source, into)


@pytest.mark.parametrize("rects", [PARTS, (HELD,), outside((HELD,), Region(100, 50, 10, 10))])
def test_restored_parts_hold_what_was_kept(painter: Painter, rects: Rects) -> None:
    source, into = noise(painter, "f2"), painter.pool.take(HELD, "f2")
    painter.restore(source, into, rects)
    assert np.array_equal(read(into)[within(rects)], read(source)[within(rects)])
    painter.pool.give_back(source, into)


@pytest.mark.parametrize("format", CHANNELS)
def test_erasing_parts_sets_what_erasing_all_sets_and_nothing_else(painter: Painter, format: Format) -> None:
    color = (0.123, 0.4, 0.6, 0.789)
    target, whole = noise(painter, format), painter.pool.take(HELD, format)
    before = read(target)
    painter.erase(target, PARTS, color)
    painter.erase(whole, HELD, color)
    assert np.array_equal(read(target), np.where(within(PARTS)[..., None], read(whole), before))
    assert np.allclose(
        read(whole)[0, 0] / (255 if format in ("f1", "a1") else 1), color[: read(whole).shape[2]], atol=0.002
    )
    painter.pool.give_back(target, whole)


def test_erasing_in_many_colours_one_after_another_sets_each(painter: Painter) -> None:
    target = painter.pool.take(HELD, "f1")
    for level in (*range(20), 3):
        painter.erase(target, PARTS, (level / 255, 0.0, 0.0, 1.0))
        assert tuple(read(target)[30, 60]) == (level, 0, 0, 255)
    painter.pool.give_back(target)
