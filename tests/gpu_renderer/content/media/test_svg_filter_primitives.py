"""Filter primitives of SVG documents that light, convolve and read pictures. Coordinates are in user units of a 100 x 100 view box."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from gpu_renderer.content.svg import svg_pixels
from tests.gpu_renderer.content.media.test_svg import BLUE, NOTHING, RED, at, svg
from tests.gpu_renderer.fonts import reference_fonts

WHOLE = 'x="0" y="0" width="100" height="100" filterUnits="userSpaceOnUse"'
SHAPE = '<rect x="20" y="20" width="60" height="60" fill="blue" filter="url(#f)"/>'


def filtered(primitives: str, shape: str = SHAPE, space: str = "sRGB") -> str:
    return f'<filter id="f" {WHOLE} color-interpolation-filters="{space}">{primitives}</filter>{shape}'


def lit(kind: str, light: str, attributes: str = 'lighting-color="red"') -> str:
    return f'<fe{kind}Lighting surfaceScale="0" {attributes}>{light}</fe{kind}Lighting>'


@pytest.mark.parametrize(
    ("light", "place", "color"),
    [
        ('<feDistantLight elevation="90"/>', (10, 10), [255, 0, 0, 255]),
        ('<feDistantLight azimuth="70" elevation="30"/>', (50, 50), [128, 0, 0, 255]),
        ('<fePointLight x="50" y="50" z="40"/>', (50, 50), [255, 0, 0, 255]),
        ('<fePointLight x="50" y="50" z="40"/>', (80, 50), [204, 0, 0, 255]),  # 40 / hypot(30, 40)
        ('<feSpotLight x="50" y="50" z="40" pointsAtX="50" pointsAtY="50" limitingConeAngle="20"/>', (50, 50), [255, 0, 0, 255]),
        ('<feSpotLight x="50" y="50" z="40" pointsAtX="50" pointsAtY="50" limitingConeAngle="20"/>', (80, 50), [0, 0, 0, 255]),
    ],
)  # fmt: skip
def test_a_light_shines_on_a_flat_surface_by_its_angle(
    light: str, place: tuple[float, float], color: list[int]
) -> None:
    (found,) = at(filtered(lit("Diffuse", light)), place)
    assert found == pytest.approx(color, abs=2)


def test_a_light_shines_in_the_space_of_the_filter() -> None:
    half = '<feDistantLight azimuth="70" elevation="30"/>'
    (found,) = at(filtered(lit("Diffuse", half), space="linearRGB"), (50, 50))
    assert found == pytest.approx([188, 0, 0, 255], abs=2)


def test_a_highlight_is_transparent_where_no_light_is_reflected() -> None:
    """The halfway vector of a light at 30 degrees stands 30 degrees off the surface's normal."""
    light, attributes = '<feDistantLight elevation="30"/>', 'lighting-color="white" specularExponent="{}"'
    (wide,), (narrow,) = (
        at(filtered(lit("Specular", light, attributes.format(exponent))), (50, 50)) for exponent in (2, 100)
    )
    assert wide == pytest.approx([191] * 4, abs=2)
    assert narrow == NOTHING


def test_slopes_that_face_the_light_are_brighter() -> None:
    bump = '<feGaussianBlur in="SourceAlpha" stdDeviation="5"/><feDiffuseLighting surfaceScale="10"><feDistantLight azimuth="180" elevation="45"/></feDiffuseLighting>'
    left, middle, right = at(filtered(bump), (20, 50), (50, 50), (80, 50))
    assert left[0] > middle[0] + 20 > right[0] + 40


def test_a_surface_without_a_light_is_transparent() -> None:
    assert at(filtered("<feDiffuseLighting/>"), (50, 50)) == [NOTHING]


@pytest.mark.parametrize(
    ("attributes", "color"),
    [
        ('order="1" kernelMatrix="2" divisor="2"', BLUE),
        ('kernelMatrix="1 1 1 1 1 1 1 1 1"', BLUE),
        ('kernelMatrix="0 0 0 0 .5 0 0 0 0" divisor="1"', [0, 0, 128, 128]),
        ('kernelMatrix="0 0 0 0 .5 0 0 0 0" divisor="1" preserveAlpha="true"', [0, 0, 128, 255]),
        ('kernelMatrix="1 1"', NOTHING),
        ('kernelMatrix="1 1 1 1 1 1 1 1 1" targetX="3"', NOTHING),
        ('order="0" kernelMatrix="1"', NOTHING),
    ],
)
def test_a_matrix_weighs_the_neighbours_of_each_pixel(attributes: str, color: list[int]) -> None:
    (found,) = at(filtered(f"<feConvolveMatrix {attributes}/>"), (50, 50))
    assert found == pytest.approx(color, abs=1)


def test_a_matrix_counts_in_pixels_of_the_raster() -> None:
    """The factor before the target takes the pixel on its right: the picture moves to the left."""
    moved = filtered('<feConvolveMatrix order="9 1" targetX="4" kernelMatrix="1 0 0 0 0 0 0 0 0"/>')
    first = [np.nonzero(svg_pixels(svg(body), reference_fonts())[0][1024, :, 3])[0][0] for body in (SHAPE, moved)]
    assert first[0] - first[1] == 4


def test_an_image_is_fitted_into_the_region_of_its_primitive() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 2), "red").save(buffer, "PNG")
    link = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
    body = filtered(f'<feImage href="{link}" x="30" y="30" width="40" height="40" {{}}/>')
    assert at(body.format(""), (32, 50), (68, 50), (50, 38), (50, 62)) == [RED, RED, NOTHING, NOTHING]
    assert at(body.format('preserveAspectRatio="none"'), (32, 32), (68, 68), (25, 50)) == [RED, RED, NOTHING]


def test_an_element_can_be_an_image_of_a_filter() -> None:
    drawn = '<defs><rect id="r" width="20" height="20" fill="red"/></defs>'
    body = drawn + filtered('<feImage href="#r" x="30" y="40" width="60" height="60"/>')
    assert at(body, (31, 41), (49, 59), (51, 50), (25, 50)) == [RED, RED, NOTHING, NOTHING]


def test_a_filter_whose_image_is_its_own_element_ends() -> None:
    shape = SHAPE.replace("<rect", '<rect id="s"')
    assert len(at(filtered('<feImage href="#s"/>', shape), (50, 50))) == 1


def test_an_image_that_is_not_embedded_is_named() -> None:
    _, lines = svg_pixels(svg(filtered('<feImage href="logo.png"/>')), reference_fonts())
    assert len(lines) == 1
    assert "is not embedded" in lines[0]


def test_a_displacement_reads_the_source_itself() -> None:
    """The source's alpha of 1 moves it by half the scale."""
    body = filtered('<feDisplacementMap in="SourceGraphic" in2="SourceGraphic" scale="20"/>')
    assert at(body, (21, 21), (69, 69), (75, 75)) == [BLUE, BLUE, NOTHING]


def test_arithmetic_composites_over_the_source_itself() -> None:
    primitives = '<feFlood flood-color="red"/><feComposite operator="arithmetic" k2=".5" k3=".5" in2="SourceGraphic"/>'
    assert at(filtered(primitives), (50, 50)) == [[128, 0, 128, 255]]


@pytest.mark.parametrize("name", ["BackgroundImage", "FillPaint", "StrokePaint", "unknown"])
def test_an_input_that_browsers_do_not_have_is_the_last_result(name: str) -> None:
    assert at(filtered(f'<feFlood flood-color="red"/><feOffset in="{name}"/>'), (5, 5)) == [RED]


def test_stitched_noise_nearly_continues_across_the_edges_of_its_region() -> None:
    def step(stitch: str) -> int:
        noise = f'<feTurbulence type="fractalNoise" baseFrequency=".033" stitchTiles="{stitch}" x="10" y="10" width="40" height="40"/>'
        pixels, _ = svg_pixels(svg(filtered(noise)), reference_fonts())
        rows = pixels[int(12 * 20.48) : int(48 * 20.48)].astype(int)
        return int(np.abs(rows[:, 205] - rows[:, 1023]).max())

    assert step("stitch") < 25
    assert step("noStitch") > 75
