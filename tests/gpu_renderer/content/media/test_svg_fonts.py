"""Fonts of SVG texts are chosen and sized as in browsers. Coordinates are in user units of a 100 x 100 view box."""

from __future__ import annotations

import pytest

from gpu_renderer.content.svg import svg_pixels
from tests.gpu_renderer.content.media.test_svg import svg
from tests.gpu_renderer.content.media.test_svg_browser import painted
from tests.gpu_renderer.fonts import reference_fonts


@pytest.mark.parametrize(
    ("around", "own", "size"),
    [
        ("", 'font-family="monospace"', 13),
        ("", 'font-family="MonoSpace" font-size="16"', 16),
        ("", 'font-family="monospace, monospace"', 16),
        ("", """style="font-family: 'monospace'" """, 16),
        ("", 'font-family="monospace" font-size="2em"', 26),
        ("", 'font-family="monospace" font-size="200%"', 26),
        ("", 'font-family="monospace" style="font-size: 2rem"', 32),
        ("", 'font-family="monospace" font-size="larger"', 15.6),
        ("", 'font-family="monospace" font-size="small"', 12),
        ("", 'font-family="monospace" font-size="xxx-large"', 39),
        ("", 'style="font: xx-large monospace"', 26),
        ('font-size="large"', 'font-family="monospace"', 16),
        ('font-size="1.5em"', 'font-family="monospace"', 19.5),
        ('font-size="20"', 'font-family="monospace"', 20),
        ('font-size="20"', 'font-family="monospace" font-size="2em"', 40),
        ('font-family="monospace"', "", 13),
        ('font-family="monospace"', 'font-family="DejaVu Sans"', 16),
        ('font-family="monospace" font-size="2em"', 'font-family="DejaVu Sans"', 32),
        ('font-family="monospace" font-size="2em"', 'font-size="inherit"', 26),
    ],
)
def test_text_in_monospace_alone_is_smaller_unless_its_size_is_a_length(around: str, own: str, size: float) -> None:
    """An M of DejaVu is 0.729 em high."""
    _, top, _, bottom = painted(f'<g {around}><text x="5" y="50" {own}>M</text></g>')
    assert (bottom - top) / 0.729 == pytest.approx(size, abs=0.2)


def width(text: str, attributes: str = "") -> float:
    left, _, right, _ = painted(f'<text x="5" y="50" font-family="DejaVu Sans" {attributes}>{text}</text>')
    return right - left


def heights(text: str, attributes: str) -> list[float]:
    """Return the height of the ink of each character, in ems of 20."""
    style = f'font-family="DejaVu Sans" font-size="20" {attributes}'
    found = (painted(f'<text x="5" y="50" {style}>{char}</text>') for char in text)
    return [(bottom - top) / 20 for _, top, _, bottom in found]


@pytest.mark.parametrize(
    ("attributes", "small"),
    [
        ('font-variant="small-caps"', [False, True, False]),
        ('style="font-variant: no-common-ligatures SMALL-CAPS"', [False, True, False]),
        ('style="font-variant-caps: petite-caps"', [False, True, False]),
        ('style="font: small-caps 20px DejaVu Sans"', [False, True, False]),
        ('style="font-variant-caps: all-small-caps"', [True, True, True]),
    ],
)
def test_small_capitals_are_capitals_of_seven_tenths(attributes: str, small: list[bool]) -> None:
    """Capitals and digits of DejaVu are 0.729 em high."""
    expected = [0.729 * (0.7 if is_small else 1.0) for is_small in small]
    assert heights("Zz1", attributes) == pytest.approx(expected, abs=0.03)


def test_unicase_makes_everything_but_small_letters_smaller() -> None:
    plain = heights("Zz1", "")
    expected = [plain[0] * 0.7, plain[1], plain[2] * 0.7]
    assert heights("Zz1", 'style="font-variant-caps: unicase"') == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("attributes", ['font-variant-caps="small-caps"', 'style="font-variant-caps: titling-caps"'])
def test_other_letters_keep_their_size(attributes: str) -> None:
    assert heights("Zz1", attributes) == heights("Zz1", "")


def test_small_capitals_advance_by_their_own_width_and_follow_the_spacing_of_the_text() -> None:
    spaced = 'font-size="20" letter-spacing="0.1em" {}'
    small = width("zzzz", spaced.format('font-variant="small-caps"'))
    assert small == pytest.approx(width("ZZZZ", 'font-size="14" letter-spacing="2"'), abs=0.1)


def test_a_mark_stays_with_its_small_capital_and_an_eszett_becomes_two() -> None:
    assert width("\u00dfz\u0301", 'font-variant="small-caps" font-size="20"') == pytest.approx(
        width("SSZ\u0301", 'font-size="14"'), abs=0.1
    )


def test_lines_below_small_capitals_are_those_of_the_text() -> None:
    line = 'font-size="20" font-family="DejaVu Sans" text-decoration="underline"'
    boxes = [
        painted(f'<text x="5" y="50" {line} {more}>z<tspan fill="none">zzz</tspan></text>')
        for more in ("", 'font-variant="small-caps"')
    ]
    assert boxes[0][3] == boxes[1][3]


@pytest.mark.parametrize(
    ("attribute", "body"),
    [
        ("text-transform", '<text x="5" y="50" font-size="30" {}>abc</text>'),
        ("white-space", '<text x="5" y="50" font-size="30" {}>a   c</text>'),
        ("text-decoration-line", '<text x="5" y="50" font-size="30" {}>abc</text>'),
        ("transform-box", '<path d="M40 20h20v20z" transform="rotate(45)" transform-origin="50% 50%" {}/>'),
        ("mix-blend-mode", '<path d="M0 0h90v90z" fill="red"/><path d="M0 0h60v60z" fill="lime" {}/>'),
        ("isolation", '<path d="M0 0h90v90z" fill="red"/><g {}><path d="M0 0h60v60z" fill="lime" style="mix-blend-mode: multiply"/></g>'),
    ],
)  # fmt: skip
def test_properties_of_css_alone_are_not_read_from_attributes(attribute: str, body: str) -> None:
    values = {"text-transform": "uppercase", "white-space": "pre", "text-decoration-line": "underline",
              "transform-box": "fill-box", "mix-blend-mode": "multiply", "isolation": "isolate"}  # fmt: skip
    value = values[attribute]
    plain, stated, styled = (
        svg_pixels(svg(body.format(more)), reference_fonts())[0].tobytes()
        for more in ("", f'{attribute}="{value}"', f'style="{attribute}: {value}"')
    )
    assert plain == stated
    assert plain != styled
