"""Code point by code point: text.md 4.2, 5, 7.3 and 8."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpu_renderer.content.text.glyph_layout import GlyphPlace, glyph_places, glyph_styles
from gpu_renderer.content.text.lines import line_width, measured_box
from gpu_renderer.content.text.text_path import ArcPath
from gpu_renderer.content.text.text_raster import fill_color, padding, spread
from gpu_renderer.geometry.color import Rgba
from motion.snapshot import GlyphPose, PathPoint, TextPath, TextRun, TextSource, TextStyle
from tests.gpu_renderer.fonts import reference_fonts, text

MONO = TextStyle(family="Liberation Mono", size=40, weight=400, letter_spacing=4)
CELL = 24.00390625
"""Character width of the monospaced face at 40 px: 0.6001 em."""


def places(source: TextSource, width: float = 200) -> list[GlyphPlace]:
    return glyph_places(source, (width, 100), reference_fonts())


def animated(content: str, align: str) -> TextSource:
    rest = tuple(GlyphPose() for _ in content)
    return text(content, MONO, align=align, paragraph_spacing=5.0, has_animators=True, poses=rest)


@pytest.mark.parametrize(
    ("align", "start"),
    [("left", -100.0), ("justify", -100.0), ("center", -(CELL + 4)), ("right", 100 - 2 * (CELL + 4)), ("odd", -100.0)],
)
def test_lines_start_at_the_edge_of_the_box_without_its_padding(align: str, start: float) -> None:
    a, b, _ = places(animated("AB\nC", align))
    assert [a.x, b.x] == pytest.approx([start + CELL / 2, start + CELL * 1.5 + 4])
    assert (a.y, b.y) == (-26.5, -26.5)


def test_one_big_run_spreads_all_lines() -> None:
    source = text("A\nB", MONO, runs=(TextRun(2, 3, size=80.0),))
    assert [place.y for place in places(source)] == [-48, 48]


def test_a_run_keeps_no_kerning_and_text_outside_one_does() -> None:
    style = TextStyle(weight=400)
    apart = sum(line_width(letter, style, reference_fonts()) for letter in "AV")
    inside = places(text("AV", style, runs=(TextRun(0, 2, fill="#fff"),)))
    beside = places(text("AVA", style, runs=(TextRun(2, 3, fill="#fff"),)))
    assert inside[0].advance + inside[1].advance == pytest.approx(apart)
    assert beside[0].advance + beside[1].advance == pytest.approx(61.637, abs=0.001)


def test_a_mark_takes_no_letter_spacing() -> None:
    style = TextStyle(family="DejaVu Sans", weight=400, letter_spacing=10)
    rest = (GlyphPose(),) * 3
    a, _, b = places(text("a\u0301b", style, has_animators=True, poses=rest))
    assert b.x - b.own_width / 2 == pytest.approx(
        a.x - a.own_width / 2 + line_width("a", style, reference_fonts()) + 10
    )


def test_later_runs_win_key_by_key() -> None:
    runs = (TextRun(0, 3, size=20.0, fill="red"), TextRun(1, 2, fill="blue"))
    found = glyph_styles(4, TextStyle(), runs)
    assert [(style.size, style.fill, in_run) for style, in_run in found] == [
        (20.0, "red", True),
        (20.0, "blue", True),
        (20.0, "red", True),
        (TextStyle().size, TextStyle().fill, False),
    ]


def test_a_static_newline_in_animated_text_advances_like_a_space() -> None:
    """The drawn character is the static one, and a canvas treats a newline as a space (animation.md 7.3, text.md 1)."""
    style = TextStyle(family="Inter", size=40, weight=700)
    rest = (GlyphPose(),) * 3
    broken, spaced = (
        places(text("xyz", style, measured_content=static, has_animators=True, poses=rest))
        for static in ("a\nb", "a b")
    )
    assert [(place.character, place.x) for place in broken] == [(place.character, place.x) for place in spaced]


def test_animated_text_draws_the_static_characters() -> None:
    source = text("XYZ", MONO, measured_content="ab", has_animators=True, poses=(GlyphPose(), GlyphPose(character="q")))
    assert [place.character for place in places(source)] == ["a", "q", "Z"]


def test_tracking_moves_what_follows() -> None:
    source = text("AB", MONO, has_animators=True, poses=(GlyphPose(tracking=10), GlyphPose()))
    a, b = places(source)
    assert b.x - a.x == pytest.approx(CELL + 4 + 10)


def test_colours_mix_only_between_six_digits() -> None:
    pose = GlyphPose(color="#ff0000", color_mix=0.5)
    mixed = GlyphPlace("A", "A", TextStyle(fill="#000000"), False, pose)
    outright = GlyphPlace("A", "A", TextStyle(fill="#000000ff"), False, pose)
    assert fill_color(mixed) == Rgba(128 / 255, 0, 0)
    assert fill_color(outright) == Rgba(1, 0, 0)


def test_the_spread_of_a_pose_is_the_padding() -> None:
    pose = GlyphPose(dy=-40, scale_x=2.2, scale_y=2.2)
    assert spread(pose, 48) == pytest.approx(68.8)
    source = text("A", has_animators=True, poses=(pose,))
    assert padding(source, measured_box(source, reference_fonts())) == 70


def corner(x: float, y: float) -> PathPoint:
    return PathPoint(x, y, x, y, x, y)


LINE = TextPath((corner(-50, 0), corner(50, 0)), closed=False, first_margin=0, reversed=False, perpendicular=True)


def test_an_open_path_goes_on_straight_beyond_its_ends() -> None:
    path = ArcPath.of(LINE)
    assert path.length == 100
    assert path.at(120) == (70, 0, 0)
    assert path.at(-10) == (-60, 0, 0)


def test_a_closed_path_wraps() -> None:
    square = TextPath((corner(0, 0), corner(10, 0), corner(10, 10), corner(0, 10)), True, 0, False, True)
    assert ArcPath.of(square).at(45) == (5, 0, 0)


def test_a_path_is_as_large_as_its_expanded_mask() -> None:
    square = TextPath((corner(0, 0), corner(10, 0), corner(10, 10), corner(0, 10)), True, 0, False, True, expansion=5)
    path = ArcPath.of(square)
    assert path.length == pytest.approx(4 * (10 + 2 * 5 / math.sqrt(2)))
    assert path.at(0)[:2] == pytest.approx((-5 / math.sqrt(2), -5 / math.sqrt(2)))


def test_centred_text_lies_around_the_middle_of_the_path() -> None:
    a, b = places(text("AB", MONO, align="center", path=LINE))
    assert (a.x + b.x) / 2 == pytest.approx(-2)
    assert (a.y, a.angle) == (0, 0)


def test_text_on_a_reversed_path_is_upside_down_from_the_other_end() -> None:
    backward = TextPath(LINE.points, False, 5, True, True)
    (a,) = places(text("A", MONO, path=backward))
    assert a.x == pytest.approx(50 - 5 - CELL / 2)
    assert a.angle == 180


def test_lines_on_a_path_stand_beside_each_other_across_its_heading() -> None:
    """text.md 8: "Glyph centre = point + (line y) (direction heading + 90)"."""
    path = TextPath(
        (corner(30, -100), corner(30, 100)), closed=False, first_margin=0, reversed=False, perpendicular=True
    )
    down, up = (
        places(text("A\nB", MONO, path=replace(path, reversed=backward), line_height=1.0, paragraph_spacing=0.0))
        for backward in (False, True)
    )
    for place, offset in zip(down, (20, -20), strict=True):
        assert (place.x, place.y, place.angle) == pytest.approx((30 + offset, -100 + CELL / 2, 90))
    for place, offset in zip(up, (-20, 20), strict=True):
        assert (place.x, place.y, place.angle) == pytest.approx((30 + offset, 100 - CELL / 2, 270))
