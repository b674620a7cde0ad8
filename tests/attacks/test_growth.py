"""Documents whose lists are long: work and memory grow with their length, not with its square."""

from __future__ import annotations

from pathlib import Path
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
    """Each pixel was compared with every sample of the outline: 800 vertices took two minutes for a frame of 720p."""
    code = """
        import math
        from gpu_renderer.content.vector.mask import MaskRaster, mask_coverage
        from motion.snapshot import MaskPath, MaskPoint

        turns = [index * math.tau / 800 for index in range(800)]
        places = [(600 * math.cos(turn), 340 * math.sin(turn)) for turn in turns]
        path = MaskPath("m", "add", tuple(MaskPoint(x, y, x, y, x, y, 900.0) for x, y in places))
        covered = mask_coverage([path], MaskRaster(1280, 720, 1.0))
        print(int(covered[360, 640]) > int(covered[360, 80]) > int(covered[0, 0]))
    """
    assert bounded(code) == "True"


def test_a_gradient_of_many_stops_of_colour_and_opacity_looks_at_the_near_ones() -> None:
    """Each offset was compared with every stop: 2,000 stops of each took a second, 20,000 two minutes, in each raster."""
    code = """
        from gpu_renderer.content.vector.paints import resolved_stops
        from motion.snapshot import GradientStop, OpacityStop

        count = 20_000
        colors = [GradientStop(index / count, "#ff0000") for index in range(count)]
        found = resolved_stops(colors, [OpacityStop((index + 0.5) / count, index / count) for index in range(count)])
        print(len(found), found[0][1].alpha, round(found[count][1].alpha, 2))
    """
    assert bounded(code) == "40000 0.0 0.5"


def test_each_piece_of_an_svg_text_is_compared_with_its_own_spans() -> None:
    """Each span that states a length was compared with every piece: 3,000 took 6 s, and the time grew with the square."""
    code = """
        from gpu_renderer.content.svg import svg_pixels
        from tests.gpu_renderer.fonts import reference_fonts

        spans = '<tspan textLength="0.01">a</tspan>' * 20_000
        text = f'<text y="20" font-size="0.1">{spans}</text>'
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30">' + text + '</svg>'
        print(svg_pixels(svg, reference_fonts())[0].shape[2])
    """
    assert bounded(code) == "4"


DOCUMENTS = """
    from motion.build import build
    from motion.errors import PropertyRefused
    from motion.evaluate import snapshot
    from tests.documents import document, keys, node, root

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


def test_warnings_of_a_document_are_few_and_short_however_long_its_names_are() -> None:
    """A document of 1 MB had 150 MB of warnings. The scheduler read them for 6 s for each segment, and lists of jobs repeated them."""
    code = """
        from motion.notices import of_lines
        from motion.template import discover

        styles = {f"style {number}": {"enabled": True} for number in range(150)}
        effects = [{"id": "e", "type": "y" * 1_000_000, "params": {}}]
        layer = node("a", "image", name="x" * 1_000_000, src="https://example.com/a.png", fx={"layerStyles": styles, "effects": effects})
        stored = document(layer, unreadableChunks=[f"chunk {number}" for number in range(200_000)])
        stored["comps"]["comp_root"]["name"] = "z" * 1_000_000
        found = of_lines(build(stored).warnings)
        assert len(found) == 200 and max(len(one.message) for one in found) < 1_100, len(found)
        print(found[-1].message, len(discover(stored).fields[0].label))
    """
    assert bounded(code_with(DOCUMENTS, code)) == "199,952 more. 500"


def test_what_the_console_shows_of_an_import_is_bounded_however_large_the_project_is(tmp_path: Path) -> None:
    """The label of an exposed input and the list of layers without a source had no limit."""
    code = """
        import sys
        from pathlib import Path
        import orjson
        from console.library.examination import examined

        pictures = {"sequence": {"frames": ["blob:https://x/1"]}}
        stored = document(*(node(f"n{number}", "image", name="x" * 400, fx=pictures) for number in range(900)))
        target = {"nodeId": "n0", "componentType": "Transform", "prop": "fill"}
        fields = [{"id": "look", "label": "y" * 1_000_000, "kind": "color", "default": "#ff0000", "target": target}]
        stored["scene"]["nodes"][0]["components"].append({"id": "t", "type": "Template", "props": {"__templateFields": fields}})
        folder = Path(sys.argv[1])
        (folder / "a.motion").write_bytes(orjson.dumps(stored))
        found = examined(str(folder / "a.motion"), str(folder / "a.json"), False, False)
        print(len(found["unrenderable"]), found["unrenderable_count"], max(len(one["label"]) for one in found["fields"]))
    """
    assert bounded(code_with(DOCUMENTS, code), str(tmp_path)) == "200 900 500"


def test_children_that_are_named_again_and_again_are_one_layer() -> None:
    """Each of 2,000 mentions of a layer with 500 clones made 500 layers: 30 s and gigabytes."""
    code = """
        for count, clones in ((2_000, 500), (500_000, 1)):
            stored = document(node("a", __cloner={"enabled": True, "count": clones}))
            stored["scene"]["nodes"][0]["children"] = ["a"] * count
            assert len(build(stored).plan.layers) == clones + 1
        wide = document(*(node(f"n{index}", __cloner={"enabled": True, "count": 500}) for index in range(20_000)))
        try:
            build(wide)
        except PropertyRefused as refused:
            print(refused)
    """
    assert bounded(code_with(DOCUMENTS, code)).startswith("The project has more than 20,000 layers.")


def test_roots_that_share_their_children_are_walked_once() -> None:
    """Every root walked the whole chain again to find expression controls: 10,000 roots took minutes."""
    code = """
        roots = tuple(root("n0", node_id=f"r{index}") for index in range(10_000))
        print(len(build(document(*chain(5_000), roots=roots)).plan.layers))
    """
    assert bounded(code_with(DOCUMENTS, code)) == "5001"


def test_groups_that_remap_time_in_each_other_are_limited() -> None:
    """Each layer applies the remaps of all groups around it: 4,000 of them took a minute a frame."""
    code = """
        for count in (100, 101):
            groups = chain(count, fx={"precomp": True}, __kind="group")
            tracks = {group["id"]: {"timeRemap": keys((0, 0), (1, 1))} for group in groups}
            try:
                build(document(*groups, node(f"n{count}", parent=f"n{count - 1}"), tracks=tracks))
                assert count == 100
            except PropertyRefused as refused:
                print(refused)
    """
    expected = "Layer “n100” lies in 100 groups that remap the time of their content, and remaps it, too"
    assert bounded(code_with(DOCUMENTS, code)).startswith(expected)
