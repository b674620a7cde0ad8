"""Long texts that once blocked a render worker, the API or the console."""

from __future__ import annotations

import pytest

from tests.api.world import World, text_template
from tests.attacks.bounded import bounded
from tests.console.people import signed_in


def test_a_text_of_characters_that_no_font_has_asks_few_fonts_for_each() -> None:
    """8,000 Chinese characters took 33 s, more than the limit of a frame."""
    code = """
        from pathlib import Path
        from gpu_renderer.content.text.families import Fonts, Style
        from gpu_renderer.content.text.folders import FontFile

        latin = [FontFile(Path(f"{one}.ttf"), 0, f"Family {one}", 400, False, (32, 127), "") for one in range(700)]
        fonts, style = Fonts(latin), Style("Family 1", 400, italic=False)
        assert all(fonts.any_with(chr(0x4E00 + number), style) is None for number in range(40_000))
        print(fonts.warnings)
    """
    assert "Chinese characters" in bounded(code)


def test_a_long_text_that_is_no_colour_is_read_once() -> None:
    """Backtracking over digits and spaces: 10 MB of them in a batch blocked an API process for 2 s."""
    code = """
        from motion.color_text import everywhere_readable, is_color

        for text in ("hsl(1 " + "1" * 10_000_000, "rgb(1" + " ," * 5_000_000):
            for _ in range(15):
                assert not is_color(text) and everywhere_readable(text) == text
        print(is_color("hsla( 120.5DEG , 1e2% 50% / .5 )"))
    """
    assert bounded(code) == "True"


def test_a_glyph_with_the_margin_of_its_blur_gets_no_second_one() -> None:
    """A blur of 300 px in an animator took 0.1 s for each glyph: 9 s per frame for a hundred glyphs."""
    code = """
        import numpy as np
        from gpu_renderer.content.vector.blur import blurred_part

        buffer = np.zeros((1600, 1600), np.uint8)
        buffer[740:860, 740:860] = 255
        for _ in range(200):
            _, blurred = blurred_part(buffer, 230.0)
        print(blurred.max())
    """
    assert 5 <= int(bounded(code, cpu_seconds=15)) <= 15


@pytest.mark.service
def test_the_page_of_a_render_with_long_inputs_shows_their_beginning(own_world: World) -> None:
    """2 MB of inputs gave a page of 60 MB and blocked the event loop for 0.7 s."""
    with signed_in(own_world, "ada") as person:
        template = text_template(person.api)
        job = person.api.render(template, inputs={"headline": "<&\"'" * 500_000}).json()["jobId"]
        shown = person.text(f"/renders/{job}")
        assert "&lt;&amp;" in shown and len(shown) < 200_000
        other = person.api.render(template, inputs={"headline": "<&" * 500_000}).json()["jobId"]
        shown = person.text(f"/renders/compare?left={job}&right={other}")
        assert shown.count("&lt;&amp;") > 100 and len(shown) < 200_000
        assert "as code" in person.text(f"/renders/{person.api.render(template, inputs={}).json()['jobId']}")
