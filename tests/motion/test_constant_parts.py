"""State cached between frames has no effect: an evaluated document gives the same frames as a new one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from motion.build import build
from motion.bundle import read_value
from motion.evaluate import snapshot
from motion.snapshot_key import key
from tests.documents import document, keys, node
from tests.motion.corpus import CORPUS, needs_corpus
from tests.motion.frames import built

SHARES = (0.0, 0.11, 0.5, 0.37, 0.93, 1.0, 0.11)


@pytest.mark.thorough
@needs_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("group", ["templates", "golden"])
def test_frames_do_not_depend_on_those_evaluated_before(group: str) -> None:
    for path in sorted(CORPUS.glob(f"{group}/*/document.json")):
        compare(path)


def compare(path: Path) -> None:
    doc = read_value(json.loads(path.read_text()))
    warm = build(doc)
    for share in SHARES:
        time = share * warm.duration_seconds
        again, fresh = snapshot(warm, time), snapshot(build(doc), time)
        assert again == fresh, f"{path.parent.name} at {time} s"
        assert key(again) == key(fresh)


def test_a_layer_at_rest_follows_its_matte_source_out_of_the_list() -> None:
    bar = {"sourceId": "b", "clip": {"start": 0, "duration": 30, "sourceIn": 0}}
    line = {
        "comp_root": {"frameRate": {"fps": 30}, "duration": 300, "tracks": [{"name": "Composition", "layers": [bar]}]}
    }
    matted = node("a", fx={"matte": {"mode": "alpha", "inverted": False, "sourceId": "b"}})
    composition = built(document(matted, node("b"), node("c"), timelines=line))
    found = [snapshot(composition, time).layers[0].matte for time in (0.0, 2.0, 0.5)]
    assert [matte.source_id if matte else None for matte in found] == ["b", "c", "b"]


def test_a_child_at_rest_moves_with_its_parent() -> None:
    composition = built(
        document(node("n", "null", children=["a"]), node("a", parent="n"), tracks={"n": {"x": keys((0, 0), (1, 30))}})
    )
    places = [snapshot(composition, time).layers[0].transform.x for time in (0.0, 1.0)]  # type: ignore[union-attr]
    assert places == pytest.approx([0, 30])


def test_a_layer_of_constant_parts_fades_with_its_keyframes() -> None:
    blur = {"effects": [{"id": "e", "type": "blur", "params": {"amount": 5}}]}
    composition = built(document(node("a", fx=blur), tracks={"a": {"opacity": keys((0, 0), (1, 100))}}))
    shown = [snapshot(composition, time).layers[0] for time in (0.2, 0.8)]
    assert [layer.opacity for layer in shown] == pytest.approx([0.2, 0.8])
    assert shown[0].source is shown[1].source
    assert shown[0].effects is shown[1].effects


def test_a_live_boolean_at_rest_follows_its_operands() -> None:
    operands = [node(name, fx={"booleanOperand": True}) for name in "pq"]
    union = node("r", fx={"booleanOp": "union", "booleanSources": ["p", "q"]})
    composition = built(document(*operands, union, tracks={"q": {"x": keys((0, 0), (1, 30))}}))
    (first,), (second,) = (snapshot(composition, time).layers for time in (0.25, 0.75))
    assert first.source != second.source
    assert first.transform != second.transform


def test_a_layer_that_holds_its_keyframes_is_the_very_same_layer_until_one_of_them_moves_it() -> None:
    tracks = {"n": {"x": keys((1, 0), (2, 30))}, "a": {"opacity": keys((0, 0), (1, 100))}}
    composition = built(document(node("n", "null", children=["a"]), node("a", parent="n"), tracks=tracks))
    found = {time: snapshot(composition, time).layers[0] for time in (1.0, 1.5, 2.5, 3.0, 0.5)}
    assert found[2.5] is found[3.0]
    assert [found[time].transform.x for time in (1.0, 1.5, 3.0)] == pytest.approx([0, 15, 30])  # type: ignore[union-attr]
    assert [found[time].opacity for time in (0.5, 1.0, 3.0)] == pytest.approx([0.5, 1, 1])
    assert snapshot(composition, 0.25).layers[0].opacity == pytest.approx(0.25)
    assert snapshot(composition, 1.0).layers[0] is found[1.0]
