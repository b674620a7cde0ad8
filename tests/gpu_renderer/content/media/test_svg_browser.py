"""SVG documents are drawn as in browsers. Coordinates are in user units of a 100 x 100 view box."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.content.svg import svg_pixels
from gpu_renderer.content.svg.shapes import arc_joints, path_of
from gpu_renderer.content.svg.strokes import vertices
from tests.gpu_renderer.content.media.test_svg import BLUE, NOTHING, RED, at, svg
from tests.gpu_renderer.fonts import reference_fonts

SQUARE = '<rect width="20" height="20" fill="red" {}/>'
FILTERED = '<rect x="20" y="20" width="60" height="60" fill="red" filter="url(#f)"/>'


def painted(body: str) -> tuple[float, ...]:
    """Return left, top, right and bottom of the drawn pixels, in user units."""
    pixels, _ = svg_pixels(svg(body), reference_fonts())
    rows, columns = np.nonzero(pixels[..., 3] > 128)
    return tuple(float(value) / 20.48 for value in (columns.min(), rows.min(), columns.max(), rows.max()))


@pytest.mark.parametrize(
    "rules",
    [
        "rect { fill: blue !important } #r { fill: red !important; fill: nonsense } #r#r { fill: blue !important }",
        "rect:nth-child(2) { fill: blue }",
        "rect:not(.x):last-child { fill: blue }",
        "rect:nth-of-type(odd) { fill: blue }",
        '[data-a^="pre"] { fill: blue } [data-a~="b"] { fill: red }',
        "@media screen { rect { fill: blue } } @media print { rect { fill: red } }",
        "rect { fill: blue } @media (prefers-color-scheme: dark) { rect { fill: red } }",
        "@media print, (prefers-color-scheme: light) { rect { fill: blue } }",
        ":root { --c: blue } rect { fill: var(--c) }",
        "rect { fill: var(--none, blue) }",
        "g { fill: blue } rect { fill: inherit }",
        "rect { fill: blue; fill: no-colour }",
        "g { rect { fill: blue } fill: red }",
        "g { &gt; rect { fill: blue; &amp;:first-child { fill: red } } }",
        "#r { fill: red; :is(svg, p) &amp;[data-a] { fill: blue } }",
        "rect { fill: blue; @media (max-width: 9px) { fill: red } }",
        "g:has(&gt; circle) &gt; rect { fill: blue } rect:has(circle), circle:has(~ text) ~ rect { fill: red }",
        "circle:has(+ #r) ~ rect:empty { fill: blue } g:empty { fill: red }",
        "rect:not(g &gt; circle, p) { fill: blue } rect:not(g rect) { fill: red }",
        ":is(circle, g &gt; #r) { fill: blue } rect[data-a] { fill: red }",
        ":nth-child(1 of rect) { fill: blue } :nth-child(2 of rect) { fill: red }",
        '[data-a="PREF" i] { fill: blue } [data-a="PREF"] { fill: red }',
        r"#\72, .a\:b { fill: red } rect { fill: blue }",
    ],
)
def test_style_blocks_cascade_as_css_says(rules: str) -> None:
    body = f'<style>{rules}</style><g><circle r="0"/><rect id="r" data-a="pref" width="40" height="40" fill="red"/></g>'
    assert at(body, (30, 20)) == [BLUE]


@pytest.mark.parametrize("rule", [".outer rect", "svg rect", "defs > g rect", "g + g rect"])
def test_selectors_see_nothing_around_what_a_use_shows(rule: str) -> None:
    body = (
        f"<style>{rule.replace('>', '&gt;')} {{ fill: red }} #t rect {{ stroke: blue; stroke-width: 8 }}</style>"
        '<defs class="outer"><g/><g id="t" fill="blue"><rect width="20" height="20"/></g></defs><use href="#t" x="40" y="40"/>'
    )
    assert at(body, (50, 50), (37, 50)) == [BLUE, BLUE]


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("(min-width: 2048px)", True),
        ("(min-width: 2049px)", False),
        ("(max-width: 9px), (min-height: 1px)", True),
        ("(600px &lt; width &lt;= 2048px)", True),
        ("(width &lt; 600px)", False),
        ("not print and (min-width: 1px)", True),
        ("not screen", False),
        ("screen and (max-width: 90em)", False),
        ("(not (max-width: 9px)) and ((orientation: portrait) or (grid))", True),
        ("(min-aspect-ratio: 3/2)", False),
        ("(max-resolution: 1dppx)", True),
        ("(hover: hover)", False),
        ("(no-feature: 1)", False),
    ],
)
def test_media_queries_hold_for_the_size_of_the_raster(query: str, holds: bool) -> None:
    wanted = [BLUE if holds else RED]
    rectangle = '<rect width="40" height="40" fill="red"/>'
    assert at(f"<style>@media {query} {{ rect {{ fill: blue }} }}</style>{rectangle}", (30, 20)) == wanted
    assert at(f'<style media="{query}">rect {{ fill: blue }}</style>{rectangle}', (30, 20)) == wanted


def test_a_style_block_of_another_language_is_not_read() -> None:
    assert at('<style type="text/less">rect { fill: blue }</style><rect width="9" height="9" fill="red"/>', (5, 5)) == [
        RED
    ]


def test_an_important_rule_wins_over_a_style_attribute() -> None:
    body = '<style>rect { fill: blue !important }</style><rect width="9" height="9" style="fill:red"/>'
    assert at(body, (5, 5)) == [BLUE]


@pytest.mark.parametrize(
    ("attributes", "inside", "outside"),
    [
        ('style="transform: translate(40px, 2em)"', (50, 40), (10, 10)),
        ('style="transform: translate(50%, 50%)"', (60, 60), (10, 10)),
        ('style="transform: rotate(180deg); transform-origin: 50px 50px"', (90, 90), (10, 10)),
        ('transform="rotate(180)" transform-origin="20 20"', (30, 30), (10, 10)),
        ('style="transform: rotate(.125turn); transform-box: fill-box; transform-origin: center"', (10, 21), (1, 1)),
        ('style="transform: scaleX(.5); transform-box: fill-box; transform-origin: left"', (5, 10), (15, 10)),
        ('style="transform: scaleX(.5); transform-box: fill-box; transform-origin: right"', (15, 10), (5, 10)),
        ('style="transform: scaleY(.5); transform-box: fill-box; transform-origin: bottom"', (10, 15), (10, 5)),
        ('transform="translate(5 5)" style="transform: translateX(50px)"', (60, 10), (10, 10)),
        ('transform="translate(50 50) unknown(3)"', (10, 10), (60, 60)),
        ('style="translate: 50px 0"', (60, 10), (10, 10)),
    ],
)
def test_transforms_are_those_of_css(
    attributes: str, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    assert at(SQUARE.format(attributes), inside, outside) == [RED, NOTHING]


@pytest.mark.parametrize(
    "attributes",
    [
        *(f'transform="{value}"' for value in (
            "rotate(30deg)", "translate(50px, 50px)", "translateX(50)", "rotate(90 20)", "scale(2 2 2)", "translate(50 50 50)", "translate(50,)",
        )),
        *(f'style="transform: {value}"' for value in (
            "rotate(30)", "translate(50, 50)", "skewX(60)", "translate(50px 50px)", "matrix(1 0 0 1 50 50)", "scale(2), rotate(30deg)",
            "rotate(30deg, 50, 50)",
        )),
    ],
)  # fmt: skip
def test_a_transform_in_the_syntax_of_the_other_place_is_none(attributes: str) -> None:
    assert at(SQUARE.format(attributes), (1, 1), (19, 19), (25, 10), (60, 60)) == [RED, RED, NOTHING, NOTHING]


@pytest.mark.parametrize(
    "attributes",
    [
        *(f'transform="{value}"' for value in (
            "translate(50 50)", "translate(50,50),rotate(0)", " translate ( 5e1 50.0 ) ", "translate(55-5)translate(-5 55)", "translate(50.5 50)translate(-.5.0)", "matrix(1 0 0 1 50,50)",
            "rotate(0 5 5) translate(50,50)",
        )),
        *(f'style="transform: {value}"' for value in (
            "translate(50px,50px)", "translate( 50% , 50% )", "translate(50px,0)translate(0.0,50px)", "matrix(1,0,0,1,50,50)", "scale(1,1) translate3d(50px,50px,0)",
        )),
        'style="--d: 50px; transform: translate(var(--d), var(--d))"',
    ],
)  # fmt: skip
def test_a_transform_in_its_own_syntax_counts(attributes: str) -> None:
    assert at(SQUARE.format(attributes), (51, 51), (69, 69), (45, 60), (10, 10)) == [RED, RED, NOTHING, NOTHING]


@pytest.mark.parametrize(
    ("body", "inside", "outside"),
    [
        ('<pattern id="p" width=".5" height=".5"><rect width="5" height="5" fill="red"/></pattern>'
         '<rect x="10" y="10" width="40" height="40" fill="url(#p)"/>', (12, 12), (18, 18)),
        ('<g fill="red"><pattern id="p" width="50" height="50" patternUnits="userSpaceOnUse"><rect width="20" height="20"/></pattern></g>'
         '<rect width="100" height="100" fill="url(#p)"/>', (10, 10), (30, 30)),
        ('<defs><svg id="s" x="40" y="40" width="20" height="20"><rect width="99" height="99" fill="red"/></svg></defs><use href="#s"/>',
         (50, 50), (20, 20)),
        ('<svg transform="translate(50 0)" width="20" height="20"><rect width="20" height="20" fill="red"/></svg>', (60, 10), (10, 10)),
        ('<svg viewBox="0 0 0 10"><rect width="40" height="40" fill="red"/></svg><rect x="50" width="9" height="9" fill="red"/>',
         (55, 5), (20, 20)),
        ('<switch><rect systemLanguage="fr" width="40" height="40"/><rect x="50" width="40" height="40" fill="red"/><rect width="9" height="9"/></switch>',
         (60, 5), (5, 5)),
        ('<mask id="m" mask-type="alpha"><rect width="50" height="100"/></mask><rect width="100" height="100" fill="red" mask="url(#m)"/>',
         (25, 50), (75, 50)),
        ('<path d="M0 5H100" stroke="red" stroke-width="10" pathLength="4" stroke-dasharray="1"/>', (20, 5), (30, 5)),
        ('<path d="M0 5H60" stroke="red" stroke-width="10" pathLength="0" stroke-dasharray="25"/>', (30, 5), (70, 5)),
        ('<rect x="20" y="20" width="60" height="60" rx="10" fill="none" stroke="red" stroke-width="8" pathLength="4" stroke-dasharray="1 9"/>',
         (35, 20), (20, 60)),
        ('<linearGradient id="g"/><path d="M0 5H100" stroke="url(#g) red" stroke-width="10"/>', (20, 5), (20, 20)),
        ('<style>circle { r: 20px; cx: 30px; cy: 30px; fill: red }</style><circle r="1"/>', (45, 30), (60, 30)),
        ('<path style="d: path(\'M0 0H40V40H0z\')" fill="red"/>', (20, 20), (60, 60)),
        ('<g font-size="20"><rect width="2em" height="1em" fill="red"/></g>', (38, 18), (38, 22)),
        ('<g font-size="40"><rect width="2rem" height="40Q" fill="red"/></g>', (31, 37), (31, 39)),
        ('<g font-size="40"><rect width="2rem" height="20" fill="red"/></g>', (31, 10), (34, 10)),
        ('<style>:root { font-size: 20px } rect { width: 2rem }</style><g font-size="5"><rect height="20" fill="red"/></g>', (39, 10), (42, 10)),
        ('<rect width="2none" height="20"/><rect x="50" width="9" height="9" fill="red"/>', (55, 5), (1, 1)),
        ('<rect width="20" height="20" style="fill/**/:red;/* ; */stroke:none"/>', (10, 10), (30, 30)),
        ('<marker id="m" orient=".25turn" overflow="visible"><rect width="40" height="10" fill="red"/></marker>'
         '<path d="M50 10H51" marker-start="url(#m)"/>', (45, 40), (80, 15)),
        ('<rect x="20" y="20" width="60" height="60" fill="red" style="clip-path: circle(20px at 30px 50%)"/>', (31, 50), (75, 50)),
        ('<rect x="20" y="20" width="60" height="60" fill="red" style="clip-path: ellipse(50% farthest-side)"/>', (21, 50), (22, 22)),
        ('<rect x="10" y="30" width="80" height="40" fill="red" style="clip-path: ellipse()"/>', (15, 50), (12, 34)),
        ('<rect x="10" y="30" width="80" height="40" fill="red" style="clip-path: circle()"/>', (40, 50), (15, 50)),
        ('<rect x="20" y="20" width="60" height="60" fill="red" style="clip-path: inset(10px 50% 0 5px round 8px)"/>', (30, 50), (55, 50)),
        ('<rect x="20" y="20" width="60" height="60" fill="red" style="clip-path: polygon(0 0, 100% 0, 50% 100%)"/>', (50, 70), (25, 70)),
        ('<x:rect xmlns:x="y" width="40" height="40"/><rect x="50" width="9" height="9" fill="red"/>', (55, 5), (20, 20)),
        ('<circle cx="70" cy="70" r="20 px"/><rect width="9" height="9" fill="red"/>', (5, 5), (70, 70)),
        ('<svg width="60" height="20" viewBox="0 0 10 10" preserveAspectRatio="slice"><rect width="10" height="10" fill="red"/></svg>',
         (30, 10), (5, 10)),
    ],
)  # fmt: skip
def test_a_feature_is_drawn_where_a_browser_draws_it(
    body: str, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    assert at(body, inside, outside) == [RED, NOTHING]


def test_a_gradient_stop_inherits_its_colour_from_where_it_stands() -> None:
    body = '<linearGradient id="g" color="blue"><stop stop-color="currentColor"/></linearGradient><rect width="9" height="9" fill="url(#g)"/>'
    assert at(body, (5, 5)) == [BLUE]


def test_a_stroke_that_does_not_scale_is_as_wide_as_pixels_of_the_raster() -> None:
    body = (
        '<path d="M0 10H25" transform="scale(4 1)" stroke="red" stroke-width="40" vector-effect="non-scaling-stroke"/>'
    )
    _, top, _, bottom = painted(body)
    assert bottom - top == pytest.approx(40 / 20.48, abs=0.1)


@pytest.mark.parametrize("attribute", ['color-interpolation="linearRGB"', 'style="color-interpolation: linearRGB"'])
def test_a_gradient_may_be_mixed_in_linear_light(attribute: str) -> None:
    body = (
        f'<linearGradient id="g" {attribute}><stop/><stop offset="1" stop-color="white"/></linearGradient>'
        '<rect width="100" height="100" fill="url(#g)"/>'
    )
    (middle,), (dark,) = at(body, (50, 50)), at(body, (5, 50))
    assert middle == pytest.approx([188, 188, 188, 255], abs=1)
    assert dark == pytest.approx([63, 63, 63, 255], abs=2)


def test_a_mask_may_be_read_in_linear_light() -> None:
    body = (
        '<mask id="m" color-interpolation="linearRGB"><rect width="100" height="100" fill="#808080"/></mask>'
        '<rect width="100" height="100" fill="red" mask="url(#m)"/>'
    )
    assert at(body, (50, 50))[0][3] == pytest.approx(55, abs=2)


def test_isolation_keeps_blending_inside_a_group() -> None:
    blended = '<rect width="100" height="100" fill="blue"/><g style="{}"><rect width="50" height="50" fill="red" style="mix-blend-mode:multiply"/></g>'
    assert at(blended.format(""), (20, 20)) == [[0, 0, 0, 255]]
    assert at(blended.format("isolation:isolate"), (20, 20)) == [RED]


@pytest.mark.parametrize(
    ("transform", "inside", "outside"),
    [
        ('transform="rotate(90)"', (90, 30), (10, 10)),
        ('transform="matrix(-1, 0, 0, 1, 0, 0)"', (80, 10), (10, 10)),
        ('style="transform: scale(.5); transform-origin: 0 0"', (15, 5), (30, 10)),
        ('style="transform: scale(.5)"', (30, 30), (5, 70)),
    ],
)
def test_the_root_turns_about_its_middle_and_is_cut_at_its_box(
    transform: str, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    body = '<rect width="40" height="20" fill="red"/><rect x="-50" y="80" width="20" height="20"/>'
    markup = svg(body, f'viewBox="0 0 100 100" {transform}')
    pixels, _ = svg_pixels(markup, reference_fonts())
    found = [pixels[int(y * 20.48), int(x * 20.48)].tolist() for x, y in (inside, outside)]
    assert found == [RED, NOTHING]


def test_the_root_may_have_a_background() -> None:
    pixels, _ = svg_pixels(svg("", 'viewBox="0 0 1 1" style="background:blue"'), reference_fonts())
    assert pixels[9, 9].tolist() == BLUE


@pytest.mark.parametrize(
    ("primitives", "units", "inside", "outside"),
    [
        ('<feFlood flood-color="red" x="20" y="20" width="20" height="20"/>', "", (30, 30), (60, 60)),
        ('<feFlood flood-color="red" width=".5" height=".5" x="0" y="0"/>', 'primitiveUnits="objectBoundingBox"', (40, 40), (60, 60)),
        ('<feFlood flood-color="red" x="20" y="20" width="5" height="5"/><feOffset x="20" y="20" width="10" height="10"/><feTile/>',
         "", (42, 42), (48, 48)),
        ('<feOffset dx="-40"/><feOffset dx="40"/>', "", (70, 50), (40, 50)),
    ],
)  # fmt: skip
def test_filter_primitives_are_cut_to_their_regions(
    primitives: str, units: str, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    assert at(f'<filter id="f" {units}>{primitives}</filter>{FILTERED}', inside, outside) == [RED, NOTHING]


def test_nothing_is_drawn_through_an_empty_filter() -> None:
    assert at(f'<filter id="f"/>{FILTERED}', (50, 50)) == [NOTHING]


@pytest.mark.parametrize(
    ("data", "angles"),
    [
        ("M0 0H10V10", [0, 45, 90]),
        ("M0 0H10V10Z", [-67.5, 45, 157.5, -67.5]),
        ("M0 0H10H10V10", [0, 0, 45, 90]),
        ("M0 0H0V10", [0, 45, 90]),
        ("M0 0H10H0", [0, -90, 180]),
        ("M0 0H10Z", [90, -90, 90]),
        ("M10 10", [45]),
        ("M0 0H10ZL10 10", [90, -90, 90, 45]),
        ("M0 0H9M9 9V20", [0, 0, 90, 90]),
        ("M0 0C0 0 10 0 10 10", [0, 90]),
        ("M0 0C10 0 10 10 10 10", [0, 90]),
    ],
)
def test_markers_have_the_directions_of_chromium(data: str, angles: list[float]) -> None:
    path = path_of(data)
    assert [vertex.angle for vertex in vertices(path)] == pytest.approx(angles)


def test_an_arc_has_no_vertices_inside() -> None:
    arc = "M60 70A10 10 0 0 1 90 70"
    path = path_of(arc)
    assert len(vertices(path, arc_joints(arc))) == 2


def test_a_marker_may_take_the_paints_of_its_line() -> None:
    body = (
        '<marker id="k" markerWidth="9" markerHeight="9" orient="auto"><rect width="9" height="9" fill="context-stroke"/></marker>'
        '<path d="M10 10H40" stroke="red" stroke-width="4" marker-end="url(#k)"/>'
    )
    assert at(body, (60, 30)) == [RED]


def test_lists_of_positions_reach_into_spans_and_rotation_lasts() -> None:
    _, top, _, bottom = painted('<text y="20" dy="40" font-size="20"><tspan>H</tspan></text>')
    assert (top, bottom) == pytest.approx((46.9, 60), abs=0.3)
    left, _, right, _ = painted('<text y="40" font-size="20" rotate="90"><tspan>I</tspan></text>')
    assert right - left > 12


def test_text_is_spread_or_stretched_to_its_length() -> None:
    for adjusted in ("spacing", "spacingAndGlyphs"):
        left, _, right, _ = painted(
            f'<text x="5" y="20" textLength="90" lengthAdjust="{adjusted}" font-size="20">HIH</text>'
        )
        assert (left, right) == pytest.approx((5, 95), abs=2.0)


@pytest.mark.parametrize(("line", "y"), [("underline", 51), ("overline", 30), ("line-through", 43)])
def test_text_is_decorated(line: str, y: float) -> None:
    places = [(x, y) for x in (12.0, 30.0, 45.0)]
    plain = at('<text x="10" y="49" font-size="20">     </text>', *places)
    lined = at(
        f'<text x="10" y="49" font-size="20" fill="red" xml:space="preserve" text-decoration="{line}">          </text>',
        *places,
    )
    assert plain == [NOTHING] * 3
    assert lined[:2] == [RED] * 2


def test_text_along_a_path_starts_at_shares_of_its_stated_length_and_moves_with_it() -> None:
    body = (
        '<defs><path id="c" d="M0 20H100" pathLength="10" transform="translate(0 30)"/></defs>'
        '<text font-size="20" x="40">A<textPath href="#c" startOffset="5">H</textPath></text>'
    )
    _, _, right, bottom = painted(body)
    assert (right, bottom) == pytest.approx((64, 50), abs=2.0)


def test_spans_are_raised_lowered_and_faded() -> None:
    _, top, _, _ = painted('<text y="50" font-size="20"><tspan baseline-shift="10">x</tspan></text>')
    _, plain, _, _ = painted('<text y="50" font-size="20">x</text>')
    assert plain - top == pytest.approx(10, abs=0.2)
    body = svg('<text y="50" font-size="40"><tspan opacity=".5">I</tspan></text>')
    assert svg_pixels(body, reference_fonts())[0][..., 3].max() == pytest.approx(128, abs=1)


def test_the_box_of_a_text_is_that_of_its_cells() -> None:
    body = (
        '<filter id="f" x="0" y="0" width="1" height="1"><feFlood flood-color="red"/></filter>'
        '<text x="20" y="50" font-size="20" font-family="sans-serif" filter="url(#f)">x</text>'
    )
    left, top, _, bottom = painted(body)
    assert left == pytest.approx(20, abs=0.1)
    assert (top, bottom) == pytest.approx((50 - 18.1, 54.2), abs=0.2)


def test_a_picture_without_a_height_keeps_its_shape() -> None:
    png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAGklEQVR4AWP4z8Dwn+EEw38mxoD/DP9FGBgAPsUGK3uuWLcAAAAASUVORK5CYII="
    assert painted(f'<image width="40" href="data:image/png;base64,{png}"/>') == pytest.approx((0, 0, 40, 40), abs=0.1)
