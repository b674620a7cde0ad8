"""Colours: CSS strings on the analytic route, and transfer curves of the shaders."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.backends.gl.drawable import grading
from gpu_renderer.content.contents import Contents
from gpu_renderer.display_list.paint import Filter, Image
from gpu_renderer.effects import color_stage
from gpu_renderer.geometry import color
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot, LayerSnapshot, ShapeSource, SolidPaint, Transform2D
from tests.gpu_renderer.drawing import Pictures, drawn, gradient, paper, snapshot
from tests.gpu_renderer.fonts import reference_fonts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#abc", (170, 187, 204, 255)),
        ("#3a7bd5", (58, 123, 213, 255)),
        ("#3a7bd580", (58, 123, 213, 128)),
        ("3A7BD5", (58, 123, 213, 255)),
        ("rgb(1, 2, 3)", (1, 2, 3, 255)),
        ("rgba(255 0 0 / 50%)", (255, 0, 0, 127.5)),
        ("transparent", (0, 0, 0, 255)),
        ("hsl(0, 100%, 50%)", (0, 0, 0, 255)),
        ("#12345", (0, 0, 0, 255)),
        ("rgb(none)", (0, 0, 0, 255)),
        ("rgb(255, 255)", (0, 0, 0, 255)),
        ("rgb(nan, 255, inf)", (0, 0, 0, 255)),
        ("rgb(1e999, 255, 255)", (255, 255, 255, 255)),
        ("rgb(10%, 20, 30%)", (25.5, 20, 76.5, 255)),
        ("rgb(1e400, 0, 0)", (255, 0, 0, 255)),
        ("rgb(nan, 0, 0)", (0, 0, 0, 255)),
        ("rgba(255, 0, 0, nan)", (0, 0, 0, 255)),
        ("rgb(10, 20)", (0, 0, 0, 255)),
    ],
)
def test_colours_are_read_as_the_analytic_route_of_the_reference_reads_them(
    text: str, expected: tuple[float, ...]
) -> None:
    assert [channel * 255 for channel in color.parse(text)] == pytest.approx(expected)


def test_the_transfer_curves_are_each_others_inverse() -> None:
    levels = np.arange(256) / 255
    assert color.encoded_array(color.decoded_array(levels)) == pytest.approx(levels, abs=1e-9)


@pytest.mark.gl
def test_a_picture_passes_through_linear_light_and_back_unchanged(painter: Painter) -> None:
    levels = gradient("#000000", "#ffffff")
    picture = drawn(painter, snapshot(paper(levels, 512, 8), width=512, height=8))
    expected = np.floor((np.arange(512) + 0.5) / 512 * 255 + 0.5)
    assert np.abs(picture[4, :, 0].astype(float) - expected).max() <= 1


@pytest.mark.gl
def test_every_level_of_a_channel_comes_out_of_linear_light_as_it_went_in(painter: Painter) -> None:
    for level in range(256):
        picture = drawn(painter, snapshot(paper(f"rgb({level}, {255 - level}, 0)", 8, 8), width=8, height=8))
        assert tuple(picture[4, 4]) == (level, 255 - level, 0, 255)


@pytest.mark.gl
@pytest.mark.parametrize(
    ("display", "white"),
    [("srgb", (255, 255, 255)), ("aces", (158, 158, 158)), ("pq", (130, 130, 130)), ("hlg", (46, 46, 46))],
)
def test_a_display_transform_encodes_the_picture(painter: Painter, display: str, white: tuple[int, int, int]) -> None:
    from dataclasses import replace

    from motion.snapshot import ColorManagement

    scene = replace(snapshot(paper("#ffffff")), color=ColorManagement(display_transform=display))  # type: ignore[arg-type]
    assert drawn(painter, scene)[24, 32, :3].tolist() == pytest.approx(white, abs=2)


@pytest.mark.gl
@pytest.mark.parametrize("effect", ["gaussian-blur", "fast-box-blur"])
def test_a_blurred_shape_has_its_colour_where_it_is_nearly_transparent_too(painter: Painter, effect: str) -> None:
    blur = EffectSnapshot("blur", effect, (("blurriness", 12.0), ("blurRadius", 12.0), ("repeatEdge", False)))
    disc = ShapeSource("ellipse", 60, 44, (SolidPaint("#ff8040"),))
    layer = LayerSnapshot("disc", "disc", disc, Transform2D(32, 24), effects=(blur,))
    contents = Contents(reference_fonts().for_job(), Pictures())
    red, green, blue, _ = np.moveaxis(drawn(painter, snapshot(layer, background="#000000"), None, contents), 2, 0)
    strength = np.array([color.decoded(level / 255) for level in range(256)])[red]
    for found, share in ((green, 128), (blue, 64)):
        expected = color.encoded_array(strength * color.decoded(share / 255)) * 255
        assert np.abs(found - expected)[red > 12].max() < 2
    assert red.max() > 200
    assert red[red > 12].min() < 100


def test_colours_are_clamped_by_the_matrix_where_no_table_is_applied() -> None:
    """Planes in space have no tables, and light can make their colours brighter than 1."""
    image, tables_only = Image(np.zeros((2, 2, 4), np.uint8), 2, 2), color_stage((EffectSnapshot("c", "curves"),))
    assert grading(image, Filter(stage=tables_only, gain=(2.0, 2.0, 2.0))) == ("GAIN", "MATRIX")
    assert grading(image, Filter(stage=tables_only, table=bytes(768))) == ("TABLES",)
    both = color_stage((EffectSnapshot("c", "curves"), EffectSnapshot("s", "sepia")))
    assert grading(image, Filter(stage=both, table=bytes(768))) == ("MATRIX", "TABLES")
