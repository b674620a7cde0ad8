"""Documents whose lists are long: work and memory grow with their length, not with its square."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.attacks.bounded import bounded


def code_with(helpers: str, code: str) -> str:
    return dedent(helpers) + dedent(code)


TEXTS = """
    import sys
    from gpu_renderer.content.text.glyph_layout import glyph_places
    from gpu_renderer.content.text.lines import measured_box, placed_lines
    from motion.snapshot import GlyphPose, TextRun, TextSource, TextStyle
    from tests.gpu_renderer.fonts import reference_fonts

    def text(content, **more):
        return TextSource(
            content=content, measured_content=content, style=TextStyle(), stored_style=TextStyle(), line_height=1.2, align="left", **more
        )

    fonts = reference_fonts()
"""


@pytest.mark.parametrize(
    "content", ["'abcdefg hij ' * 1000", "'a' * 12_000", "'مرحبا بالعالم ' * 900"], ids=["words", "word", "arabic"]
)
def test_an_animated_text_of_one_long_line_is_laid_out_in_linear_time(content: str) -> None:
    """Every beginning of the line was shaped and kept: 2,000 characters took 16 s and 240 MB, 8,000 four minutes and 4 GB."""
    code = f"""
        source = text({content}, has_animators=True, poses=(GlyphPose(),) * len({content}))
        places = glyph_places(source, measured_box(source, fonts), fonts)
        print(len(places) > 9_000 and places[-1].x > 40_000)
    """
    assert bounded(code_with(TEXTS, code), memory_mb=800) == "True"


def test_a_text_in_a_box_of_absurd_width_is_wrapped_in_linear_time() -> None:
    """The line was measured again with each of its words: 8,000 words took minutes and gigabytes."""
    code = """
        for word in ("ab ", "עב "):
            source = text(word * 15_000, box_width=1e8, stored_box_width=1e8)
            assert len(placed_lines(source, measured_box(source, fonts), fonts)) == 45_000
    """
    bounded(code_with(TEXTS, code), memory_mb=800)


def test_a_text_of_many_runs_visits_each_character_once() -> None:
    """Every character was compared with every run."""
    code = """
        runs = tuple(TextRun(start // 2, 60_000, size=20.0) for start in range(60_000))
        source = text("\\n".join(["abcdefghij " * 8] * 600), runs=runs)
        print(len(glyph_places(source, measured_box(source, fonts), fonts)))
    """
    assert bounded(code_with(TEXTS, code)) == "48000"


def test_a_mask_whose_many_vertices_have_feathers_looks_at_the_near_ones() -> None:
    """Each pixel was compared with every sample of the outline: 500 vertices took a minute for a frame of 720p."""
    code = """
        import math
        from gpu_renderer.content.vector.mask import mask_coverage
        from motion.snapshot import MaskPath, MaskPoint

        turns = [index * math.tau / 500 for index in range(500)]
        places = [(600 * math.cos(turn), 340 * math.sin(turn)) for turn in turns]
        path = MaskPath("m", "add", tuple(MaskPoint(x, y, x, y, x, y, 900.0) for x, y in places))
        covered = mask_coverage([path], 1280, 720, 1.0)
        print(int(covered[360, 640]) > int(covered[360, 80]) > int(covered[0, 0]))
    """
    assert bounded(code) == "True"


DOCUMENTS = """
    from motion.build import build
    from motion.errors import PropertyRefused
    from motion.evaluate import snapshot
    from tests.motion.documents import document, keys, node, root

    def chain(count, **more):
        links = [(f"n{index - 1}" if index else "comp_root", [f"n{index + 1}"]) for index in range(count)]
        return [
            node(f"n{index}", parent=parent, children=children, x=1, width=9, height=9, **more)
            for index, (parent, children) in enumerate(links)
        ]
"""


def test_a_long_chain_of_parents_is_evaluated_in_linear_time() -> None:
    """Each layer kept a list of all its parents: 2,000 layers took 8 s and 140 MB, 8,000 two minutes and 2 GB."""
    code = """
        shown = snapshot(build(document(*chain(8_000))), 1.0)
        print(len(shown.layers), shown.layers[-1].transform.x)
    """
    assert bounded(code_with(DOCUMENTS, code), memory_mb=800) == "8000 8000.0"
