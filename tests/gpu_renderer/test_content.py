"""Public interface of contents: cached by value, limited by a budget, with warnings."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from PIL import Image

from gpu_renderer.content.contents import KEPT_MAX_BYTES, Contents
from gpu_renderer.content.library import MediaLibrary
from gpu_renderer.content.vector.mask import MaskRaster
from motion.snapshot import (
    AdjustmentSource,
    GlyphPose,
    ImageSource,
    LightWash,
    MaskPath,
    MaskPoint,
    Particle,
    ParticleSource,
    PathPoint,
    Run,
    ShapeSource,
    SolidPaint,
    Stroke,
    SvgSource,
    TextStyle,
    VideoSource,
)
from tests.gpu_renderer.fonts import reference_fonts, text

SQUARE = ShapeSource("rect", 20, 10, (SolidPaint("#ff0000"),))
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><foreignObject/></svg>'


def contents(folder: Path, kept_max_bytes: int = KEPT_MAX_BYTES, in_use_max_bytes: int = 0) -> Contents:
    fonts = reference_fonts().for_job()
    return Contents(fonts, MediaLibrary(lambda src: folder / src, fonts), kept_max_bytes, in_use_max_bytes)


def test_equal_sources_are_one_array(tmp_path: Path) -> None:
    door = contents(tmp_path)
    equal = ShapeSource("rect", 20, 10, (SolidPaint("#ff0000"),))
    assert door.raster(SQUARE, 2) is door.raster(equal, 2)
    assert door.raster(SQUARE, 2) is not door.raster(SQUARE, 4)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "BMP", "AVIF"])
def test_a_video_layer_shows_a_still_picture(tmp_path: Path, format: str) -> None:
    Image.new("RGB", (8, 4), (200, 100, 50)).save(tmp_path / "photo", format)
    door, source = contents(tmp_path), VideoSource("photo", 80, 40, 1.5)
    raster = door.raster(source, 1)
    assert raster is not None
    assert (raster.width, raster.height) == (80, 40)
    assert raster.pixels[2, 4].tolist() == pytest.approx([200, 100, 50, 255], abs=6)
    assert (door.footage(source), door.warnings) == (None, ())


def test_a_video_layer_shows_an_svg_document(tmp_path: Path) -> None:
    (tmp_path / "logo").write_text(SVG)
    assert contents(tmp_path).raster(VideoSource("logo", 80, 40, 0.0), 1) is not None


def test_the_painted_part_of_a_texts_box_is_known_with_a_pixel_around_it(tmp_path: Path) -> None:
    raster = contents(tmp_path).raster(text("mmm"), 2)
    assert raster is not None
    rows, columns = raster.pixels.shape
    left, top, width, height = (
        round(share * side) for share, side in zip(raster.content_box, (columns, rows) * 2, strict=True)
    )
    assert raster.pixels[top + 1 : top + height - 1, left + 1 : left + width - 1].sum() == raster.pixels.sum()
    assert raster.pixels[top + 1].any()
    assert raster.pixels[top + height - 2].any()
    assert height < rows / 2


def test_a_text_of_a_blank_that_is_no_space_inks_nothing(tmp_path: Path) -> None:
    raster = contents(tmp_path).raster(text("\u2800"), 2)
    assert raster is not None
    assert raster.content_box[2:] == (0, 0)


def test_a_picture_is_one_array_in_boxes_of_any_size(tmp_path: Path) -> None:
    door = contents(tmp_path)
    small, large = door.raster(SvgSource(SVG, 10, 10), 2), door.raster(SvgSource(SVG, 99, 50), 4)
    assert small is not None
    assert large is not None
    assert small.pixels is large.pixels
    assert (large.width, large.height, large.padding) == (99, 50, 0)


def test_the_least_recently_used_entry_is_dropped_first(tmp_path: Path) -> None:
    door = contents(tmp_path, kept_max_bytes=2 * 40 * 20)
    first = door.raster(SQUARE, 2)
    others = [ShapeSource("rect", 20, 10, (SolidPaint(color),)) for color in ("#00ff00", "#0000ff")]
    kept = door.raster(others[0], 2)
    door.raster(others[1], 2)
    assert door.raster(others[0], 2) is kept
    assert door.raster(SQUARE, 2) is not first


def test_contents_stay_above_the_budget_while_their_frames_or_document_are_drawn(tmp_path: Path) -> None:
    door = contents(tmp_path, kept_max_bytes=10, in_use_max_bytes=2 * 40 * 20)
    others = [ShapeSource("rect", 20, 10, (SolidPaint(color),)) for color in ("#00ff00", "#0000ff")]
    first, second = door.raster(SQUARE, 2), door.raster(others[0], 2)
    door.end_frame()
    assert (door.raster(SQUARE, 2), door.raster(others[0], 2)) == (first, second)
    assert door.raster(others[1], 2) is not None
    assert door.raster(SQUARE, 2) is not first, "three are above both budgets"
    first = door.raster(SQUARE, 2)
    for _ in range(2):
        door.end_frame()
    assert door.raster(SQUARE, 2) is not first
    first = door.raster(SQUARE, 2)
    door.end_use()
    assert door.raster(SQUARE, 2) is not first


def test_every_kind_of_source_has_a_box(tmp_path: Path) -> None:
    door = contents(tmp_path)
    assert door.box(SQUARE) == (20, 10)
    assert door.box(text("HELLO")) == (180, 74)
    assert door.box(LightWash("point", "#fff", 30, 0, 45, 50)) == (60, 60)
    assert door.box(AdjustmentSource()) == (0, 0)


def test_nothing_to_draw_is_no_raster(tmp_path: Path) -> None:
    door = contents(tmp_path)
    assert door.raster(text(" \n "), 2) is None
    assert door.raster(AdjustmentSource(), 2) is None
    assert door.raster(ImageSource("missing.png", 10, 10), 2) is None


def test_each_substitution_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(b"no picture")
    door = contents(tmp_path)
    for _ in range(2):
        door.raster(ImageSource("bad.png", 10, 10), 2)
        door.raster(text("A", TextStyle(family="Nowhere")), 2)
        door.raster(SvgSource(SVG, 10, 10), 2)
    assert door.warnings == (
        "The font family 'Nowhere' is not installed; 'Inter' stands in for it.",
        "The SVG element <foreignObject> is not drawn.",
        "bad.png: A picture cannot be read.",
    )


def test_masks_are_kept_too(tmp_path: Path) -> None:
    door = contents(tmp_path)
    corners = tuple(MaskPoint(x, y, x, y, x, y) for x, y in ((-5, -5), (5, -5), (5, 5)))
    mask, raster = MaskPath("m", "add", corners), MaskRaster(20, 10, 2)
    assert door.mask([mask], raster) is door.mask([mask], raster)


def test_a_very_long_text_is_cut_and_reported(tmp_path: Path) -> None:
    door = contents(tmp_path)
    source = text("word " * 800_000, box_width=400.0)
    width, height = door.box(source)
    assert width == 424
    assert height < 1e7
    assert door.raster(source, 2) is not None
    assert any("characters" in line for line in door.warnings)


ABSURD = (0.0, -5.0, 1e9, 1e300, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("number", ABSURD)
def test_absurd_numbers_are_drawn_within_limits_or_said_to_be_skipped(tmp_path: Path, number: float) -> None:
    pose = GlyphPose(blur=number, scale_x=number, stroke_width=number)
    style = TextStyle(size=number)
    corners = tuple(PathPoint(*[number * sign] * 6) for sign in (0, 1, -1))
    sources = (
        ShapeSource(
            "rect", number, 10, (SolidPaint("red"),), strokes=(Stroke(SolidPaint("red"), number, dash=(number,)),)
        ),
        ShapeSource("path", 10, 10, (SolidPaint("red"),), runs=(Run(corners, closed=True),)),
        text("A", style),
        text("A", TextStyle(letter_spacing=number), line_height=number),
        text("A B", box_width=number),
        text("A", has_animators=True, poses=(pose,)),
        ParticleSource(number, 10, "circle", True, (Particle(number, 0, number, "red", number, 0),)),
    )
    door = contents(tmp_path)
    for source in sources:
        drawn = door.raster(source, 2)
        assert drawn is None or max(drawn.pixels.shape) <= 16384
        door.box(source)


@pytest.mark.parametrize("number", ABSURD)
def test_absurd_masks_are_covered_within_limits(tmp_path: Path, number: float) -> None:
    corners = tuple(MaskPoint(x, y, x, y, x, y) for x, y in ((-5, -5), (number, -5), (5, 5)))
    mask = MaskPath("m", "add", corners, feather=number, expansion=number, opacity=number)
    assert contents(tmp_path).mask([mask], MaskRaster(20, 10, 2)).shape == (20, 40)


def test_a_live_svg_layer_is_played_and_says_what_is_not(tmp_path: Path) -> None:
    held = contents(tmp_path)
    animate = '<animate attributeName="fill" values="red;blue" calcMode="discrete" dur="2s"/>'
    markup = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><style>@keyframes a{}</style>'
        f'<rect width="8" height="8">{animate}</rect></svg>'
    )
    found = [held.raster(SvgSource(markup, 8, 8, time=time), 1.0) for time in (0.5, 1.5)]
    assert [raster.pixels[9, 9].tolist() for raster in found if raster] == [[255, 0, 0, 255], [0, 0, 255, 255]]
    assert len([line for line in held.warnings if "not played" in line]) == 1


def test_a_picture_of_another_fill_or_intrinsic_size_is_another_array(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(SVG)
    door, bare = contents(tmp_path), '<svg xmlns="http://www.w3.org/2000/svg"/>'
    sources: list[SvgSource | ImageSource] = [
        SvgSource(SVG, 10, 10),
        SvgSource(SVG, 10, 10, svg_fill="red"),
        ImageSource("a.svg", 10, 10),
        ImageSource("a.svg", 10, 10, svg_fill="red"),
        SvgSource(bare, 10, 10, 10, 10),
        SvgSource(bare, 10, 10, 20, 10),
    ]
    found = [door.raster(source, 1) for source in sources]
    assert all(found)
    assert len({id(raster.pixels) for raster in found if raster}) == len(sources)
