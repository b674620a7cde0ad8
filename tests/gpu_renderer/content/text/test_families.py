"""Choice of a face for a family, weight and style (text.md 2)."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gpu_renderer.content.text.families import Fonts, NoFonts, Style
from gpu_renderer.content.text.folders import FontFolders, write_listing
from tests.gpu_renderer.fonts import FONTS, reference_fonts


def face_of(family: str, weight: float) -> tuple[str, int]:
    file = reference_fonts().chain(Style(family, weight, italic=False)).primary.face.file
    return file.family, file.weight


@pytest.mark.parametrize(("wanted", "got"), [(600, 700), (500, 400), (900, 700), (400, 400)])
def test_arial_comes_from_the_nearest_weight_of_liberation(wanted: float, got: int) -> None:
    assert face_of("Arial", wanted) == ("Liberation Sans", got)


@pytest.mark.parametrize(("wanted", "got"), [(450, 500), (550, 500), (600, 600), (100, 100), (980, 900)])
def test_weights_between_faces_go_to_the_nearest_in_the_font_matchers_scale(wanted: float, got: int) -> None:
    assert face_of("Inter", wanted) == ("Inter", got)


def test_a_family_that_is_not_installed_becomes_inter_and_is_named_once() -> None:
    fonts = reference_fonts().for_job()
    for weight in (400, 700):
        assert fonts.chain(Style("Nowhere Sans", weight, italic=False)).primary.face.file.family == "Inter"
    assert fonts.warnings == ("The font family 'Nowhere Sans' is not installed; 'Inter' stands in for it.",)


def test_jobs_keep_their_own_record_of_substitutions() -> None:
    reference_fonts().for_job().chain(Style("Nowhere Serif", 400, italic=False))
    assert reference_fonts().for_job().warnings == ()


def test_a_missing_italic_is_slanted() -> None:
    chain = reference_fonts().chain(Style("Noto Sans Armenian", 400, italic=True))
    assert chain.primary.slanted
    assert not reference_fonts().chain(Style("Inter", 400, italic=True)).primary.slanted


def test_characters_that_the_family_lacks_come_from_others() -> None:
    chain = reference_fonts().chain(Style("Inter", 700, italic=False))
    assert (
        chain.face_for("ש").face.file.family == "Noto Sans Hebrew"
        or chain.face_for("ש").face.file.family == "DejaVu Sans"
    )
    assert chain.face_for("😀").face.file.family == "Noto Color Emoji"
    assert chain.face_for("A").face.file.family == "Inter"


@pytest.mark.parametrize("cluster", ["x\u0331", "Z\u030c\u0331"])
def test_a_letter_goes_to_a_family_that_has_its_marks_too(cluster: str) -> None:
    """text.md 2.1: the shaper falls back for a whole cluster. Liberation Sans has no macron below."""
    chain = reference_fonts().chain(Style("Arial", 600, italic=False))
    assert chain.face_for(cluster[0]).face.file.family == "Liberation Sans"
    assert chain.face_for(cluster).face.file.family == "Inter"


@pytest.mark.parametrize("invisible", ["\u200c", "\u2060", "\u2066", "e\u0301"])
def test_characters_that_the_shaper_hides_or_composes_need_no_other_family(invisible: str) -> None:
    chain = reference_fonts().chain(Style("Arial", 600, italic=False))
    assert chain.face_for(invisible).face.file.family == "Liberation Sans"


def test_a_mark_that_no_font_has_beside_its_letter_is_named() -> None:
    fonts = Fonts(FontFolders(FONTS, ("reference",)).files())
    assert fonts.chain(Style("Inter", 400, italic=False)).face_for("x\U0001e8d0").face.file.family == "Inter"
    assert any("Mende Kikakui characters" in line for line in fonts.warnings)


def test_a_character_that_no_named_family_has_is_a_regular_face_made_bold_and_slanted() -> None:
    found = reference_fonts().chain(Style("Inter", 700, italic=True)).face_for("न")
    assert (found.face.file.family, found.face.file.weight) == ("Noto Sans Devanagari", 400)
    assert found.emboldened
    assert found.slanted


def test_thai_letters_are_those_without_loops() -> None:
    assert reference_fonts().chain(Style("Inter", 400, italic=False)).face_for("ก").face.file.family == "Noto Sans Thai"


def test_characters_that_inter_lacks_come_from_the_systems_sans_serif() -> None:
    assert reference_fonts().chain(Style("Inter", 400, italic=False)).face_for("♠").face.file.family == "DejaVu Sans"


@pytest.mark.parametrize("emoji", ["⚡", "⭐", "✨", "⛔", "✌", "☀\ufe0f", "🇩🇪", "👍🏽"])
def test_emoji_are_pictures(emoji: str) -> None:
    assert reference_fonts().chain(Style("Arial", 400, italic=False)).face_for(emoji).face.is_color


@pytest.mark.parametrize("sign", ["☀", "♥", "🅰", "🏷", "⏱", "⚡\ufe0e"])
def test_signs_that_unicode_presents_as_text_are_no_pictures(sign: str) -> None:
    assert not reference_fonts().chain(Style("Arial", 400, italic=False)).face_for(sign).face.is_color


def test_no_font_at_all_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoFonts, match=r"\./farm fonts"):
        Fonts(FontFolders(tmp_path).files())


def test_an_operators_folder_is_scanned_and_comes_first(tmp_path: Path) -> None:
    source = FONTS / "reference" / "fonts-liberation" / "LiberationSans-Bold.ttf"
    (tmp_path / "own.ttf").write_bytes(source.read_bytes())
    files = FontFolders(FONTS, ("reference",), (tmp_path,)).files()
    assert (files[0].path.name, files[0].family, files[0].weight) == ("own.ttf", "Liberation Sans", 700)
    assert files[0].covers(ord("A"))
    assert not files[0].covers(0x1F600)


def test_a_file_that_is_no_font_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"not a font")
    assert FontFolders(tmp_path / "none", (), (tmp_path,)).files() == ()


@pytest.mark.parametrize("table", [b"head", b"maxp", b"name", b"OS/2", b"cmap"])
@pytest.mark.parametrize("extra_bytes", [-1, 1, -40])
def test_a_damaged_font_hides_no_other_font(tmp_path: Path, table: bytes, extra_bytes: int) -> None:
    data = (FONTS / "reference" / "fonts-liberation" / "LiberationSans-Bold.ttf").read_bytes()
    at = data.index(table, 12) + 12  # the length of the table in the file's directory
    (length,) = struct.unpack_from(">I", data, at)
    (tmp_path / "damaged.ttf").write_bytes(data[:at] + struct.pack(">I", max(0, length + extra_bytes)) + data[at + 4 :])
    (tmp_path / "intact.ttf").write_bytes(data)
    files = FontFolders(tmp_path / "none", (), (tmp_path,)).files()
    assert files[-1].path.name == "intact.ttf"


def test_a_listing_says_the_same_as_scanning(tmp_path: Path) -> None:
    source = FONTS / "reference" / "fonts-liberation" / "LiberationMono-Regular.ttf"
    (tmp_path / source.name).write_bytes(source.read_bytes())
    scanned = FontFolders(tmp_path, (), (tmp_path,)).files()
    write_listing(tmp_path)
    assert FontFolders(tmp_path, (), (tmp_path,)).files() == scanned
