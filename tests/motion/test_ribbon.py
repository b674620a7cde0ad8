"""Worked examples of layers.md 7.2: tapered and waved strokes."""

from __future__ import annotations

import pytest

from motion.formulas.ribbon import is_ribbon, ribbons, width_factor
from motion.snapshot import PathPoint, Run, Taper, Wave


def line(*xs: float, closed: bool = False) -> Run:
    return Run(tuple(PathPoint(x, 0, x, 0, x, 0) for x in xs), closed)


def test_a_taper_has_the_stated_widths() -> None:
    taper = Taper(start_width=0, end_width=0.5, start_length=0.4, end_length=0.2, start_ease=0, end_ease=1)
    factors = [width_factor(taper, f) for f in (0, 0.1, 0.2, 0.5, 0.9, 1)]
    assert factors == pytest.approx([0, 0.25, 0.5, 1, 0.75, 0.5])


def test_only_a_taper_with_length_or_a_wave_with_height_makes_a_ribbon() -> None:
    assert not is_ribbon(Taper(start_width=0), None)
    assert not is_ribbon(Taper(start_length=0.5), Wave(0, 10, 0))
    assert is_ribbon(Taper(start_width=0, start_length=0.5), None)
    assert is_ribbon(None, Wave(3, 10, 0))


def test_a_taper_gives_one_outline_around_the_line() -> None:
    (outline,) = ribbons(line(0, 50, 100), 10, Taper(start_width=0, start_length=1))
    assert outline == ((0, 0), (50, 2.5), (100, 5), (100, -5), (50, -2.5), (0, 0))


def test_a_wave_moves_the_line_along_its_normals() -> None:
    (outline,) = ribbons(line(0, 25, 50, 75), 0, None, Wave(10, 100, 90))
    heights = {round(x): y for x, y in outline}
    assert [heights[x] for x in (0, 25, 50, 75)] == pytest.approx([10, 0, -10, 0], abs=1e-9)


def test_a_wave_is_subdivided_to_a_twelfth_of_its_length() -> None:
    (outline,) = ribbons(line(0, 120), 4, None, Wave(5, 120, 0))
    assert len(outline) == 2 * 13


def test_dashes_are_ribbons_of_their_own_with_the_width_of_their_place() -> None:
    taper = Taper(start_width=0, start_length=1)
    outlines = ribbons(line(0, 50, 100), 10, taper, None, dash=(20,), dash_offset=10)
    assert [(o[0][0], o[len(o) // 2 - 1][0]) for o in outlines] == [(0, 10), (30, 50), (70, 90)]
    assert outlines[1][0] == pytest.approx((30, 1.5))


def test_a_closed_run_gets_no_ribbon_on_its_closing_edge() -> None:
    square = Run(tuple(PathPoint(x, y, x, y, x, y) for x, y in ((0, 0), (9, 0), (9, 9), (0, 9))), closed=True)
    (outline,) = ribbons(square, 2, Taper(start_width=0.5, start_length=0.1))
    assert len(outline) == 8


def test_a_run_without_length_has_no_ribbon() -> None:
    assert ribbons(line(5, 5), 10, Taper(start_width=0, start_length=1)) == ()
    assert ribbons(line(), 10, None, Wave(1, 1e-9, 0)) == ()


def test_absurd_dashes_and_waves_stay_bounded() -> None:
    (outline,) = ribbons(line(0, 1e6), 10, None, Wave(1, 1e-6, 0), dash=(1e-9,))
    assert len(outline) < 100_000
