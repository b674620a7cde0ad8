"""Features of SVG documents that are not drawn (layers.md 10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from farm_core.__main__ import main
from gpu_renderer.content.svg import svg_pixels, undrawn_features
from tests.gpu_renderer.content.media.test_svg import svg
from tests.gpu_renderer.documents import document, layer, write_document
from tests.gpu_renderer.fonts import reference_fonts

RECTANGLE = '<rect width="50" height="50"/>'


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ('<rect width="calc(10px * 2)" height="9"/>', "calc()"),
        ('<rect width="9" height="9" style="stroke-width: min(3px, 4px)"/>', "min()"),
        (f"<style>rect {{ fill: color-mix(in srgb, red, blue) }}</style>{RECTANGLE}", "color-mix()"),
        ('<rect width="9" height="9" fill="color(rec2020 1 0 0)"/>', "color()"),
        ('<rect width="9" height="9" fill="rgb(from red r g b / .5)"/>', "derived from another one"),
        ('<text style="text-decoration: underline wavy">a</text>', "wavy line"),
        ('<rect width="2ex" height="9"/>', "unit ex"),
        ('<rect width="2VW" height="9"/>', "unit vw"),
        ('<text style="text-shadow: 1px 1px red">a</text>', "text-shadow"),
        ('<text writing-mode="vertical-rl">a</text>', "writing-mode"),
        (f"<style>@layer a {{ rect {{ fill: red }} }}</style>{RECTANGLE}", "@layer"),
    ],
)
def test_a_feature_that_is_not_drawn_is_named_once(body: str, named: str) -> None:
    lines = undrawn_features(svg(body + body))
    assert len(lines) == 1
    assert named in lines[0]
    assert set(lines) <= set(svg_pixels(svg(body), reference_fonts())[1])


def test_a_border_of_the_root_is_named() -> None:
    bordered, plain = (svg(RECTANGLE, f'style="border: {value}"') for value in ("4px solid red", "none"))
    assert undrawn_features(bordered) == ("The border of an SVG document is not drawn.",)
    assert undrawn_features(plain) == ()


def test_a_document_that_is_drawn_completely_has_no_notices() -> None:
    body = (
        '<style>.a { fill: rgb(1, 2, 3); font-variant: normal }</style><text class="a" id="calc(1)">2ex min(1)</text>'
        '<g color-interpolation="linearRGB"><rect width="1em" height="9"/></g><linearGradient id="g"/>'
    )
    assert undrawn_features(svg(body)) == ()


def test_a_document_that_cannot_be_read_is_named() -> None:
    assert undrawn_features("<svg") == ("An SVG document cannot be read.",)


def test_inspect_names_what_an_svg_layer_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = layer("logo", __kind="svg")
    stored = {"sanitizedMarkup": svg('<rect width="calc(1px)" height="9"/>'), "sanitizePolicy": 2}
    picture["components"].append({"id": "logo-s", "type": "svg", "props": stored})
    assert main(["inspect", str(write_document(tmp_path, document(picture)))]) == 0
    assert "'logo': The CSS function calc()" in capsys.readouterr().out
