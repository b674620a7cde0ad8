"""Keys of snapshots."""

from __future__ import annotations

from dataclasses import replace

from motion.evaluate import snapshot
from motion.snapshot import LayerSnapshot, ShapeSource, Snapshot, SolidPaint, Transform2D
from motion.snapshot_key import key
from tests.documents import document, keys, node
from tests.motion.frames import built, shown

LAYER = LayerSnapshot("a", "A", ShapeSource("rect", 10.0, 20.0, (SolidPaint("#fff"),)), Transform2D(1.0, 2.0))
FRAME = Snapshot(100.0, 50.0, (LAYER,))


def test_equal_snapshots_have_equal_keys_whoever_made_them() -> None:
    twin = Snapshot(100, 50, (replace(LAYER, transform=Transform2D(1, 2, -0.0)),))
    assert twin == FRAME
    assert key(twin) == key(FRAME)


def test_a_key_does_not_change_between_runs_and_machines() -> None:
    assert key(FRAME) == "0d4d20f69df4fe240a5530061c6de69723b0bc66"


def test_anything_that_changes_the_picture_changes_the_key() -> None:
    found = {
        key(replace(FRAME, layers=(changed,)))
        for changed in (
            LAYER,
            replace(LAYER, opacity=0.5),
            replace(LAYER, id="b"),
            replace(LAYER, transform=Transform2D(2.0, 1.0)),
            replace(LAYER, source=replace(LAYER.source, fills=())),  # type: ignore[arg-type]
        )
    }
    assert len(found) == 5


def test_a_layers_name_is_not_in_the_picture() -> None:
    assert key(replace(FRAME, layers=(replace(LAYER, name="B"),))) == key(FRAME)


def test_constant_layers_and_frames_stay_one_object() -> None:
    composition = built(document(node("a"), node("b"), tracks={"b": {"x": keys((0, 0), (1, 100))}}))
    first, later, last = (snapshot(composition, time) for time in (0.0, 0.5, 0.5))
    assert first.layers[0] is later.layers[0]
    assert first.layers[1] is not later.layers[1]
    assert later is last
    assert first.layers[1].source is later.layers[1].source


def test_two_builds_of_a_document_give_one_key() -> None:
    doc = document(node("a", x=3), node("t", "text", text={"content": "Hi"}))
    assert key(shown(doc)) == key(shown(doc))
