"""Live booleans (layers.md 4.5)."""

from __future__ import annotations

import math

import pytest

from motion.formulas.booleans import CombinedOutline, Operation, Rings, combine, operand
from motion.snapshot import PathPoint, Run

IDENTITY = (1.0, 0.0, 0.0, 1.0)


def rectangle(x: float, y: float, width: float, height: float) -> Rings:
    rings = operand("rect", width, height, (), (*IDENTITY, x, y))
    assert rings is not None
    return rings


def combined(operation: Operation, *operands: Rings) -> CombinedOutline:
    result = combine(operation, operands)
    assert result is not None
    return result


def area(result: CombinedOutline) -> float:
    points = result.run.points
    return abs(sum(a.x * b.y - b.x * a.y for a, b in zip(points, points[1:] + points[:1], strict=True)) / 2)


def test_the_common_part_of_two_rectangles_lies_where_they_overlap() -> None:
    result = combined("intersect", rectangle(10, 10, 100, 50), rectangle(60, 10, 100, 50))
    placed = (result.x, result.y, result.width, result.height)
    assert placed == pytest.approx((35, 10, 50, 50))
    assert len(result.run.points) == 4


@pytest.mark.parametrize(
    ("operation", "expected"), [("union", 13_750), ("subtract", 8_750), ("intersect", 1_250), ("exclude", 8_750)]
)
def test_areas_of_crossing_squares(operation: Operation, expected: float) -> None:
    result = combined(operation, rectangle(0, 0, 100, 100), rectangle(50, 50, 100, 50))
    assert area(result) == pytest.approx(expected)


def test_edges_that_lie_on_each_other_are_one() -> None:
    result = combined("union", rectangle(0, 0, 100, 100), rectangle(100, 0, 100, 100), rectangle(50, 0, 40, 100))
    assert area(result) == pytest.approx(20_000)
    assert result.width == pytest.approx(200)


def test_a_hole_is_lost_because_only_the_largest_ring_stays() -> None:
    result = combined("subtract", rectangle(0, 0, 100, 100), rectangle(0, 0, 20, 20))
    assert area(result) == pytest.approx(10_000)


def test_touching_corners_do_not_join_two_rings() -> None:
    result = combined("exclude", rectangle(0, 0, 100, 100), rectangle(50, 50, 100, 100))
    assert area(result) == pytest.approx(7_500)


def test_the_first_operand_loses_all_the_others() -> None:
    result = combined("subtract", rectangle(0, 0, 100, 100), rectangle(-50, 0, 50, 200), rectangle(50, 0, 50, 200))
    assert (result.width, area(result)) == pytest.approx((50, 5_000))


def test_ellipses_are_turned_scaled_and_placed_as_polygons_of_32() -> None:
    world = (0.0, 2.0, -2.0, 0.0, 7.0, 8.0)
    rings = operand("ellipse", 10, 20, (), world)
    assert rings is not None
    assert len(rings[0]) == 32
    assert rings[0][0] == pytest.approx((7, 18))


def test_open_paths_are_no_operands() -> None:
    run = Run((PathPoint(0, 0, 0, 0, 0, 0), PathPoint(9, 0, 9, 0, 9, 0), PathPoint(0, 9, 0, 9, 0, 9)), closed=False)
    assert operand("path", 10, 10, (run,), (*IDENTITY, 0, 0)) is None
    assert operand("path", 10, 10, (), (*IDENTITY, 0, 0)) is None


def test_nothing_left_or_too_few_operands_give_none() -> None:
    assert combine("intersect", (rectangle(0, 0, 10, 10), rectangle(50, 0, 10, 10))) is None
    assert combine("union", (rectangle(0, 0, 10, 10),)) is None
    assert combine("union", (rectangle(0, 0, 0, 0), rectangle(0, 0, 0, 0))) is None
    assert combine("union", (rectangle(math.inf, 0, 9, 9), rectangle(0, 0, 9, 9))) is None


def test_many_turned_ellipses_join_into_one_ring() -> None:
    operands = []
    for i in range(8):
        c, s = math.cos(i / 8 * math.pi), math.sin(i / 8 * math.pi)
        rings = operand("ellipse", 200, 40, (), (c, s, -s, c, 100.0, 50.0))
        assert rings is not None
        operands.append(rings)
    result = combined("union", *operands)
    assert (result.x, result.y) == pytest.approx((100, 50), abs=0.5)
    assert 10_000 < area(result) < math.pi * 100 * 100


@pytest.mark.parametrize("operation", ["union", "subtract", "intersect", "exclude"])
@pytest.mark.parametrize("side", [1e-320, 1e-160, 1.0, 1e13, 1e160, 1e300])
@pytest.mark.parametrize("apart", [0.0, 1e9, 1e300])
def test_outlines_of_any_size_and_distance_are_combined_or_give_none(
    operation: Operation, side: float, apart: float
) -> None:
    result = combine(operation, (rectangle(0, 0, side, side), rectangle(apart, side / 2, side, side)))
    assert result is None or math.isfinite(result.x + result.width)
