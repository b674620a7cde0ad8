"""CSS colours as a canvas parses them."""

from __future__ import annotations

import pytest

from gpu_renderer.content.vector import css


@pytest.mark.parametrize(
    ("text", "color"),
    [
        ("#f80", (255, 136, 0, 255)),
        ("#f808", (255, 136, 0, 136)),
        ("#FF8800", (255, 136, 0, 255)),
        ("#ff880080", (255, 136, 0, 128)),
        ("rgb(255, 136, 0)", (255, 136, 0, 255)),
        ("rgba(300,-5,0,0.5)", (255, 0, 0, 127.5)),
        ("rgb(100% 50% 0% / 50%)", (255, 128, 0, 127.5)),
        ("hsl(120, 100%, 50%)", (0, 255, 0, 255)),
        ("hsl(0.5turn 100% 50%)", (0, 255, 255, 255)),
        ("rebeccapurple", (102, 51, 153, 255)),
        ("Transparent", (0, 0, 0, 0)),
        ("hwb(30 10% 20%)", (204, 115, 26, 255)),
        ("hwb(30deg 60% 60% / 0.5)", (128, 128, 128, 127.5)),
        ("oklch(62% 0.19 259)", (53, 129, 246, 255)),
        ("oklch(0.7 50% 0.5turn)", (0, 196, 163, 255)),
        ("oklab(0.6 0.1 -0.1)", (159, 99, 186, 255)),
        ("lab(50% 40 30)", (187, 88, 70, 255)),
        ("lab(5% 10 3 / .5)", (32, 10, 11, 127.5)),
        ("lch(60% 80% 0.5turn)", (0, 184, 141, 255)),
        ("color(srgb 0.5 60% 0.7)", (128, 153, 179, 255)),
        ("color(srgb-linear 0.5 0.6 0.7)", (188, 203, 218, 255)),
        ("color(display-p3 0.2 0.3412 0.8)", (38, 88, 212, 255)),
        ("color(display-p3 1 0.3412 0.2 / 50%)", (255, 68, 24, 127.5)),
    ],
)
def test_colours_are_read(text: str, color: tuple[float, ...]) -> None:
    parsed = css.parse(text)
    assert parsed is not None
    assert [channel * 255 for channel in parsed] == pytest.approx(color)


@pytest.mark.parametrize(
    "text", ["none", "", "#12345", "#ggg", "rgb(1,2)", "rgb(a,b,c)", "hsl(10%,1%,1%)", "color(other 1 1 1)", "url(#a)"]
)
def test_colours_that_a_canvas_refuses_are_invalid(text: str) -> None:
    assert css.parse(text) is None
