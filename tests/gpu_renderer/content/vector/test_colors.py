"""CSS colours as a canvas reads them."""

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
    ],
)
def test_colours_are_read(text: str, color: tuple[float, ...]) -> None:
    parsed = css.parse(text)
    assert parsed is not None
    assert [channel * 255 for channel in parsed] == pytest.approx(color)


@pytest.mark.parametrize("text", ["none", "", "#12345", "#ggg", "rgb(1,2)", "rgb(a,b,c)", "hsl(10%,1%,1%)", "url(#a)"])
def test_what_a_canvas_refuses_is_no_colour(text: str) -> None:
    assert css.parse(text) is None
