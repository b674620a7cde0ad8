"""Areas: marked tiles of a frame, as rectangles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from gpu_renderer.geometry import damage
from gpu_renderer.geometry.region import Rects, Region

FRAME = Region(0, 0, 500, 300)
regions = st.builds(Region, st.integers(-50, 520), st.integers(-50, 320), st.integers(-5, 400), st.integers(-5, 300))


def counted(rects: Rects) -> npt.NDArray[np.int64]:
    """Return for each pixel of the frame how many rectangles contain it."""
    found = np.zeros((FRAME.height, FRAME.width), np.int64)
    for part in rects:
        assert part.intersection(FRAME) == part
        found[part.y : part.bottom, part.x : part.right] += 1
    return found


@given(st.lists(regions, max_size=12))
def test_the_parts_hold_every_marked_pixel_and_none_twice(marked: list[Region]) -> None:
    held = counted(damage.area(FRAME, marked).rects())
    wanted = counted(tuple(region.intersection(FRAME) for region in marked if not region.intersection(FRAME).is_empty))
    assert held.max(initial=0) <= 1
    assert held[wanted > 0].all()


@given(st.lists(regions, max_size=6), st.lists(regions, max_size=6))
def test_a_union_is_the_area_of_all_marks(some: list[Region], others: list[Region]) -> None:
    assert damage.area(FRAME, some).union(damage.area(FRAME, others)) == damage.area(FRAME, [*some, *others])


def test_marks_a_tile_apart_are_one_rectangle_and_farther_ones_two() -> None:
    near = damage.area(FRAME, [Region(10, 10, 20, 20), Region(70, 10, 20, 20)])
    assert near.rects() == (Region(10, 10, 80, 20),)
    far = damage.area(FRAME, [Region(10, 10, 20, 20), Region(210, 10, 20, 20)])
    assert len(far.rects()) == 2


def test_marks_that_step_aside_by_a_tile_are_one_rectangle_and_long_steps_are_not() -> None:
    steps = damage.area(FRAME, [Region(10, 10, 80, 20), Region(40, 40, 80, 20), Region(70, 70, 80, 20)])
    assert len(steps.rects()) == 1
    long_steps = damage.area(FRAME, [Region(0, 0, 250, 100), Region(250, 100, 250, 100)])
    assert set(long_steps.rects()) == {Region(0, 0, 256, 96), Region(0, 96, 500, 32), Region(224, 128, 276, 72)}


def test_one_mark_is_its_own_rectangle() -> None:
    assert damage.area(FRAME, [Region(70, 60, 9, 10)]).rects() == (Region(70, 60, 9, 10),)


def test_marks_in_far_corners_leave_the_middle_out() -> None:
    rects = damage.area(FRAME, [Region(0, 0, 10, 10), Region(490, 290, 10, 10)]).rects()
    assert counted(rects)[150, 250] == 0
    assert len(rects) == 2


def test_the_whole_frame_is_one_rectangle_and_nothing_is_none() -> None:
    assert damage.whole(FRAME).rects() == (FRAME,)
    assert damage.nothing(FRAME).is_empty
    assert damage.nothing(FRAME).rects() == ()
