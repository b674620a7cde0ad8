"""Glyphs of a line, from left to right."""

from __future__ import annotations

import pytest

from gpu_renderer.content.text.bidi import levels, visual_order
from gpu_renderer.content.text.families import Style
from gpu_renderer.content.text.shaping import NO_LIGATURES, clusters, shaped, shaped_width
from tests.gpu_renderer.fonts import reference_fonts


def starts(text: str) -> list[int]:
    return [glyph.start for glyph in shaped(text, reference_fonts().chain(Style("Inter", 400, italic=False)))]


def test_latin_runs_forward() -> None:
    assert starts("ab c") == [0, 1, 2, 3]


def test_hebrew_runs_backward_inside_a_latin_line() -> None:
    assert starts("a שלום b") == [0, 1, 5, 4, 3, 2, 6, 7]


def test_numbers_inside_hebrew_keep_their_order() -> None:
    assert levels("ש12") == [1, 2, 2]
    assert starts("ש12") == [1, 2, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("א (ב)", [1, 1, 1, 1, 1]),
        ("(א) a", [0, 1, 0, 0, 0]),
        ("א (a)", [1, 0, 0, 0, 0]),
        ("א [a ב] ג", [1, 0, 0, 0, 0, 1, 0, 0, 1]),
        ("١ (א)", [2, 1, 1, 1, 1]),
        ("א (ב)\u0301", [1, 1, 1, 1, 1, 1]),
        ("א (ב", [1, 1, 1, 1]),
        ("א ב)", [1, 1, 1, 0]),
    ],
)
def test_both_brackets_of_a_pair_have_the_direction_of_what_they_hold_or_follow(text: str, expected: list[int]) -> None:
    assert levels(text) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u05d0[()\u05d0]", "]\u05d0)([\u05d0"),  # a pair inside a pair
        ("\u05d0[1(]", "](1[\u05d0"),  # an opening bracket without its pair inside one
        ("\u05d0[1]\u0301", "\u0301]1[\u05d0"),  # a mark on a bracket
        ("\u05d01)2(3", "3(2)1\u05d0"),  # brackets that face away from each other
    ],
)
def test_brackets_stand_where_unicodes_algorithm_puts_them(text: str, shown: str) -> None:
    """UAX 9, N0: the orders are those of the crate unicode-bidi."""
    assert "".join(text[index] for index in visual_order(levels(text))) == shown


def test_a_line_of_hebrew_ends_at_the_left_with_its_bracket() -> None:
    assert starts("א (ב)") == [4, 3, 2, 1, 0]


def test_arabic_letters_join() -> None:
    chain = reference_fonts().chain(Style("Inter", 400, italic=False))
    alone = {glyph.glyph for letter in "سلام" for glyph in shaped(letter, chain)}
    joined = {glyph.glyph for glyph in shaped("سلام", chain)}
    assert not joined & alone or joined != alone


def test_runs_are_reordered_by_level() -> None:
    assert visual_order([0, 1, 0]) == [0, 1, 2]
    assert visual_order([1, 2, 1]) == [2, 1, 0]


def test_ligatures_are_off_when_letters_are_spaced() -> None:
    chain = reference_fonts().chain(Style("DejaVu Sans", 400, italic=False))
    assert len(shaped("fi", chain)) == 1
    assert len(shaped("fi", chain, off=NO_LIGATURES)) == 2


def test_spaced_letters_have_no_contextual_forms() -> None:
    chain = reference_fonts().chain(Style("Inter", 400, italic=False))
    alone = [shaped(sign, chain)[0].glyph for sign in "->"]
    assert [glyph.glyph for glyph in shaped("->", chain)] != alone  # an arrow
    assert [glyph.glyph for glyph in shaped("->", chain, off=NO_LIGATURES)] == alone


@pytest.mark.parametrize(
    ("text", "spaces"),
    [
        ("ab", 2),
        ("مرحبا", 0),
        ("e\u0301x", 2),
        ("a\u200bb", 2),
        ("so\u00adft", 4),
        ("a\x01\x85b", 4),
        ("a\u200db", 2),
        ("שלום", 4),
    ],
)
def test_letter_spacing_leaves_joined_letters_marks_and_invisible_characters_alone(text: str, spaces: int) -> None:
    chain = reference_fonts().chain(Style("DejaVu Sans", 400, italic=False))
    assert sum(glyph.is_spaced for glyph in shaped(text, chain, off=NO_LIGATURES)) == spaces


@pytest.mark.parametrize(("text", "spaces"), [("نص-نص", 0), ("نص/نص", 0), ("نص (نص) نص", 2), ("נץ-נץ", 5)])
def test_letter_spacing_leaves_signs_in_words_of_joined_letters_alone(text: str, spaces: int) -> None:
    """Measured in Chromium: a sign has the script of its word, even if its glyph is from another face. Spaces get
    letter spacing."""
    chain = reference_fonts().chain(Style("Arial", 400, italic=False))
    assert sum(glyph.is_spaced for glyph in shaped(text, chain, off=NO_LIGATURES)) == spaces


def test_marks_skin_tones_joined_emoji_and_flags_stay_with_their_base() -> None:
    text = "e\u0301👍🏽👩\u200d🚀🇩🇪🇫🇷x"
    assert list(clusters(text)) == ["e\u0301", "👍🏽", "👩\u200d🚀", "🇩🇪", "🇫🇷", "x"]


def test_tabs_and_returns_are_spaces() -> None:
    chain = reference_fonts().chain(Style("Inter", 400, italic=False))
    assert [glyph.glyph for glyph in shaped("a\tb\r", chain)] == [glyph.glyph for glyph in shaped("a b ", chain)]


@pytest.mark.parametrize("char", "\u00ad\u200b\u200e\u200f\ufeff")
def test_a_canvas_does_not_kern_over_some_invisible_characters(char: str) -> None:
    """Widths in Chromium at 100 px. An SVG document kerns over these characters; both kern over a word joiner."""
    chain = reference_fonts().chain(Style("Arial", 400, italic=False))
    assert shaped_width(shaped(f"A{char}V", chain), 100) == pytest.approx(133.40, abs=0.01)
    assert shaped_width(shaped("A\u2060V", chain), 100) == pytest.approx(125.98, abs=0.01)


@pytest.mark.parametrize(
    ("size", "width"), [(32.0, 1918436 / 65536), (32.01, 1918436 / 65536), (300.0, 2576 * 300 / 2816)]
)
def test_letters_advance_as_freetype_rounds_them(size: float, width: float) -> None:
    """An M of Inter Bold is 2576 of 2816 units wide. FreeType's scale at 32 px is 47663/65536 of 1/64 px a unit."""
    chain = reference_fonts().chain(Style("Inter", 700, italic=False))
    assert shaped_width(shaped("M", chain), size) == pytest.approx(width, abs=1e-9)


def test_an_svg_document_kerns_over_invisible_characters_and_with_spaces() -> None:
    chain = reference_fonts().chain(Style("Arial", 400, italic=False))
    whole = shaped("A\u200bV", chain, by_words=False)
    assert shaped_width(whole, 100) == pytest.approx(125.98, abs=0.01)
    apart, joined = (shaped_width(shaped("A T", chain, by_words=by_words), 100) for by_words in (True, False))
    assert apart - joined == pytest.approx(7.37, abs=0.1)  # text.md 10.2: 7.3 % of an em


def test_words_of_an_svg_document_keep_their_places_and_scripts() -> None:
    chain = reference_fonts().chain(Style("DejaVu Sans", 400, italic=False))
    for text in ("ab Жд cd", "a שלום עולם b", "نص (نص) نص", "12 ab"):
        assert {glyph.start for glyph in shaped(text, chain, by_words=False)} <= set(range(len(text)))
    assert [glyph.start for glyph in shaped("a של בג", chain, by_words=False)] == [0, 1, 6, 5, 4, 3, 2]
    spaced = [glyph for glyph in shaped("نص (نص) نص", chain, off=NO_LIGATURES, by_words=False) if glyph.is_spaced]
    assert len(spaced) == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("abc", [2, 2, 2]),
        ("a b!", [2, 2, 2, 1]),
        ("ש!", [1, 1]),
        ("a ש 12.", [2, 1, 1, 1, 2, 2, 1]),
        ("a (ש)", [2, 1, 1, 1, 1]),
        ("ש (a)", [1, 1, 1, 2, 1]),
        ("a (b) c", [2, 2, 2, 2, 2, 2, 2]),
    ],
)
def test_levels_in_a_line_from_right_to_left(text: str, found: list[int]) -> None:
    assert levels(text, "R") == found


def test_a_line_from_right_to_left_ends_at_the_left() -> None:
    chain = reference_fonts().chain(Style("Inter", 400, italic=False))
    assert [glyph.start for glyph in shaped("ab של!", chain, by_words=False, base="R")] == [5, 4, 3, 2, 0, 1]


@pytest.mark.parametrize("control", ["\x01", "\x1f"])
def test_control_characters_are_the_boxes_of_the_first_family(control: str) -> None:
    """Measured in Chromium: it does not look for them in other families, some of which draw nothing for them."""
    chain = reference_fonts().chain(Style("Inter", 600, italic=False))
    (glyph,) = shaped(control, chain)
    assert (glyph.styled, glyph.glyph) == (chain.primary, 0)
    assert glyph.width(48) > 10
