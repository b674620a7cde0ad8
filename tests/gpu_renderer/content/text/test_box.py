"""Measured box and baseline: worked examples of text.md 3 and 10."""

from __future__ import annotations

import pytest

from gpu_renderer.content.text.families import Style
from gpu_renderer.content.text.lines import broken, line_width, measured_box
from motion.snapshot import TextStyle
from tests.gpu_renderer.fonts import reference_fonts, text

ARIAL_56 = TextStyle(family="Arial", size=56)


@pytest.mark.parametrize(
    ("content", "advance", "box"),
    [
        ("HELLO", 155.0458, (180, 74)),
        ("Hello", 118.364, (143, 74)),
        ("Motion", 161.881, (186, 74)),
        ("Your Headline Here", 445.501, (470, 74)),
    ],
)
def test_the_box_of_inter_is_the_advance_and_the_padding(
    content: str, advance: float, box: tuple[float, float]
) -> None:
    assert line_width(content, TextStyle(), reference_fonts()) == pytest.approx(advance, abs=0.002)
    assert measured_box(text(content), reference_fonts()) == box


@pytest.mark.parametrize(
    ("family", "size", "width"),
    [
        ("DejaVu Sans", 49.8, 48.50819),
        ("DejaVu Sans", 150.15, 146.23993),
        ("DejaVu Sans", 300.3, 292.51883),
        ("Inter", 28.4, 24.68076),
        ("Arial", 12.34, 10.26942),
        ("Arial", 40, 33.32031),
    ],
)
def test_an_m_of_a_fractional_size_is_as_wide_as_in_chromium(family: str, size: float, width: float) -> None:
    style = TextStyle(family=family, size=size, weight=400)
    assert line_width("m", style, reference_fonts()) == pytest.approx(width, abs=5e-4)


def test_an_emoji_is_as_wide_as_its_picture() -> None:
    assert line_width("😀", TextStyle(size=40), reference_fonts()) == pytest.approx(49.90825, abs=1e-3)


@pytest.mark.parametrize(
    ("content", "style", "line_height", "box"),
    [
        ("ÀÉÎõü ŁŻ ß", TextStyle("Times New Roman", 48, 900), 1.2, (275, 78)),
        ("ÀÉÎõü ŁŻ ß", TextStyle("DejaVu Sans Mono", 56, 500), 1.2, (362, 89)),
        ("e\u0301a\u0308o\u0302", TextStyle("DejaVu Sans", 24, 900, italic=True), 1.2, (73, 46)),
        ("Hello World", TextStyle("Arial", 1.920160233352871, 600, italic=True), 1.2, (36, 19)),
    ],
)
def test_accents_and_descenders_are_measured_on_hinted_glyphs(
    content: str, style: TextStyle, line_height: float, box: tuple[float, float]
) -> None:
    assert measured_box(text(content, style, line_height=line_height), reference_fonts()) == box


def test_the_ink_of_each_glyph_is_rounded_outward_before_the_box_is_measured() -> None:
    style = TextStyle(family="Inter", size=24, weight=700, italic=True)
    assert line_width("AVA To Wave", style, reference_fonts()) == pytest.approx(154.236, abs=0.001)
    assert measured_box(text("AVA To Wave", style), reference_fonts())[0] == 180


def test_arial_is_measured_with_the_bold_of_its_substitute() -> None:
    assert line_width("Motion", ARIAL_56, reference_fonts()) == pytest.approx(183.4766, abs=1e-4)
    assert measured_box(text("Motion", ARIAL_56), reference_fonts()) == (208, 84)


def test_paragraph_spacing_and_line_height_make_the_box_higher() -> None:
    source = text("Hello\nWorld", TextStyle(family="Arial", size=44), line_height=1.1, paragraph_spacing=6.0)
    assert measured_box(source, reference_fonts())[1] == 119


def test_an_empty_text_has_a_box_of_its_padding() -> None:
    assert measured_box(text(""), reference_fonts())[0] == 24


def test_a_line_height_of_zero_is_measured_as_the_default() -> None:
    assert measured_box(text("HELLO", line_height=0.0), reference_fonts()) == (180, 74)


def test_letter_spacing_stands_between_characters_in_the_box() -> None:
    spaced = TextStyle(letter_spacing=10)
    assert line_width("HELLO", spaced, reference_fonts()) == pytest.approx(155.0458 + 40, abs=0.002)


def test_kerning_stays() -> None:
    assert line_width("AV", TextStyle(weight=400), reference_fonts()) == pytest.approx(61.637, abs=0.001)


def test_words_are_shaped_apart_so_that_a_space_is_never_kerned() -> None:
    style = TextStyle(family="Liberation Sans", size=100, weight=400)
    parts = sum(line_width(part, style, reference_fonts()) for part in ("A", " ", "T"))
    assert line_width("A T", style, reference_fonts()) == pytest.approx(parts)


@pytest.mark.parametrize(
    ("family", "size", "shift"),
    [
        ("Inter", 48, 14.421875),
        ("Arial", 48, 13.234375),
        ("Liberation Serif", 48, 12.609375),
        ("Liberation Mono", 48, 12.703125),
        ("DejaVu Sans", 48, 12.46875),
        ("Inter", 129, 38.765625),
        ("Arial", 56, 15.4375),
        ("Arial", 31.5, 8.6875),
    ],
)
def test_the_baseline_lies_below_the_middle(family: str, size: float, shift: float) -> None:
    face = reference_fonts().chain(Style(family, 400, italic=False)).primary.face
    assert face.baseline_shift(size) == shift


def wrapped(content: str, width: float) -> list[str]:
    return broken(content, TextStyle(), width, reference_fonts())


def test_words_wrap_greedily_at_the_box_width() -> None:
    assert wrapped("Your Headline Here", 360) == ["Your Headline", "Here"]


def test_a_word_longer_than_the_box_overhangs() -> None:
    assert wrapped("Incomprehensibilities of", 60) == ["Incomprehensibilities", "of"]


def test_a_space_at_the_start_of_a_line_vanishes_and_one_at_its_end_stays() -> None:
    assert wrapped(" Your ", 1000) == ["Your "]


def test_point_text_breaks_only_at_newlines() -> None:
    assert broken("one two\nthree", TextStyle(), None, reference_fonts()) == ["one two", "three"]


def test_paragraph_text_is_as_wide_as_its_box_width_says() -> None:
    source = text("Your Headline Here", box_width=360.2)
    assert measured_box(source, reference_fonts()) == (385, 132)
