"""SVG documents exported by design tools are drawn as in Chromium. Coordinates are in user units of a 100 x 100 view
box."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.content.svg import svg_pixels, undrawn_features
from gpu_renderer.errors import MediaUndecodable
from tests.gpu_renderer.content.media.test_svg import BLUE, NOTHING, RED, at, svg
from tests.gpu_renderer.fonts import reference_fonts

HALVES = '<stop offset=".5" stop-color="red"/><stop offset=".5" stop-color="blue"/>'
MASK = '<mask id="m"{}><rect x="20" y="20" width="60" height="60" fill="#000"/></mask><rect width="100" height="100" fill="red" {}/>'


def width(body: str) -> float:
    """Return the width of the drawn pixels, in user units."""
    pixels, _ = svg_pixels(svg(body), reference_fonts())
    columns = np.nonzero(pixels[..., 3].max(0))[0]
    return float(columns.max() - columns.min()) / 20.48


@pytest.mark.parametrize(
    ("gradient", "colors"),
    [
        ('style="transform: rotate(90deg)"', [RED, RED, BLUE]),
        ('gradientTransform="scale(9)" style="transform: rotate(90deg)"', [RED, RED, BLUE]),
        ('gradientTransform="rotate(90deg)" transform="rotate(90)"', [RED, BLUE, RED]),
        ('style="transform: scale(-1, 1); transform-origin: 50px 0"', [BLUE, RED, BLUE]),
    ],
)
def test_css_transforms_gradients_before_their_attribute(gradient: str, colors: list[list[int]]) -> None:
    units = 'gradientUnits="userSpaceOnUse" x2="100"'
    body = f'<linearGradient id="a" {units} {gradient}>{HALVES}</linearGradient><linearGradient id="b" href="#a" style="transform: none"/>'
    for name in "ab":
        assert at(f'{body}<rect width="100" height="100" fill="url(#{name})"/>', (10, 10), (90, 10), (10, 90)) == colors


def test_css_transforms_patterns() -> None:
    pattern = '<pattern id="p" width="40" height="40" patternUnits="userSpaceOnUse" {}><rect width="20" height="40" fill="red"/></pattern>'
    body = pattern + '<rect width="100" height="100" fill="url(#p)"/>'
    assert at(body.format(""), (10, 30), (30, 10)) == [RED, NOTHING]
    assert at(body.format('style="transform: rotate(90deg)"'), (10, 30), (30, 10)) == [NOTHING, RED]


@pytest.mark.parametrize(
    ("mask", "masked", "middle"),
    [
        ("", 'style="mask: url(#m)"', NOTHING),
        ("", 'style="mask: url(#m) alpha"', RED),
        ("", 'style="mask: alpha url(#m)"', RED),
        ("", 'style="mask: url(#m); mask-mode: alpha"', RED),
        (' style="mask-type: alpha"', 'style="-webkit-mask-image: url(#m)"', RED),
        (' style="mask-type: alpha"', 'style="-webkit-mask: url(#m)"', RED),
        (' style="mask-type: alpha"', 'style="mask-image: url(#m); mask-mode: luminance"', NOTHING),
    ],
)
def test_masks_take_their_kind_from_what_they_mask(mask: str, masked: str, middle: list[int]) -> None:
    assert at(MASK.format(mask, masked), (50, 50), (10, 10)) == [middle, NOTHING]


LAYERS = (
    '<mask id="a"><rect width="60" height="100" fill="#fff"/></mask><mask id="b"><rect x="40" width="60" height="100" fill="#fff"/></mask>'
    '<rect width="100" height="100" fill="red" {}/>'
)
"""Masks that show the left side and the right side. Both show the middle."""


@pytest.mark.parametrize(
    ("masked", "shown"),
    [
        ('mask="url(#a), url(#b)"', [RED, RED, RED]),
        ('style="mask: url(#none), url(#b)"', [NOTHING, RED, RED]),
        ('style="mask: url(#a) intersect, url(#b)"', [NOTHING, RED, NOTHING]),
        ('style="mask: url(#a) subtract, url(#b) exclude"', [RED, NOTHING, NOTHING]),
        ('style="mask-image: url(#a), url(#b); mask-composite: exclude"', [RED, NOTHING, RED]),
        ('style="mask-image: url(#b), url(#a); mask-composite: subtract, add; mask-mode: alpha"', [NOTHING, NOTHING, RED]),
    ],
)  # fmt: skip
def test_masks_of_several_layers_are_composited_in_order(masked: str, shown: list[list[int]]) -> None:
    assert at(LAYERS.format(masked), (20, 50), (50, 50), (80, 50)) == shown


def test_a_gradient_among_masks_is_named() -> None:
    _, warnings = svg_pixels(svg(LAYERS.format('style="mask: url(#a), linear-gradient(red, blue)"')), reference_fonts())
    assert any("linear-gradient(red, blue)" in line for line in warnings)


@pytest.mark.parametrize(
    ("value", "inside", "outside"),
    [
        ("fill-box", [(31, 50), (69, 50)], [(28, 50), (72, 50)]),
        ("content-box", [(31, 50)], [(28, 50)]),
        ("stroke-box", [(22, 22), (78, 78)], []),
        ("circle(50%) fill-box", [(31, 50), (50, 69)], [(28, 50), (32, 32)]),
        ("stroke-box circle(50%)", [(22, 50), (32, 32)], [(23, 23)]),
        ("circle(50%)", [(22, 50), (32, 32)], [(23, 23)]),
        ("inset(40px 0 0) view-box", [(50, 42)], [(50, 38)]),
    ],
)
def test_clip_paths_refer_to_the_box_that_they_name(
    value: str, inside: list[tuple[float, float]], outside: list[tuple[float, float]]
) -> None:
    body = (
        '<rect x="30" y="30" width="40" height="40" fill="red" stroke="red" stroke-width="20" style="clip-path: {}"/>'
    )
    assert at(body.format(value), *inside, *outside) == [RED] * len(inside) + [NOTHING] * len(outside)
    assert at(f"<g>{body}</g>".format(value), *inside, *outside) == [RED] * len(inside) + [NOTHING] * len(outside)


@pytest.mark.parametrize(
    ("shape", "inside", "outside"),
    [
        ("inset(10px round 40px 0)", [(12, 88), (88, 12)], [(15, 15), (85, 85)]),
        ("inset(10px round 40px / 5px)", [(50, 12), (12, 20)], [(14, 12)]),
        ("inset(0 round 50% 0 0)", [(2, 98), (98, 2)], [(8, 8)]),
        ("rect(20px 90px auto 10px)", [(12, 22), (88, 98)], [(12, 18), (92, 50), (8, 50)]),
        ("rect(0 auto 50% 0 round 30px)", [(50, 48)], [(3, 3), (50, 52)]),
        ("xywh(20px 10% 50px 30px round 10px)", [(45, 12), (45, 38)], [(21, 11), (72, 20), (45, 42)]),
        ("inset(10)", [(2, 2)], []),
    ],
)
def test_rectangles_clip_with_a_radius_for_each_corner(
    shape: str, inside: list[tuple[float, float]], outside: list[tuple[float, float]]
) -> None:
    body = f'<rect width="100" height="100" fill="red" style="clip-path: {shape}"/>'
    assert at(body, *inside, *outside) == [RED] * len(inside) + [NOTHING] * len(outside)


def test_crisp_edges_leave_no_seams() -> None:
    cells = "".join(f'<rect x="{10 * x / 3:.4f}" width="3.3334" height="50"/>' for x in range(30))
    pixels, _ = svg_pixels(svg(f'<g shape-rendering="crispEdges">{cells}</g>'), reference_fonts())
    assert set(np.unique(pixels[100, :, 3])) == {255}
    pixels, _ = svg_pixels(
        svg('<circle cx="50" cy="50" r="40" style="shape-rendering: crispEdges"/>'), reference_fonts()
    )
    assert set(np.unique(pixels[..., 3])) == {0, 255}


def test_crisp_edges_are_of_shapes_and_not_of_texts() -> None:
    text = '<g shape-rendering="crispEdges"><text y="80" font-size="60" text-decoration="underline" transform="rotate(3)">O</text></g>'
    pixels, _ = svg_pixels(svg(text), reference_fonts())
    assert len(np.unique(pixels[..., 3])) > 100


def test_kerning_may_be_none() -> None:
    text = '<text y="60" font-family="Arial" font-size="30" style="font-kerning: {}">AVA</text>'
    assert width(text.format("none")) > width(text.format("auto")) + 3


@pytest.mark.parametrize(
    ("rule", "is_read"),
    [
        ("letter-spacing: 9", False),
        ("letter-spacing: 9px", True),
        ("word-spacing: 9", False),
        ("font-size: 40", False),
    ],
)
def test_lengths_of_style_sheets_have_units_and_those_of_style_attributes_need_none(rule: str, is_read: bool) -> None:
    text = '<text y="60" font-family="Arial" font-size="20"{}>A B</text>'
    plain, by_sheet = width(text.format("")), width(f"<style>text {{ {rule} }}</style>{text.format('')}")
    assert (by_sheet > plain + 3) == is_read
    assert width(text.format(f' style="{rule}"')) > plain + 3


def test_an_origin_of_css_has_units() -> None:
    square = '<rect width="50" height="50" fill="red" transform="scale(-1 1)" {}/>'
    assert at(square.format('transform-origin="25 0"'), (10, 10)) == [RED]
    assert at(square.format('style="transform-origin: 25px 0"'), (10, 10)) == [RED]
    assert at(square.format('style="transform-origin: 25 0"'), (10, 10)) == [NOTHING]


def test_entities_of_the_document_are_put_into_styles_and_texts() -> None:
    doctype = '<!DOCTYPE svg [<!ENTITY st0 "fill:#FF0000;"><!ENTITY blue ".b{fill:#00F}"><!ENTITY t "Hi">]>'
    body = '<style>&blue;</style><rect style="&st0;" width="50" height="50"/><rect class="b" x="50" width="50" height="50"/>'
    markup = doctype + svg(f'{body}<text y="90" font-size="40">&t;</text>')
    pixels, _ = svg_pixels(markup, reference_fonts())
    assert pixels[500, 500].tolist() == RED
    assert pixels[500, 1500].tolist() == BLUE
    assert pixels[1100:, :, 3].any()


def test_entities_do_not_multiply() -> None:
    doctype = '<!DOCTYPE svg [<!ENTITY e "' + "<g/>" * 1000 + '">]>'
    with pytest.raises(MediaUndecodable):
        svg_pixels(doctype + svg("&e;" * 20_000), reference_fonts())


@pytest.mark.parametrize("value", ["light-dark(#f00, #0f0)", "LIGHT-DARK(rgb(255, 0, 0), var(--dark, rgb(1, 2, 3)))"])
def test_pictures_show_colors_for_light_screens(value: str) -> None:
    for stated in (f'fill="{value}"', f'style="fill: {value}"'):
        assert at(f'<g fill="blue"><rect width="50" height="50" {stated}/></g>', (10, 10)) == [RED]


def test_colors_of_wide_screens_are_drawn_and_not_named() -> None:
    body = '<rect width="50" height="50" fill="#00F" style="fill:#00F;fill:color(display-p3 1.0000 0.3412 0.2000);fill-opacity:1;"/>'
    assert at(body, (10, 10)) == [[255, 68, 24, 255]]
    assert undrawn_features(svg(body)) == ()


def test_a_radius_that_is_no_length_is_none() -> None:
    assert at('<rect width="50" height="50" fill="red" rx="auto" ry="20"/>', (1, 1)) == [RED]
    assert at('<rect width="50" height="50" fill="red" style="rx: auto; ry: 20px"/>', (1, 1)) == [NOTHING]


@pytest.mark.parametrize(
    ("first", "last", "middle"),
    [
        ("#FF0080", "#00FF00", [127, 127, 64, 255]),
        ("color(srgb 1 0 .5)", "#0f0", [206, 171, 102, 255]),
        ("color(display-p3 .9 .3 .2)", "color(display-p3 .2 .5 .8)", [163, 115, 139, 255]),
        ("oklch(62% 0.19 259)", "red", [176, 111, 152, 255]),
    ],
)
def test_gradients_of_wide_colors_are_mixed_in_oklab(first: str, last: str, middle: list[int]) -> None:
    stops = f'<stop style="stop-color:{first}"/><stop offset="1" style="stop-color:{last}"/>'
    (found,) = at(
        f'<linearGradient id="g">{stops}</linearGradient><rect width="100" height="9" fill="url(#g)"/>', (50, 5)
    )
    assert found == pytest.approx(middle, abs=2)
