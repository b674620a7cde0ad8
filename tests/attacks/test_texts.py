"""Texts that once held a render worker: every character is looked for in hundreds of fonts."""

from __future__ import annotations

from tests.attacks.bounded import bounded


def test_a_text_of_characters_that_no_font_has_asks_few_fonts_for_each() -> None:
    """8,000 Chinese characters took 33 s, which is more than a frame may take."""
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
