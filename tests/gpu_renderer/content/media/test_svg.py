"""SVG documents: layers.md 10. Coordinates are in user units of a 100 x 100 view box."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.content.svg import svg_pixels
from gpu_renderer.content.svg.document import Document
from gpu_renderer.errors import MediaUndecodable
from tests.gpu_renderer.fonts import reference_fonts

RED, BLUE, NOTHING = [255, 0, 0, 255], [0, 0, 255, 255], [0, 0, 0, 0]


def svg(body: str, attributes: str = 'viewBox="0 0 100 100"') -> str:
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"<svg {names} {attributes}>{body}</svg>"


def at(body: str, *places: tuple[float, float]) -> list[list[int]]:
    pixels, warnings = svg_pixels(svg(body), reference_fonts())
    assert warnings == ()
    return [pixels[int(y * 20.48), int(x * 20.48)].tolist() for x, y in places]


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="100" height="50"', (2048, 1024)),
        ('viewBox="0 0 10 40"', (512, 2048)),
        ('viewBox="0 0 10 40" width="20"', (512, 2048)),
        ('width="3000" height="3000"', (3000, 3000)),
        ('width="9000" height="4500"', (4096, 2048)),
        ("", (2048, 2048)),
        ('width="50%" height="20%" viewBox="0 0 2 1"', (2048, 1024)),
        ('width="20cm" height="10mm"', (2048, 1024)),
    ],
)
def test_the_raster_has_a_long_edge_of_2048_to_4096(attributes: str, size: tuple[int, int]) -> None:
    found = Document(svg("", attributes)).size()
    assert (found.columns, found.rows) == size


@pytest.mark.parametrize(
    ("body", "inside", "outside"),
    [
        ('<rect x="10" y="10" width="20" height="20" rx="10" fill="red"/>', (20, 20), (11, 11)),
        ('<circle cx="50" cy="50" r="40" fill="red"/>', (15, 50), (15, 15)),
        ('<ellipse cx="50" cy="50" rx="40" ry="10" fill="red"/>', (15, 50), (50, 65)),
        ('<polygon points="10,10 90,10 50,90" fill="red"/>', (50, 20), (10, 80)),
        ('<line x1="10" y1="50" x2="90" y2="50" stroke="red" stroke-width="10"/>', (50, 47), (50, 60)),
        ('<polyline points="10,10 50,50 90,10" fill="none" stroke="red" stroke-width="8"/>', (50, 50), (50, 10)),
        ('<path d="M10 10H90V90H10ZM30 30H70V70H30Z" fill="red" fill-rule="evenodd"/>', (20, 20), (50, 50)),
        ('<path d="m20 50a30 20 0 1160 0z" fill="red"/>', (50, 40), (50, 60)),
        ('<path d="M10 80Q50 0 90 80T150 80z" fill="red"/>', (50, 60), (50, 20)),
        ('<path d="M10 80C20 10 80 10 90 80S95 85 95 85z" fill="red"/>', (50, 60), (50, 20)),
        ('<g transform="translate(50 50) rotate(90)"><rect width="40" height="10" fill="red"/></g>', (45, 80), (80, 45)),
        ('<g transform="scale(2) skewX(45)"><rect width="10" height="20" fill="red"/></g>', (45, 38), (5, 38)),
        ('<g transform="matrix(1 0 0 1 50 50)"><rect width="10" height="10" fill="red"/></g>', (55, 55), (5, 5)),
        ('<svg x="50" y="50" width="50" height="50" viewBox="0 0 10 10"><rect width="20" height="5" fill="red"/></svg>',
         (95, 60), (95, 90)),
        ('<defs><symbol id="s" viewBox="0 0 1 1"><rect width="1" height="1" fill="red"/></symbol></defs>'
         '<use href="#s" x="50" y="50" width="20" height="20"/>', (60, 60), (80, 60)),
        ('<defs><g id="g"><rect width="10" height="10" fill="red"/></g></defs><use xlink:href="#g" x="50"/>', (55, 5), (5, 5)),
        ('<clipPath id="c"><circle cx="50" cy="50" r="20"/><rect x="10" y="10" width="10" height="10"/></clipPath>'
         '<rect width="100" height="100" fill="red" clip-path="url(#c)"/>', (15, 15), (80, 80)),
        ('<clipPath id="a"><rect width="50" height="100"/></clipPath><clipPath id="c" clip-path="url(#a)">'
         '<rect y="40" width="100" height="20"/></clipPath><rect width="100" height="100" fill="red" clip-path="url(#c)"/>',
         (25, 50), (75, 50)),
        ('<clipPath id="c" clipPathUnits="objectBoundingBox"><rect width=".5" height="1"/></clipPath>'
         '<rect x="50" width="50" height="100" fill="red" clip-path="url(#c)"/>', (60, 50), (80, 50)),
        ('<mask id="m"><rect width="50" height="100" fill="white"/></mask>'
         '<rect width="100" height="100" fill="red" mask="url(#m)"/>', (25, 50), (75, 50)),
        ('<defs><marker id="k" orient="auto" refX="0" refY="1.5" markerUnits="userSpaceOnUse" markerWidth="20" markerHeight="20">'
         '<rect width="20" height="3" fill="red"/></marker></defs><path d="M50 20V50" marker-end="url(#k)"/>', (50, 65), (65, 50)),
        ('<rect width="20" height="20" fill="none" stroke="red" stroke-width="4" stroke-dasharray="5 100"/>', (3, 1), (15, 1)),
        ('<a><switch><rect width="9" height="9" fill="red"/></switch></a>', (5, 5), (15, 15)),
    ],
)  # fmt: skip
def test_a_feature_paints_here_and_not_there(
    body: str, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    assert at(body, inside, outside) == [RED, NOTHING]


@pytest.mark.parametrize(
    "rules",
    [
        ".a { fill: blue }", "#r { fill: blue }", "rect { fill: blue }", "svg > rect.a { fill: blue }", "svg rect { fill: blue }",
        "/* x */ circle, [x] { fill: blue }", "* { fill: red } .a { fill: blue }", ".a { fill: blue } rect { fill: red }",
        "circle + rect { fill: blue }",
    ],
)  # fmt: skip
def test_style_blocks_are_obeyed_by_specificity(rules: str) -> None:
    body = f'<style>{rules}</style><circle r="1"/><rect id="r" class="b a" x="10" width="40" height="40" fill="red"/>'
    assert at(body, (30, 20)) == [BLUE]


def test_a_style_attribute_wins_and_properties_are_inherited() -> None:
    body = '<style>rect { fill: red }</style><g stroke="blue" stroke-width="10"><rect x="20" width="60" height="60" style="fill:blue"/></g>'
    assert at(body, (50, 30), (16, 30)) == [BLUE, BLUE]


def test_current_colour_is_the_inherited_one() -> None:
    assert at('<g color="blue"><rect width="9" height="9" fill="currentColor"/></g>', (5, 5)) == [BLUE]


def test_linear_gradients_run_across_the_box_or_user_space() -> None:
    stops = '<stop stop-color="red"/><stop offset="1" stop-color="blue"/>'
    body = f'<linearGradient id="g">{stops}</linearGradient><rect x="50" width="50" height="9" fill="url(#g)"/>'
    start, middle, end = at(body, (50.1, 5), (75, 5), (99.9, 5))
    assert start == pytest.approx(RED, abs=1)
    assert end == pytest.approx(BLUE, abs=1)
    assert middle == pytest.approx([128, 0, 127, 255], abs=1)
    user = f'<linearGradient id="g" gradientUnits="userSpaceOnUse" x2="100">{stops}</linearGradient><rect x="50" width="50" height="9" fill="url(#g)"/>'
    assert at(user, (50.1, 5))[0] == pytest.approx([128, 0, 127, 255], abs=1)


def test_a_gradient_takes_stops_and_geometry_from_the_one_it_refers_to() -> None:
    body = (
        '<linearGradient id="a" y2="1" x2="0" spreadMethod="reflect"><stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient>'
        '<linearGradient id="b" href="#a" gradientTransform="scale(.5)"/><rect width="100" height="100" fill="url(#b)"/>'
    )
    top, middle, bottom = at(body, (50, 0.1), (50, 50), (50, 99.9))
    assert top == pytest.approx(RED, abs=1)
    assert middle == pytest.approx(BLUE, abs=1)
    assert bottom == pytest.approx(RED, abs=1)


def test_a_radial_gradient_reaches_its_radius() -> None:
    body = '<radialGradient id="g"><stop stop-color="red"/><stop offset="1" stop-color="blue" stop-opacity=".5"/></radialGradient><rect width="100" height="100" fill="url(#g)"/>'
    centre, edge = at(body, (50, 50), (99.9, 50))
    assert centre == pytest.approx(RED, abs=1)
    assert edge == pytest.approx([0, 0, 128, 128], abs=1)


def test_a_pattern_repeats_its_tile() -> None:
    body = (
        '<pattern id="p" width="20" height="20" patternUnits="userSpaceOnUse"><rect width="10" height="20" fill="red"/></pattern>'
        '<rect width="100" height="100" fill="url(#p)"/>'
    )
    assert at(body, (5, 5), (15, 5), (65, 50), (75, 50)) == [RED, NOTHING, RED, NOTHING]


def test_group_opacity_is_of_the_group() -> None:
    body = (
        '<g opacity=".5"><rect width="60" height="9" fill="red"/><rect x="30" width="60" height="9" fill="blue"/></g>'
    )
    assert at(body, (40, 5)) == [[0, 0, 128, 128]]


def test_fill_and_stroke_have_opacities_and_an_order() -> None:
    body = '<rect x="20" y="20" width="60" height="60" fill="red" fill-opacity=".5" stroke="blue" stroke-width="10" paint-order="stroke"/>'
    inner, outer = at(body, (50, 50), (17, 50))
    assert (inner, outer) == ([128, 0, 0, 128], BLUE)


def test_filters_blur_move_recolour_and_shadow() -> None:
    blur = '<filter id="f"><feGaussianBlur stdDeviation="4"/></filter><rect x="30" y="30" width="40" height="40" fill="red" filter="url(#f)"/>'
    assert 40 < at(blur, (28, 50))[0][3] < 110
    matrix = '<filter id="f"><feColorMatrix type="hueRotate" values="0"/><feColorMatrix values="0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 0 0 0 1 0"/></filter><rect width="50" height="50" fill="red" filter="url(#f)"/>'
    assert at(matrix, (25, 25))[0] == pytest.approx(BLUE, abs=2)
    shadow = '<filter id="f" width="200%" height="200%"><feDropShadow dx="20" dy="20" stdDeviation="0.01" flood-color="blue"/></filter><rect width="30" height="30" fill="red" filter="url(#f)"/>'
    assert at(shadow, (10, 10), (45, 45)) == [RED, BLUE]
    merged = (
        '<filter id="f" width="200%" height="200%"><feOffset in="SourceAlpha" dx="40" result="o"/><feFlood flood-color="blue"/>'
        '<feComposite operator="in" in2="o"/><feMerge><feMergeNode/><feMergeNode in="SourceGraphic"/></feMerge></filter>'
        '<rect width="30" height="30" fill="red" filter="url(#f)"/>'
    )
    assert at(merged, (10, 10), (55, 10)) == [RED, BLUE]


def test_text_is_anchored_and_stroked() -> None:
    pixels, _ = svg_pixels(
        svg('<text x="50" y="60" font-size="30" text-anchor="middle" fill="red">HHH</text>'), reference_fonts()
    )
    columns = np.nonzero(pixels[..., 3].any(axis=0))[0] / 20.48
    assert columns.min() + columns.max() == pytest.approx(100, abs=1)
    body = '<text x="10" y="60" font-size="80" fill="none" stroke="red" stroke-width="6">I</text>'
    pixels, _ = svg_pixels(svg(body), reference_fonts())
    assert (pixels[..., 0] == 255).any()


def test_spans_move_the_pen_and_text_follows_a_path() -> None:
    body = '<text x="0" y="20" font-size="20">A<tspan x="50" dy="40">B</tspan></text>'
    pixels, _ = svg_pixels(svg(body), reference_fonts())
    assert pixels[: 20 * 20, : 20 * 20, 3].any()
    assert pixels[41 * 20 :, 50 * 20 :, 3].any()
    curve = '<path id="c" d="M90 0V90" fill="none"/><text font-size="20"><textPath href="#c" startOffset="50%">AB</textPath></text>'
    pixels, _ = svg_pixels(svg(curve), reference_fonts())
    rows, columns = pixels[..., 3].nonzero()
    assert rows.min() > 40 * 20
    assert columns.min() > 85 * 20


def test_an_embedded_picture_is_drawn_and_a_remote_one_never() -> None:
    png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAGklEQVR4AWP4z8Dwn+EEw38mxoD/DP9FGBgAPsUGK3uuWLcAAAAASUVORK5CYII="
    body = f'<image width="80" height="80" href="data:image/png;base64,{png}"/>'
    assert at(body, (1, 1))[0][3] == 255
    for remote in ("https://example.com/a.png", "file:///etc/passwd", "//example.com/a.svg"):
        pixels, warnings = svg_pixels(svg(f'<image width="80" height="80" href="{remote}"/>'), reference_fonts())
        assert not pixels.any()
        assert len(warnings) == 1


@pytest.mark.parametrize(
    "markup",
    [
        '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"><text y="20">&a;</text></svg>',
        svg('<g id="a"><use href="#a"/></g>'),
        svg('<pattern id="p" width="9" height="9"><rect width="9" height="9" fill="url(#p)"/></pattern><rect width="9" height="9" fill="url(#p)"/>'),
        svg('<mask id="m"><rect width="9" height="9" mask="url(#m)"/></mask><rect width="9" height="9" mask="url(#m)"/>'),
        svg('<clipPath id="c" clip-path="url(#c)"><rect width="9" height="9"/></clipPath><rect width="9" height="9" clip-path="url(#c)"/>'),
        svg('<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/><rect width="9" height="9" fill="url(#a)"/>'),
        svg('<path d="M0 0 L nonsense"/><rect width="x" height="-3"/><polygon points="1"/><use href="#none"/>'),
        svg('<script>alert(1)</script><style>{{{</style>'),
    ],
    ids=["entity", "use", "pattern", "mask", "clip", "gradient", "geometry", "script"],
)  # fmt: skip
def test_references_to_itself_and_nonsense_end(markup: str) -> None:
    svg_pixels(markup, reference_fonts())


@pytest.mark.parametrize(
    ("style", "line"),
    [
        ("filter: blob(3px)", "The filter 'blob(3px)' of an SVG document is not drawn."),
        ("clip-path: shape(from 0 0)", "The clip-path 'shape(from 0 0)' of an SVG document is not drawn."),
        ("clip-path: circle(9px); filter: none", None),
    ],
)
def test_functions_of_css_that_are_not_drawn_are_named(style: str, line: str | None) -> None:
    _, warnings = svg_pixels(svg(f'<rect width="9" height="9" style="{style}"/>'), reference_fonts())
    assert warnings == (() if line is None else (line,))


def test_each_undrawn_feature_is_reported_once() -> None:
    body = '<foreignObject/><foreignObject/><filter id="f"><feUnknown/></filter><rect width="9" height="9" filter="url(#f)"/>'
    _, warnings = svg_pixels(svg(body), reference_fonts())
    assert warnings == (
        "The SVG element <foreignObject> is not drawn.",
        "The SVG filter primitive <feUnknown> is not drawn.",
    )


@pytest.mark.parametrize("markup", ["", "no markup", "<html/>", "<svg" + " " * (17 << 20)])
def test_a_file_that_is_no_svg_document_is_refused(markup: str) -> None:
    with pytest.raises(MediaUndecodable):
        svg_pixels(markup, reference_fonts())


def test_one_fill_may_stand_for_the_fills_of_all_shapes_and_texts() -> None:
    body = (
        '<style>.a{fill:lime!important}</style><g fill="none"><rect class="a" width="40" height="40"/>'
        '<circle cx="80" cy="20" r="15" fill="none"/><line x1="0" y1="60" x2="100" y2="60" stroke="red" stroke-width="9"/></g>'
    )
    pixels, _ = svg_pixels(svg(body), reference_fonts(), fill="#0000ff")
    found = [pixels[int(y * 20.48), int(x * 20.48)].tolist() for x, y in ((20, 20), (80, 20), (50, 60))]
    assert found == [BLUE, BLUE, RED]


def test_a_document_without_sizes_is_drawn_at_the_size_given() -> None:
    pixels, _ = svg_pixels(svg('<rect width="50" height="100" fill="red"/>', ""), reference_fonts(), (200.0, 100.0))
    assert pixels.shape[:2] == (1024, 2048)
    assert [pixels[512, column].tolist() for column in (500, 530)] == [RED, NOTHING]


@pytest.mark.parametrize("side", ["1e999", "1e-320", "1e308"])
@pytest.mark.parametrize("attributes", ['width="{}" height="5"', 'height="{}" viewBox="0 0 9 5"', 'viewBox="0 0 {} 5"'])
def test_a_document_of_absurd_size_has_a_raster(attributes: str, side: str) -> None:
    pixels, _ = svg_pixels(svg('<rect width="5" height="5"/>', attributes.format(side)), reference_fonts())
    assert min(pixels.shape[:2]) >= 1
    assert max(pixels.shape[:2]) <= 4096


@pytest.mark.parametrize(
    "rule",
    [
        "rect:nth-child(²) {fill: red}",
        "rect:nth-child(+-1) {fill: red}",
        f"rect:nth-child({'9' * 5000}) {{fill: red}}",
        f"rect:nth-child({'9' * 5000}n+1) {{fill: red}}",
        f"rect:nth-child(2n+{'9' * 5000}) {{fill: red}}",
        "svg {font-weight: ²} rect {font-weight: bolder}",
        "svg {font: ² 12px Inter} rect {font-weight: lighter}",
    ],
    ids=range(7),
)
def test_numbers_of_a_style_sheet_that_are_none_choose_nothing(rule: str) -> None:
    assert at(f'<style>{rule}</style><rect width="50" height="50" fill="blue"/>', (20, 20)) == [BLUE]


def test_text_along_a_path_without_end_is_not_drawn() -> None:
    curve = '<defs><path id="p" d="M10 70Q50 1e308 90 70"/></defs>'
    body = f'{curve}<text font-size="9"><textPath href="#p">A</textPath></text><rect width="9" height="9" fill="red"/>'
    assert at(body, (5, 5)) == [RED]
