"""Regions and blurs of SVG filters, and texts with shifts, as in Chromium. Coordinates are in user units of a 100 x 100 view box."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.content.svg import svg_pixels
from tests.gpu_renderer.content.media.test_svg import NOTHING, RED, at, svg
from tests.gpu_renderer.fonts import reference_fonts

PIXEL = 1 / 20.48
REGION = 'filterUnits="userSpaceOnUse" x="10.02" y="10.02" width="80" height="80"'


def filtered(primitives: str, attributes: str, shape: str) -> str:
    return f'<filter id="f" {attributes} color-interpolation-filters="sRGB">{primitives}</filter>{shape}'


def extent(body: str) -> tuple[float, float]:
    """Return the left and right end of everything painted, user units."""
    columns = np.flatnonzero(svg_pixels(svg(body), reference_fonts())[0][..., 3].any(axis=0))
    return columns[0] * PIXEL, (columns[-1] + 1) * PIXEL


def test_a_filter_is_cropped_to_whole_pixels_outward() -> None:
    """The region ends at pixel 1843.6, 0.6 px of it is inside; it begins at 205.2."""
    body = filtered("<feOffset/>", REGION, '<rect width="100" height="100" fill="red" filter="url(#f)"/>')
    inside, outside = at(body, (205.5 * PIXEL, 50), (1843.5 * PIXEL, 50)), at(body, (204.5 * PIXEL, 50))
    assert (inside, outside) == ([RED, RED], [NOTHING])
    narrower = body.replace('width="80"', 'width="79.98"')  # ends at 1843.2
    assert at(narrower, (1843.5 * PIXEL, 50), (1844.5 * PIXEL, 50)) == [RED, NOTHING]


def test_pixels_that_a_region_covers_in_part_do_not_show_its_opposite_edge() -> None:
    body = filtered("<feOffset/>", REGION, '<path d="M0 0H100V90L0 50z" fill="red" filter="url(#f)"/>')
    left, right = at(body, (205.5 * PIXEL, 70), (1843.5 * PIXEL, 70))
    assert (left, right) == (NOTHING, RED)


def test_a_primitive_outside_the_region_of_its_filter_shows_nothing() -> None:
    flood = '<feFlood flood-color="red" x="{}" y="20" width="30" height="30"/>'
    shape = '<rect width="100" height="100" filter="url(#f)"/>'
    assert at(filtered(flood.format(95), REGION, shape), (97, 30), (50, 50)) == [NOTHING, NOTHING]
    assert at(filtered(flood.format(0), REGION, shape), (5, 30), (20, 30)) == [NOTHING, RED]


@pytest.mark.parametrize(
    "body",
    [
        filtered('<feGaussianBlur stdDeviation="4"/>', "", '<g filter="url(#f)">{}</g>'),
        filtered('<feDropShadow dx="0" dy="0" stdDeviation="4" flood-color="red"/>', "", '<g filter="url(#f)">{}</g>'),
        '<g style="filter: blur(4px)">{}</g>',
        '<g style="filter: drop-shadow(0 0 4px red)">{}</g>',
    ],
)
def test_wide_blurs_are_gaussians(body: str) -> None:
    """At 1.5 sigma outside an edge a Gaussian leaves 17 of 255. The three boxes of Chromium without a GPU leave 15."""
    ((*_, alpha),) = at(body.format('<rect x="20" y="10" width="60" height="60" fill="red"/>'), (50, 76))
    assert alpha == pytest.approx(17.5, abs=1)


def test_a_group_with_a_filter_can_hold_shapes_that_turn_about_themselves() -> None:
    turned = '<rect x="30" y="30" width="40" height="10" fill="red" style="transform-box: fill-box; transform-origin: center; transform: rotate(90deg)"/>'
    body = filtered("<feOffset/>", "", f'<g filter="url(#f)">{turned}</g>')
    assert at(body, (50, 20), (32, 35)) == [RED, NOTHING]


@pytest.mark.parametrize("anchor", ["middle", "end"])
def test_the_shift_of_the_first_character_moves_the_whole_chunk(anchor: str) -> None:
    text = f'<text y="50" font-family="Inter" font-size="20" text-anchor="{anchor}" '
    assert extent(f'{text} x="40" dx="20">HOH</text>') == pytest.approx(extent(f'{text} x="60">HOH</text>'), abs=PIXEL)


def test_a_text_length_counts_from_the_first_character() -> None:
    text = '<text y="50" font-family="Inter" font-size="10" textLength="60" '
    wanted = extent(f'{text} x="30">HH</text>')
    assert extent(f'{text} x="10" dx="20">HH</text>') == pytest.approx(wanted, abs=PIXEL)


def test_stretched_texts_have_stretched_shifts() -> None:
    text = '<text x="10" y="50" font-family="Inter" font-size="10" textLength="60" lengthAdjust="spacingAndGlyphs" '
    assert extent(f'{text} dx="0 6">HH</text>') == pytest.approx(extent(f"{text}>HH</text>"), abs=1.5)


def test_a_primitive_covers_the_regions_of_its_inputs() -> None:
    """The light fills the region of the flood, and the whole region where it also reads the source graphic."""
    flood = '<feFlood x="20" y="20" width="30" height="30" result="a"/>'
    light = '<feDiffuseLighting lighting-color="red"><feDistantLight elevation="90"/></feDiffuseLighting>'
    shape = '<rect width="100" height="100" filter="url(#f)"/>'
    assert at(filtered(flood + light, REGION, shape), (25, 25), (60, 60)) == [RED, NOTHING]
    merged = '<feMerge><feMergeNode in="a"/><feMergeNode in="SourceGraphic"/></feMerge>'
    assert at(filtered(flood + merged + light, REGION, shape), (60, 60)) == [RED]


def test_displacements_can_be_shares_of_the_box() -> None:
    """Opaque alpha displaces by half of the scale, here by 10 of 40."""
    flood = '<feFlood result="a"/><feDisplacementMap in="SourceGraphic" in2="a" scale="0.5" xChannelSelector="A" yChannelSelector="A"/>'
    shape = '<rect x="30" y="30" width="40" height="40" fill="red" filter="url(#f)"/>'
    body = filtered(flood, 'x="-1" y="-1" width="3" height="3" primitiveUnits="objectBoundingBox"', shape)
    assert at(body, (22, 22), (58, 58), (62, 62)) == [RED, RED, NOTHING]


HALVES = '<clipPath id="c" clipPathUnits="objectBoundingBox"><rect width=".5" height="1"/></clipPath>'
CLIPPED = 'clip-path="url(#c)"'


@pytest.mark.parametrize(
    "shown",
    [
        f'<symbol id="s"><rect x="20" y="20" width="40" height="40" fill="red"/></symbol><use href="#s" {CLIPPED}/>',
        f'<symbol id="s" viewBox="0 0 10 10"><rect width="10" height="10" fill="red"/></symbol><use href="#s" x="20" y="20" width="40" height="40" {CLIPPED}/>',
        f'<g {CLIPPED}><svg x="20" y="20" width="40" height="40" viewBox="0 0 1 1"><rect width="1" height="1" fill="red"/></svg></g>',
        f'<defs><rect id="s" width="40" height="40" fill="red"/></defs><g {CLIPPED}><use href="#s" x="20" y="20"/></g>',
        f'<symbol id="s"><rect width="20" height="20" fill="red"/></symbol><g {CLIPPED}><use href="#s" transform="scale(2)" x="10" y="10"/></g>',
    ],
)  # fmt: skip
def test_the_box_of_uses_and_nested_documents_is_that_of_what_they_show(shown: str) -> None:
    assert at(HALVES + shown, (22, 30), (38, 30), (42, 30)) == [RED, RED, NOTHING]


def test_the_space_of_a_use_begins_at_its_position() -> None:
    clip = '<clipPath id="c"><rect width="10" height="10"/></clipPath>'
    body = (
        f'{clip}<defs><rect id="s" width="40" height="40" fill="red"/></defs><use href="#s" x="50" y="50" {CLIPPED}/>'
    )
    assert at(body, (55, 55), (65, 55)) == [RED, NOTHING]
    inside = f'<clipPath id="d"><use href="#s" x="50" y="50" {CLIPPED}/></clipPath>'
    body = f'{clip}{inside}<defs><rect id="s" width="40" height="40"/></defs><rect width="100" height="100" fill="red" clip-path="url(#d)"/>'
    assert at(body, (55, 55), (65, 55), (5, 5)) == [RED, NOTHING, NOTHING]


def test_a_stroke_without_width_is_not_drawn() -> None:
    line = '<path d="M0 50.02H100" stroke="red" stroke-width="{}"/>'
    assert at(line.format("0"), (50, 50.02)) == [NOTHING]
    assert at(line.format("1"), (50, 50.02)) == [RED]
