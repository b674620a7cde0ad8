"""CSS filter functions on SVG elements. Expected colours are Chromium's."""

from __future__ import annotations

import pytest

from gpu_renderer.content.svg import svg_pixels
from tests.gpu_renderer.content.media.test_svg import NOTHING, RED, at, svg
from tests.gpu_renderer.fonts import reference_fonts

Color = tuple[int, ...]
BLUISH = [68, 136, 204, 255]


def square(value: str, more: str = "") -> str:
    return f'{more}<rect x="30" y="30" width="40" height="40" fill="#48c" style="filter: {value}"/>'


@pytest.mark.parametrize(
    ("value", "color"),
    [
        ("grayscale(1)", (126, 126, 126, 255)),
        ("sepia(100%)", (170, 151, 118, 255)),
        ("saturate(0)", (126, 126, 126, 255)),
        ("hue-rotate(90deg)", (204, 97, 185, 255)),
        ("invert()", (187, 119, 51, 255)),
        ("opacity(50%)", (34, 68, 102, 128)),
        ("brightness(1.5)", (102, 204, 255, 255)),
        ("contrast(.5)", (98, 132, 166, 255)),
        ("grayscale(1) brightness(1.5)", (189, 189, 189, 255)),
    ],
)
def test_functions_of_colors(value: str, color: Color) -> None:
    (found,) = at(square(value), (50, 50))
    assert found == pytest.approx(color, abs=2)


def test_a_drop_shadow_has_its_own_color_or_that_of_the_text() -> None:
    assert at(square("drop-shadow(10px 0 red)"), (75, 50), (50, 50), (25, 50)) == [RED, BLUISH, NOTHING]
    assert at(f'<g color="red">{square("drop-shadow(0 10px)")}</g>', (50, 75)) == [RED]


def test_a_blur_of_a_length_spreads_the_edge() -> None:
    inside, outside = at(square("blur(4px)"), (32, 50), (28, 50))
    assert 255 > inside[3] > outside[3] > 0


def test_a_list_filters_in_its_order() -> None:
    assert at(square("grayscale(1) drop-shadow(30px 0 red)"), (85, 50)) == [RED]
    ((red, green, blue, _),) = at(square("drop-shadow(30px 0 red) grayscale(1)"), (85, 50))
    assert red == green == blue


def test_a_list_mixes_functions_and_elements() -> None:
    offset = '<filter id="f" x="-100%" width="300%" color-interpolation-filters="sRGB"><feOffset dx="-20"/></filter>'
    assert at(square("url(#f) drop-shadow(0 20px red)", offset), (20, 50), (20, 80), (60, 50)) == [BLUISH, RED, NOTHING]
    assert at(square("url(#none) drop-shadow(15px 0 red)"), (80, 50)) == [RED]


@pytest.mark.parametrize(
    ("value", "color"),
    [
        ("url(#linear) brightness(1.5)", (83, 164, 244, 255)),
        ("url(#linear) invert()", (248, 225, 169, 255)),
        ("url(#linear) brightness(1.5) grayscale(1)", (159, 159, 159, 255)),
        ("url(#own) invert()", (248, 225, 169, 255)),
        ("invert() url(#linear) contrast(.5)", (187, 158, 141, 255)),
        ("url(#encoded) invert()", (187, 119, 51, 255)),
        ("url(#linear) url(#encoded) invert()", (187, 119, 51, 255)),
        ("url(#none) invert()", (187, 119, 51, 255)),
    ],
)
def test_functions_compute_in_the_light_of_the_last_element_before_them(value: str, color: Color) -> None:
    encoded = 'color-interpolation-filters="sRGB"'
    filters = (
        '<filter id="linear"><feOffset/></filter>'
        f'<filter id="encoded" {encoded}><feOffset/></filter>'
        f'<filter id="own" {encoded}><feOffset/><feOffset color-interpolation-filters="linearRGB"/></filter>'
    )
    (found,) = at(square(value, filters), (50, 50))
    assert found == pytest.approx(color, abs=2)


def test_the_shadow_of_a_function_after_a_linear_element_has_a_linear_color() -> None:
    (shadow,) = at(square("url(#f) drop-shadow(15px 0 #48c)", '<filter id="f"><feOffset/></filter>'), (75, 50))
    assert shadow == pytest.approx((141, 193, 231, 255), abs=2)


@pytest.mark.parametrize("value", ["foo(3)", "grayscale(1) foo(3)", "invert() " * 16 + "grayscale(1)"])
def test_a_list_with_a_function_that_is_not_known_or_with_too_many_is_named_and_filters_nothing(value: str) -> None:
    pixels, lines = svg_pixels(svg(square(value)), reference_fonts())
    assert pixels[1024, 1024].tolist() == BLUISH
    assert any(value[:60] in line for line in lines)
