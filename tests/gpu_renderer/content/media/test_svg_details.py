"""Details of SVG documents are drawn as in Chromium. Coordinates are in user units of a 100 x 100 view box."""

from __future__ import annotations

import base64
import io

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from gpu_renderer.content.svg import svg_pixels
from tests.gpu_renderer.content.media.test_svg import BLUE, NOTHING, RED, at, svg
from tests.gpu_renderer.fonts import reference_fonts

LIME = [0, 255, 0, 255]
MARKER = (
    '<marker id="m" refX="50%" refY="50%" markerUnits="userSpaceOnUse" markerWidth="20%" markerHeight="20%">{}</marker>'
)


def test_emoji_are_pictures_in_texts_on_paths_and_spans_and_as_opaque_as_the_fill() -> None:
    text = '<text x="10" y="80" font-size="60" {}>\U0001f534</text>'
    (solid,) = at(text.format(""), (50, 55))
    assert solid[0] > 150 > solid[2]
    assert solid[3] == 255
    (faded,) = at(text.format('fill-opacity=".5"'), (50, 55))
    assert faded[3] == pytest.approx(128, abs=2)
    assert at(text.format('fill="none"'), (50, 55)) == [NOTHING]
    on_path = '<text font-size="60"><textPath path="M10 80H90"><tspan>\U0001f534</tspan></textPath></text>'
    assert at(on_path, (50, 55)) == [solid]


@pytest.mark.parametrize(
    ("order", "wanted"),
    [("markers", [BLUE, BLUE]), ("stroke", [LIME, RED]), ("stroke markers", [RED, RED]), ("fill", [LIME, BLUE])],
)
def test_fill_stroke_and_markers_have_an_order(order: str, wanted: list[list[int]]) -> None:
    marker = (
        '<marker id="m" refX="3" refY="3" markerWidth="6" markerHeight="6" markerUnits="userSpaceOnUse">{}</marker>'
    )
    square = f'<path d="M40 40H80V80H40Z" fill="red" stroke="blue" stroke-width="12" marker-start="url(#m)" paint-order="{order}"/>'
    body = marker.format('<rect width="6" height="6" fill="lime"/>') + square
    assert at(body, (42, 42), (43.5, 60)) == wanted


def test_a_clipped_element_does_not_blend_with_its_surroundings() -> None:
    body = (
        '<clipPath id="c"><rect width="100" height="80"/></clipPath><rect width="70" height="70" fill="red"/>'
        '<g {}><rect x="30" y="30" width="50" height="60" fill="blue" style="mix-blend-mode: multiply"/></g>'
    )
    assert at(body.format(""), (50, 50)) == [[0, 0, 0, 255]]
    assert at(body.format('clip-path="url(#c)"'), (50, 50), (50, 85)) == [BLUE, NOTHING]
    assert at(body.format('clip-path="inset(0)"'), (50, 50)) == [BLUE]


@pytest.mark.parametrize(
    ("value", "middle"), [("path('M0 0H30V30H0Z')", RED), ("path(evenodd, 'M0 0H30V30H0ZM5 5H25V25H5Z')", NOTHING)]
)
def test_a_clip_path_of_path_data_starts_at_the_corner_of_the_box(value: str, middle: list[int]) -> None:
    body = f'<rect x="20" y="40" width="60" height="50" fill="red" style="clip-path: {value}"/>'
    assert at(body, (22, 42), (35, 55), (60, 80)) == [RED, middle, NOTHING]


@pytest.mark.parametrize(
    ("name", "color"),
    [
        ("Canvas", (255, 255, 255, 255)),
        ("canvastext", (0, 0, 0, 255)),
        ("LinkText", (0, 0, 238, 255)),
        ("Mark", (255, 255, 0, 255)),
    ],
)
def test_system_colors(name: str, color: tuple[int, ...]) -> None:
    assert at(f'<g fill="red"><rect width="9" height="9" fill="{name}"/></g>', (5, 5)) == [list(color)]


def test_a_value_of_a_variable_that_is_not_there_leaves_the_inherited_one() -> None:
    body = '<g fill="red"><rect width="9" height="9" fill="blue" style="fill: var(--none)"/></g>'
    assert at(body, (5, 5)) == [RED]


def test_a_font_shorthand_may_state_a_size_that_begins_with_a_point() -> None:
    pixels, _ = svg_pixels(svg('<text x="5" y="50" style="font: 700 .9em sans-serif">H</text>'), reference_fonts())
    assert pixels[: int(38 * 20.48), :, 3].max() == 0  # the letter has a height of 10
    assert pixels[int(45 * 20.48), :, 3].max() == 255


def test_percentages_of_a_marker_are_of_the_view() -> None:
    body = (
        MARKER.format('<rect x="40" y="40" width="30" height="30" fill="red"/>')
        + '<path d="M50 50H90" marker-start="url(#m)"/>'
    )
    assert at(body.replace('="20%"', '="80%"'), (45, 45), (65, 65), (38, 50)) == [RED, RED, NOTHING]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ('<rect width="9" height="9" style="mask: linear-gradient(#000, transparent)"/>', "mask"),
        ("<style>svg { background: linear-gradient(red, blue) }</style>", "background"),
    ],
)
def test_gradients_of_css_that_are_not_drawn_are_named(body: str, named: str) -> None:
    _, lines = svg_pixels(svg(body), reference_fonts())
    assert any(f"The {named} 'linear-gradient" in line for line in lines)


def embedded(levels: npt.NDArray[np.uint8]) -> str:
    buffer = io.BytesIO()
    Image.fromarray(levels).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def test_an_embedded_picture_that_is_reduced_keeps_its_mean() -> None:
    rows, columns = np.mgrid[:1024, :1024]
    picture = embedded(((rows + columns) % 2 * 255).astype(np.uint8))
    pixels, _ = svg_pixels(svg(f'<image width="10" height="10" href="{picture}"/>'), reference_fonts())
    inside = pixels[5:195, 5:195, 0]
    assert 120 < inside.min() <= inside.max() < 135


@pytest.mark.parametrize(
    ("rendering", "is_smooth"), [("pixelated", False), ("crisp-edges", False), ("optimizeSpeed", True), ("auto", True)]
)
def test_an_enlarged_picture_is_smooth_unless_its_pixels_are_wanted(rendering: str, is_smooth: bool) -> None:
    picture = embedded(np.array([[0, 255]], np.uint8))
    body = f'<image width="40" height="20" preserveAspectRatio="none" image-rendering="{rendering}" href="{picture}"/>'
    ((level, *_),) = at(body, (18, 10))
    assert (30 < level < 225) == is_smooth


def test_texts_on_paths_are_underlined() -> None:
    """The path runs down the middle, so that the line is on the left of it."""
    body = (
        '<path id="p" d="M50 0V100"/><text font-size="20" fill="red" text-decoration="underline">'
        '<textPath href="#p">MMMM</textPath></text>'
    )
    assert at(body.replace('id="p"', 'id="p" fill="none"'), (48, 20), (48, 50), (44, 50)) == [RED, RED, NOTHING]


def test_glyphs_interrupt_a_line_below_them_but_not_one_through_them() -> None:
    text = '<text x="5" y="40" font-size="40" font-family="DejaVu Sans" fill="red" text-decoration="{}">jo</text>'
    beside_the_j, below_the_o = (12.5, 43), (30, 43)
    assert at(text.format("underline"), beside_the_j, below_the_o) == [NOTHING, RED]
    assert at(text.format("line-through"), (12.6, 28.7)) == [RED]


def test_a_switch_shows_what_it_has_instead_of_html() -> None:
    body = '<switch><foreignObject width="9" height="9"/><rect width="9" height="9" fill="red"/></switch>'
    pixels, lines = svg_pixels(svg(body), reference_fonts())
    assert pixels[90, 90].tolist() == RED
    assert lines == ("The HTML of an SVG document (foreignObject) is replaced by the other content of its switch.",)
    of_illustrator = body.replace("<foreignObject", '<foreignObject requiredExtensions="http://ns.adobe.com/"')
    assert at(of_illustrator, (4, 4)) == [RED]
