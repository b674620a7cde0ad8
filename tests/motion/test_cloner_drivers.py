"""Cloners driven by other layers: outlines to follow, and falloffs around a layer (layers.md 12.1)."""

from __future__ import annotations

from typing import Any

import pytest

from motion.snapshot import Transform2D
from tests.documents import Json, document, keys, node
from tests.motion.frames import flat, shown

AROUND = {"shape": "linear", "source": "layer", "layerId": "driver", "radius": 100}


def cloned(*layers: Json, tracks: Json | None = None, **config: Any) -> Json:
    made = node("a", x=100, y=100, __cloner={"enabled": True, "count": 3, "offsetX": 100, **config})
    return document(made, *layers, tracks=tracks)


def copies(doc: Json, time: float = 0.0) -> list[Transform2D]:
    return [flat(layer.transform) for layer in shown(doc, time).layers if layer.name == "a"]


def opacities(doc: Json, time: float = 0.0) -> list[float]:
    return [layer.opacity for layer in shown(doc, time).layers if layer.name == "a"]


def test_a_falloff_follows_its_layer() -> None:
    """The copies are at 0, 100 and 200. The driver moves from the first to the last."""
    doc = cloned(
        node("driver", "null", x=-50, y=100),
        tracks={"driver": {"x": keys((0, 0), (2, 200))}},
        step={"rotation": 90, "opacity": -50},
        falloff=AROUND,
    )
    turned = [[copy.rotation for copy in copies(doc, time)] for time in (0.0, 1.0, 1.5, 2.0)]
    assert turned == [pytest.approx(expected) for expected in ([0, 0, 0], [0, 45, 0], [0, 22.5, 45], [0, 0, 90])]
    assert opacities(doc, 2.0) == pytest.approx([1, 1, 0.5])
    assert opacities(doc, 1.0) == pytest.approx([1, 0.75, 1])


def test_a_falloff_counts_from_where_a_parent_puts_its_layer() -> None:
    group = node("g", "group", x=200, y=100, children=["driver"])
    doc = cloned(group, node("driver", "null", parent="g"), step={"rotation": 90}, falloff=AROUND)
    assert [copy.rotation for copy in copies(doc)] == pytest.approx([0, 0, 90])


def test_copies_are_pushed_away_from_a_layer_that_moves() -> None:
    doc = cloned(
        node("driver", "null", y=100), tracks={"driver": {"x": keys((0, 10), (2, 190))}}, falloff={**AROUND, "push": 10}
    )
    assert [copy.x for copy in copies(doc, 0.0)] == pytest.approx([0 - 9, 100 + 1, 200])
    assert [copy.x for copy in copies(doc, 2.0)] == pytest.approx([0, 100 - 1, 200 + 9])


def test_copies_stay_on_an_outline_that_moves_and_turns() -> None:
    line = {"points": [{"x": -50, "y": 0}, {"x": 50, "y": 0}], "open": True}
    doc = cloned(
        node("driver", y=50, geometry=line),
        tracks={"driver": {"x": keys((0, 100), (1, 300)), "rotation": keys((0, 0), (1, 90))}},
        mode="path",
        pathLayerId="driver",
        alignToRadius=True,
    )
    for time, expected in ((0.0, [(50, 50), (100, 50), (150, 50)]), (1.0, [(300, 0), (300, 50), (300, 100)])):
        found = copies(doc, time)
        assert [(copy.x, copy.y) for copy in found] == [pytest.approx(place) for place in expected]
        assert [copy.rotation for copy in found] == pytest.approx([90 * time] * 3)


def test_copies_that_move_stay_on_their_outline() -> None:
    doc = cloned(
        node("driver", x=200, y=150, width=80, height=60, shapeType="rect"),
        tracks={"a": {"x": keys((0, 100), (1, 500))}},
        mode="path",
        pathLayerId="driver",
        count=4,
    )
    for time in (0.0, 0.5):
        assert (copies(doc, time)[0].x, copies(doc, time)[0].y) == pytest.approx((160, 120))


def test_a_cloner_that_its_own_copy_drives_stands_as_stored() -> None:
    doc = cloned(step={"rotation": 90}, falloff={**AROUND, "layerId": "a"})
    assert [copy.rotation for copy in copies(doc)] == pytest.approx([0, 45, 0])
