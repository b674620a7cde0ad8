"""Texts in whole documents (text.md)."""

from __future__ import annotations

import pytest

from motion.snapshot import TextRun, TextSource
from tests.documents import Json, document, keys, node
from tests.motion.frames import source


def text_of(content: str, **stored: object) -> Json:
    return document(node("t", "text", text={"content": content, **stored}))


def test_a_text_path_is_the_mask_that_it_names_with_its_expansion() -> None:
    corners = [{"x": 0, "y": 0}, {"x": 10, "y": 0}]
    masks = [{"id": "a", "points": corners[:1]}, {"id": "b", "points": corners, "closed": False, "expansion": 4}]
    fx = {"mask": {"paths": masks}, "textPath": {"pathId": "b", "firstMargin": 3}}
    path = source(document(node("t", "text", text={"content": "Hi"}, fx=fx)), "t", TextSource).path
    assert path is not None
    assert (len(path.points), path.closed, path.expansion, path.first_margin) == (2, False, 4, 3)


def test_a_text_remembers_whether_a_weight_is_stored() -> None:
    assert source(text_of("Hi", fontWeight="600"), "t", TextSource).has_weight
    assert not source(text_of("Hi"), "t", TextSource).has_weight
    assert source(text_of("Hi"), "t", TextSource).style.weight == 600


def test_runs_end_with_the_stored_text() -> None:
    runs = [{"start": 0, "end": 5, "style": {"fill": "#ff0000"}}, {"start": 6, "end": 11, "style": {"fill": "#00ff00"}}]
    assert source(text_of("Hi", __runs=runs), "t", TextSource).runs == (TextRun(0, 2, fill="#ff0000"),)
    assert source(text_of("Hi", __runs=runs[1:]), "t", TextSource).runs == ()


def test_tracks_of_animators_count_the_holes_of_their_list() -> None:
    animators: list[Json | None] = [None, {"y": 10}]
    doc = document(
        node("t", "text", text={"content": "A", "__animators": animators}), tracks={"t": {"ta.1.y": keys((0, 7))}}
    )
    assert [pose.dy for pose in source(doc, "t", TextSource).poses] == [7.0]


@pytest.mark.parametrize(
    "path", [f"ta.{'9' * 5000}.y", f"ta.0.s{'9' * 5000}.start", "ta.².y", "ta.0.s².start"], ids=range(4)
)
def test_tracks_that_name_no_animator_move_nothing(path: str) -> None:
    doc = document(
        node("t", "text", text={"content": "A", "__animators": [{"y": 10}]}), tracks={"t": {path: keys((0, 7))}}
    )
    assert [pose.dy for pose in source(doc, "t", TextSource).poses] == [10.0]


@pytest.mark.parametrize(
    ("tracks", "fill"),
    [
        ({"color_r": 1}, "#ff0000ff"),
        ({"color_r": 1, "fill_r": 0, "fill_g": 1, "fill_a": 0}, "#00ff0000"),
        ({"fill_g": 1}, "#102030"),
    ],
)
def test_colour_tracks_of_a_text_count_with_a_red_channel_those_of_its_fill_first(
    tracks: dict[str, float], fill: str
) -> None:
    moving = {"t": {path: keys((0, value)) for path, value in tracks.items()}}
    doc = document(node("t", "text", text={"content": "A"}, style={"fill": "#102030"}), tracks=moving)
    assert source(doc, "t", TextSource).style.fill == fill


@pytest.mark.parametrize(("weight", "drawn"), [(2000, 1000), (-5, 1), (450, 450)])
def test_a_moving_weight_stays_between_1_and_1000(weight: float, drawn: float) -> None:
    doc = document(node("t", "text", text={"content": "A"}), tracks={"t": {"fontWeight": keys((0, weight))}})
    assert source(doc, "t", TextSource).style.weight == drawn


def moved(path: str, value: float, **stored: object) -> TextSource:
    doc = document(node("t", "text", text={"content": "A", **stored}), tracks={"t": {path: keys((0, value))}})
    return source(doc, "t", TextSource)


def test_a_size_and_a_box_that_move_are_drawn_and_the_stored_ones_measured() -> None:
    text = moved("fontSize", 90, fontSize=40)
    assert (text.style.size, text.stored_style.size) == (90, 40)
    assert moved("fontSize", -5).style.size == 0
    box = moved("boxWidth", 300, boxWidth=100)
    assert (box.box_width, box.stored_box_width) == (300, 100)
    assert [moved("boxWidth", width, boxWidth=100).box_width for width in (0, -1, 0.5)] == [None, None, 0.5]
    assert source(text_of("A", boxWidth=100), "t", TextSource).box_width == 100


def test_a_text_wiggles_at_its_own_time() -> None:
    wiggly = [{"y": 10, "selectors": [{"kind": "wiggly", "mode": "add", "minAmount": 0}]}]
    doc = document(node("t", "text", text={"content": "A", "__animators": wiggly}))
    assert source(doc, "t", TextSource, 0.3).poses != source(doc, "t", TextSource, 0.6).poses
