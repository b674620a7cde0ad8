"""SVG documents that would block a worker are refused with a reason before they are drawn."""

from __future__ import annotations

import base64
import io
import random
import struct
import time
import zlib

import pytest
from PIL import Image

from gpu_renderer.content.svg import svg_pixels
from gpu_renderer.content.svg.budget import LIMITS, Budget, Cost
from gpu_renderer.errors import MediaUndecodable
from tests.gpu_renderer.fonts import reference_fonts


def svg(body: str, attributes: str = 'width="100" height="100"') -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{body}</svg>'


def stated_png(side: int) -> str:
    """Return a PNG that claims a number of pixels and has none."""
    header = struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    data = b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def multiplied(inside: str, layer: str, depth: int, count: int) -> str:
    """Return definitions in which each layer uses the previous one several times."""
    layers = "".join(
        f'<g id="g{n}">' + layer.format(n - 1) * count + "</g>" for n in range(1, depth)
    )  # fmt: skip
    return f'<defs><g id="g0">{inside}</g>{layers}</defs><use href="#g{depth - 1}"/>'


CLIPS = "".join(
    f'<clipPath id="c{n}" clip-path="url(#c{n - 1})"><path d="{"M0 0L9 9 3 1z" * 40}"/><path d="{"M1 5L2 8 7 2z" * 40}"/></clipPath>'
    for n in range(1, 40)
)
ZIGZAG = "M0 0" + "l1 1l1 -1" * 3000


def tangle(count: int) -> str:
    """Return a line that goes back and forth within a small square, and one point far away."""
    chance = random.Random(count)
    inside = " ".join(f"{chance.uniform(0, 9):.3f},{chance.uniform(0, 9):.3f}" for _ in range(count))
    return f'<polyline points="{inside} 90,90" stroke="red" fill="none"/>'


ATTACKS = {
    Cost.elements: multiplied('<rect width="1" height="1"/>', '<use href="#g{}"/>', 9, 20),
    Cost.matches: "<style>" + ".none g g g g g g rect{fill:red}" * 40 + "</style>"
    + "<g>" * 30 + '<rect width="1" height="1"/>' * 50 + "</g>" * 30,
    Cost.variables: "<style>rect{--a0:xxxxxxxxxx;" + "".join(f"--a{n}:var(--a{n - 1}) var(--a{n - 1});" for n in range(1, 40))
    + "fill:var(--a39)}</style><rect width='9' height='9'/>",
    Cost.characters: '<text y="20">' + "<tspan>" * 25 + "a" * 60_000 + "</tspan>" * 25 + "</text>",
    Cost.crossings: CLIPS + '<rect width="9" height="9" clip-path="url(#c39)"/>',
    Cost.self_crossings: tangle(40_000),
    Cost.layers: '<svg width="1" height="1">' + '<rect width="9" height="9" opacity=".5"/>' * 2500 + "</svg>",
    Cost.filters: '<filter id="f">' + "<feOffset/>" * 60 + "</filter>" + '<rect width="9" height="9" filter="url(#f)"/>' * 20,
    Cost.painted: multiplied('<rect width="100" height="100" fill="red"/>', '<use href="#g{}"/>', 5, 8),
    Cost.pictures: f'<image width="9" height="9" href="{stated_png(9000)}"/>' * 40,
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("cost", ATTACKS, ids=lambda cost: cost.name)
def test_a_document_beyond_a_limit_is_refused_and_the_reason_names_it(
    cost: Cost, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cost in (Cost.matches, Cost.painted):  # reaching the limit takes seconds
        monkeypatch.setitem(LIMITS, cost, LIMITS[cost] // 20)
    with pytest.raises(MediaUndecodable) as refusal:
        svg_pixels(svg(ATTACKS[cost]), reference_fonts())
    assert refusal.value.public_message == f"An SVG document has more than {LIMITS[cost]:,} {cost}."


def test_many_shapes_of_one_path_are_told_from_lines_that_cross() -> None:
    """There is no line from the end of one outline to the start of the next."""
    dots = [f"M{x / 2:.1f} {y / 2:.1f}h.2v.2h-.2z" for x in range(200) for y in range(200)]
    random.Random(1).shuffle(dots)
    svg_pixels(svg(f'<path d="{"".join(dots)}"/>'), reference_fonts())


def test_dashes_count_by_their_number_and_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny dashes would take a second for each of these lines, and wide ones ten."""
    monkeypatch.setitem(LIMITS, Cost.painted, LIMITS[Cost.painted] // 20)
    for dash, width in ((".0003", 0.1), (".01", 40)):
        line = f'<path d="M0 50h100" stroke="red" stroke-width="{width}" stroke-dasharray="{dash}"/>'
        with pytest.raises(MediaUndecodable, match="painted"):
            svg_pixels(svg(line * 3), reference_fonts())


def test_dashes_of_a_chart_need_little_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, Cost.painted, LIMITS[Cost.painted] // 20)
    lines = "".join(
        f'<path d="M0 {y}h100" stroke="red" stroke-width=".2" stroke-dasharray="1 .5"/>' for y in range(100)
    )
    svg_pixels(svg(lines), reference_fonts())


def test_markers_and_patterns_count_what_they_draw_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, Cost.elements, 5_000)
    marker = '<marker id="m">' + "<circle r='1'/>" * 50 + "</marker>"
    body = f'{marker}<path d="{ZIGZAG}" marker-mid="url(#m)" fill="none" stroke="red"/>'
    with pytest.raises(MediaUndecodable, match="elements"):
        svg_pixels(svg(body), reference_fonts())


def filtered(primitives: str) -> str:
    """Return a document covered by a filter of these primitives."""
    region = 'x="0" y="0" width="1" height="1"'
    shape = '<rect width="100" height="100" filter="url(#f)"/>'
    return svg(f'<filter id="f" {region}>{primitives}</filter>{shape}')


def test_a_result_of_a_filter_counts_as_often_as_it_is_used() -> None:
    """Skia draws it again for each use: this doubling would take years."""
    doubled = "".join(
        f'<feMerge result="r{n}"><feMergeNode in="r{n - 1}"/><feMergeNode in="r{n - 1}"/></feMerge>'
        for n in range(1, 40)
    )
    with pytest.raises(MediaUndecodable, match="painted"):
        svg_pixels(filtered(f'<feOffset dx="1" result="r0"/>{doubled}'), reference_fonts())


def test_an_element_in_a_filter_counts_as_often_as_its_result_is_used() -> None:
    painted = '<rect width="100" height="100" fill-opacity=".01"/>' * 400
    nodes = '<feMergeNode in="r"/>' * 30
    merged = f'<feImage href="#many" result="r"/><feMerge>{nodes}</feMerge>'
    body = filtered(merged).replace("</svg>", f'<defs><g id="many">{painted}</g></defs></svg>')
    with pytest.raises(MediaUndecodable, match="painted"):
        svg_pixels(body, reference_fonts())


@pytest.mark.parametrize(
    "primitive",
    [
        '<feGaussianBlur stdDeviation="2"/>',
        '<feMorphology radius="9"/>',
        '<feTurbulence baseFrequency=".1" numOctaves="9"/>',
        '<feMorphology radius="1e300"/>',
        "<feDiffuseLighting><feDistantLight/></feDiffuseLighting>",
        f'<feConvolveMatrix order="9" kernelMatrix="{" 1" * 81}"/>',
    ],
)
def test_filters_count_by_what_they_cost(primitive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, Cost.painted, LIMITS[Cost.painted] // 40)
    with pytest.raises(MediaUndecodable, match="painted"):
        svg_pixels(filtered(primitive), reference_fonts())


def test_masks_count_as_layers_whose_luminance_is_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, Cost.painted, LIMITS[Cost.painted] // 20)
    masked = '<rect width="100" height="100" mask="url(#m)"/>' * 12
    with pytest.raises(MediaUndecodable, match="painted"):
        svg_pixels(svg(f'<mask id="m"><rect width="100" height="100" fill="#fff"/></mask>{masked}'), reference_fonts())


def test_an_ordinary_document_needs_little_of_any_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_renderer.content.svg.budget.LIMITS", {cost: limit // 20 for cost, limit in LIMITS.items()})
    buffer = io.BytesIO()
    Image.new("RGB", (300, 200), "red").save(buffer, "PNG")
    picture = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
    parts = [
        "<style>.a{fill:red;--w:2;stroke-width:var(--w)} g > .b:nth-child(2n){opacity:.5}</style>",
        '<g class="a">' + "".join(f'<circle class="b" cx="{n}" cy="50" r="3"/>' for n in range(40)) + "</g>",
        f'<image width="90" height="60" href="{picture}"/><text y="40">Some <tspan x="3">words</tspan> here</text>',
        '<filter id="f"><feGaussianBlur stdDeviation="2"/></filter><rect width="60" height="40" filter="url(#f)"/>',
    ]
    pixels, _ = svg_pixels(svg("".join(parts)), reference_fonts())
    assert pixels.any()


def test_a_budget_is_of_one_drawing() -> None:
    for _ in range(2):
        Budget().spend(Cost.layers, LIMITS[Cost.layers])


LONG = 200_000


@pytest.mark.parametrize(
    "attributes",
    [
        f'style="fill: light-dark({" " * LONG}x)"',
        f'style="fill: lab({"1" * LONG} 1 1)"',
        f'style="width: {"1" * LONG}"',
        f'style="filter: {"a" * LONG}"',
        f'style="filter: a{" " * LONG}a"',
        f'style="transform: translate({"0" * LONG} 1)"',
        f'style="transform: {"a" * LONG}"',
        f'width="1{" " * LONG}!" transform="{"a" * LONG}"',
    ],
)
def test_long_values_of_properties_are_read_once(attributes: str) -> None:
    """Backtracking patterns took minutes for a few thousand digits or spaces."""
    began = time.process_time()
    svg_pixels(svg(f'<rect height="50" {attributes}/>'), reference_fonts())
    assert time.process_time() - began < 20
