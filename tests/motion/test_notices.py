"""Every notice about something that a video omits has a code, and names its layer."""

from __future__ import annotations

import pytest

from motion.color_text import everywhere_readable, is_color
from motion.notices import Notice, of_document, of_line, of_lines
from tests.documents import document, node


@pytest.mark.parametrize(
    ("line", "code", "layer"),
    [
        ("The font family 'Foo' is not installed; 'Inter' stands in for it.", "font_substituted", None),
        ("No installed font has Thai characters such as 'ก'; boxes are drawn for them.", "glyph_missing", None),
        ("There is nothing at /files/x: its layer is not drawn.", "media_missing", None),
        ("https://x.example/a.png: The picture is damaged.", "media_undecodable", None),
        ("Layer “Logo”: A picture is damaged.", "media_undecodable", "Logo"),
        ("Layer “Logo” (https://x.example/a.png): A picture is damaged.", "media_undecodable", "Logo"),
        ("A text of 30000 characters is cut after 20000.", "text_cut", None),
        ("The effect 'sparkle' is unknown and not drawn.", "effect_not_drawn", None),
        ("The layer style 'sparkle' of layer “Box” is unknown and not drawn.", "effect_not_drawn", "Box"),
        ("The composition “A” is placed in itself; its innermost copies are painted black.", "composition_missing", None),
        ("Layer “Title” shows nothing: its text is empty.", "text_empty", "Title"),
        ("Layer “Box” comes from a plugin and is not drawn.", "plugin_not_drawn", "Box"),
        ("Layer “Box” is moved by the physics simulation, which is not run.", "feature_not_drawn", "Box"),
    ],
)  # fmt: skip
def test_a_sentence_has_a_code_and_its_layer(line: str, code: str, layer: str | None) -> None:
    assert of_line(line) == Notice(code, line, layer)


def test_a_sentence_is_noticed_once() -> None:
    assert [notice.message for notice in of_lines(["b", "a", "b"])] == ["b", "a"]


def test_sound_is_noticed_by_the_names_of_its_layers() -> None:
    sounding = node("m", "audio", name="Music", audio={"__assetId": "a1"})
    muted = node("q", "audio", name="Quiet", audio={"__assetId": "a2", "__muted": True})
    found = of_document(document(sounding, muted))
    assert [(one.code, one.layer) for one in found] == [("sound_not_rendered", "Music")]
    assert of_document(document(muted)) == ()


def test_videos_sound_by_either_name_of_their_asset_and_only_five_layers_are_named() -> None:
    """audio.md 1.2: `assetId` or `__assetId`; "a video layer without one is silent"."""
    silent = node("s", "video", name="Silent", src="https://x.example/a.mp4")
    videos = [node(f"v{n}", "video", name=f"V{n}", **{"__assetId" if n % 2 else "assetId": "a"}) for n in range(7)]
    (found,) = of_document(document(silent, *videos))
    assert found.message.startswith("The sound of layers “V0”, “V1”, “V2”, “V3”, “V4” and 2 more is not rendered")
    (one,) = of_document(document(silent, videos[1], node("m", "video", assetId="a", audioMuted=True)))
    assert one.message.startswith("The sound of layer “V1” is not rendered")


@pytest.mark.parametrize("text", ["tomato", "#ABC", "hsla(1turn, 10%, 10%, .5)", "transparent", " rgb(0 0 0) "])
def test_a_colour_has_many_forms(text: str) -> None:
    assert is_color(text)


@pytest.mark.parametrize("text", ["", "tomatoe", "#ab", "rgb()", "rgb(a,b,c)", "12"])
def test_texts_that_are_no_colours(text: str) -> None:
    assert not is_color(text)


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("tomato", "#ff6347"),
        (" RebeccaPurple", "#663399"),
        ("transparent", "#00000000"),
        ("#F0a8", "#ff00aa88"),
        ("hsl(120, 100%, 25%)", "#008000"),
        ("hsla(.5turn 100% 50% / 50%)", "#00ffff80"),
        ("#12ab90", "#12ab90"),
        ("rgba(1, 2, 3, .5)", "rgba(1, 2, 3, .5)"),
    ],
)
def test_a_colour_is_written_so_that_every_drawing_route_reads_it(text: str, readable: str) -> None:
    """layers.md 5.2: a plain rectangle reads hexadecimal colours, rgb() and rgba(); all others are black."""
    assert everywhere_readable(text) == readable
