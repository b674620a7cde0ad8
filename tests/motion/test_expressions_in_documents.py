"""Expressions in a whole document: what they can read, and what they cannot do (animation.md 4)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from motion.evaluate import snapshot
from motion.formulas.expressions import SourceRect
from motion.snapshot import TextSource, Transform2D
from tests.documents import Json, document, keys, node, root
from tests.motion.frames import built, layer, place


def x_of(source: str, time: float = 0.0, *others: Json, **more: Any) -> float:
    """Return the x that an expression gives layer `a`, whose stored value is 300."""
    expressions = {"a": {"x": source}, **more.pop("expressions", {})}
    return place(document(node("a", x=300, width=40, height=20), *others, expressions=expressions, **more), "a", time).x


def test_an_expression_replaces_what_is_stored() -> None:
    assert x_of("7*6") == 42


def test_a_value_without_keys_is_zero_and_a_broken_expression_falls_back() -> None:
    assert x_of("value+5") == 5
    assert x_of("bogus") == 300


def test_a_disabled_expression_is_as_if_absent() -> None:
    doc = document(node("a", x=300))
    doc["animation"]["expressions"] = {"a": {"x": {"src": "5", "enabled": False}}}
    assert place(doc, "a").x == 300


def test_other_layers_are_read_by_name_with_their_expressions() -> None:
    other = node("b", name="Other", x=11)
    assert x_of("layer('Other','x')+1", 0, other) == 12
    assert x_of("layer('Other','x')+1", 0, other, expressions={"b": {"x": "20"}}) == 21
    assert x_of("layer('#b','x')", 2, other, tracks={"b": {"x": keys((0, 0), (4, 40))}}) == 20
    assert x_of("layer('Nobody','x')") == 0


def test_layers_that_read_each_other_fall_back() -> None:
    other = node("b", name="B", x=777)
    assert x_of("layer('B','x')+1", 0, other, expressions={"b": {"x": "layer('a','x')+1"}}) == 300


def test_the_time_of_an_expression_is_the_layers_own() -> None:
    bar = {"sourceId": "a", "clip": {"start": 30, "duration": 90, "sourceIn": 0}}
    line = {
        "comp_root": {"frameRate": {"fps": 30}, "duration": 300, "tracks": [{"name": "Composition", "layers": [bar]}]}
    }
    assert x_of("time*100", 1.5, timelines=line) == pytest.approx(50)


def test_the_composition_is_the_rendered_one_and_counts_every_node() -> None:
    assert x_of("thisComp.width + thisComp.numLayers") == 402
    assert x_of("thisComp.fps * thisComp.duration") == 300


def test_controls_are_found_wherever_they_are() -> None:
    assert x_of("ctrl('gain')*2", 0, node("c", "null", ctrl_gain=21)) == 42
    assert x_of("ctrl('none')") == 0


def test_markers_are_read_in_seconds() -> None:
    marker = {"id": "m", "frame": 45, "duration": 0, "name": "Beat", "scope": "timeline"}
    line = {"comp_root": {"frameRate": {"fps": 30}, "duration": 300, "tracks": [], "markers": [marker]}}
    assert x_of("thisComp.marker.key('Beat').time*100", 0, timelines=line) == 150


def test_markers_at_one_time_keep_their_stored_order() -> None:
    markers = [
        {"id": name, "frame": 30, "duration": frames, "name": name, "scope": "timeline"}
        for name, frames in (("Second half", 60), ("Beat", 0))
    ]
    line = {"comp_root": {"frameRate": {"fps": 30}, "duration": 300, "tracks": [], "markers": markers}}
    assert x_of("thisComp.marker.key(1).duration", 0, timelines=line) == 2


def test_a_layers_markers_count_from_its_first_bar_in_time() -> None:
    marker = {"id": "m", "frame": 15, "duration": 0, "name": "Cut"}
    clips = [{"start": 60, "duration": 30, "sourceIn": 0}, {"start": 30, "duration": 30, "sourceIn": 0}]
    layers: list[Json] = [{"sourceId": "a", "clip": clip} for clip in clips]
    layers[0]["markers"] = [marker]
    line = {"comp_root": {"frameRate": {"fps": 30}, "duration": 300, "tracks": [{"layers": layers}]}}
    assert x_of("marker.key(1).time*100", 2.0, timelines=line) == 150


@pytest.mark.parametrize("source_id", ["a", "b"])
def test_markers_go_with_the_bars_that_are_discarded(source_id: str) -> None:
    layers = [{"sourceId": source_id, "clip": {"start": 0, "duration": 300}, "markers": [{"id": "m", "frame": 15}]}]
    line = {"comp_root": {"frameRate": {"fps": 30}, "duration": 300, "tracks": [{"layers": layers}]}}
    child = node("b", parent="a")
    doc = document(
        node("a", children=["b"]), child, expressions={source_id: {"y": "marker.numKeys*10"}}, timelines=line
    )
    assert place(doc, source_id).y == (10 if source_id == "a" else 0)


def test_markers_on_a_track_that_nobody_looks_at_do_not_count() -> None:
    layers = [{"sourceId": "a", "clip": {"start": 0, "duration": 300}, "markers": [{"id": "m", "frame": 15}]}]
    tracks: list[Json] = [{"name": "Other", "layers": layers}, {"name": "Composition", "layers": []}]
    line = {"comp_root": {"frameRate": {"fps": 30}, "duration": 300, "tracks": tracks}}
    assert x_of("marker.numKeys*10", timelines=line) == 0


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("toComp([10,5])", (90, 70)),
        ("toWorld([10,5])", (90, 70, 0)),
        ("fromComp([90,70])", (10, 5)),
        ("fromWorld([90,70,0])", (10, 5)),
    ],
)
def test_points_are_converted_between_layers_and_composition(call: str, expected: tuple[float, ...]) -> None:
    parent = node("n", "null", name="Rig", x=100, y=50, rotation=90, scale=2)
    converted = [x_of(f"thisComp.layer('Rig').{call}[{axis}]", 0, parent) for axis in range(len(expected))]
    assert converted == pytest.approx(expected)


def test_points_of_a_plane_in_space_are_seen_and_found_again() -> None:
    """animation.md 4.9: "fromComp intersects the view ray with the layer plane ([0,0] if edge-on)"."""
    panel = node("n", "null", name="Rig", x=120, y=90, z=50, rotationX=20, rotationY=40, scaleX=2)
    rig = "thisComp.layer('Rig')"
    seen = [x_of(f"{rig}.toComp([10,5])[{axis}]", 0, panel) for axis in (0, 1)]
    found = [x_of(f"{rig}.fromComp([{seen[0]!r},{seen[1]!r}])[{axis}]", 0, panel) for axis in (0, 1)]
    assert found == pytest.approx([10, 5])
    edge_on = node("n", "null", name="Rig", x=200, y=90, z=50, rotationY=90)
    assert [x_of(f"{rig}.fromComp([200,70])[{axis}]", 0, edge_on) for axis in (0, 1)] == [0, 0]


def test_a_layer_that_asks_for_its_own_place_while_it_is_placed_falls_back() -> None:
    assert x_of("toComp([0,0])[0]") in {300.0, 0.0}


def chained(names: str, sources: dict[str, str]) -> list[float]:
    """Return the positions of layers a, b, c ... in paint order of `names`. Each is driven by its expression, or else
    at 100."""
    expressions = {name: {"x": source} for name, source in sources.items()}
    held = document(*(node(name, name=name, x=100) for name in names), expressions=expressions)
    return [place(held, name).x for name in sorted(names)]


ORDERS = ["abc", "bca", "cba"]


@pytest.mark.parametrize("order", ORDERS)
def test_a_place_that_follows_a_place_is_the_same_in_every_paint_order(order: str) -> None:
    sources = {"a": "layer('b').toComp([1,0])[0]", "b": "layer('c').toComp([1,0])[0]"}
    assert chained(order, sources) == [102, 101, 100]


@pytest.mark.parametrize("order", ORDERS)
def test_places_that_follow_one_another_in_a_circle_are_the_same_in_every_paint_order(order: str) -> None:
    sources = {
        "a": "layer('b').toComp([1,0])[0]",
        "b": "layer('a').toComp([2,0])[0]",
        "c": "layer('b').toComp([4,0])[0]",
    }
    assert chained(order, sources) == [101, 102, 106]  # a layer of the cycle reads 100 for the next one


def test_places_that_follow_one_another_without_end_fall_back() -> None:
    names = "abcdefghijklmnopqrstuvwxyz"
    sources = {name: f"layer('{following}').toComp([1,0])[0]" for name, following in pairwise(names)}
    for found in (chained(names, sources), chained(names[::-1], sources)):
        assert found[-3:] == [102, 101, 100]
        assert all(100 <= x <= 126 for x in found)


def test_a_text_is_placed_by_its_measured_ink() -> None:
    def measure(source: TextSource, extents: bool) -> SourceRect:
        width = len(source.content) * source.style.size
        return SourceRect(-width / 2, -20.0, width, 60.0 if extents else 40.0)

    doc = document(
        node("t", "text", text={"content": "Hello", "fontSize": 10}),
        expressions={"t": {"x": "sourceRectAtTime(time).width+8", "y": "sourceRectAtTime(time,true).height"}},
    )
    frame = snapshot(built(doc), 0.0, measure=measure)
    assert isinstance(frame.layers[0].transform, Transform2D)
    assert (frame.layers[0].transform.x, frame.layers[0].transform.y) == (58, 60)


def test_a_text_whose_size_asks_for_its_own_ink_falls_back() -> None:
    def measure(source: TextSource, extents: bool) -> SourceRect:
        return SourceRect(0.0, 0.0, source.style.size, 1.0)

    doc = document(
        node("t", "text", text={"content": "Hello", "fontSize": 10}),
        expressions={"t": {"fontSize": "sourceRectAtTime(time).width*2"}},
    )
    frame = snapshot(built(doc), 0.0, measure=measure)
    assert isinstance(frame.layers[0].source, TextSource)
    assert frame.layers[0].source.style.size in {10, 20}


def test_clones_share_their_originals_noise() -> None:
    cloner = {"__cloner": {"enabled": True, "count": 2, "offsetX": 0}}
    doc = document(node("n1", fx=cloner), expressions={"n1": {"x": "wiggle(2,30)"}})
    found = [place(doc, f"{index}~n1", 0.5).x for index in range(2)]
    assert found == pytest.approx([9.553888486334472] * 2)


def test_effects_and_animators_take_expressions_too() -> None:
    blur = {"id": "b", "type": "blur", "params": {"amount": 1}}
    doc = document(node("a", fx={"effects": [blur]}), expressions={"a": {"effect.b.amount": "time*10"}})
    found = layer(doc, "a", 0.5)
    assert found is not None
    assert found.effects[0].animated == (("amount", 5.0),)


def test_an_instances_override_stills_the_expression() -> None:
    doc = document(
        node("i", "comp", fx={"precomp": True, "__compRef": "comp_b", "__compOverrides": {"n/x": 9}}),
        node("n", parent="comp_b"),
        roots=(root("n", node_id="comp_b"),),
        comps={"comp_b": {"id": "comp_b"}},
        expressions={"n": {"x": "100"}},
    )
    found = layer(doc, "i")
    assert found is not None
    assert found.source.composition.layers[0].transform.x == 9  # type: ignore[union-attr]


@pytest.mark.parametrize("source", ["toWorld([1,2],0/0)[0]", "noise(1e308)", "wiggle(1e308,1e308)"])
def test_an_expression_beyond_all_numbers_falls_back(source: str) -> None:
    assert x_of(f"layer('b','y') * 0 + {source}", 1.0, node("b", y=1)) == 300


@pytest.mark.parametrize("time", ["1/0", "-1/0", "1e300"])
def test_coordinates_are_known_at_any_time(time: str) -> None:
    moving = {"b": {"x": keys((0, 10), (1, 60))}}
    expected = 10 if time.startswith("-") else 60
    assert x_of(f"thisComp.layer('b').toWorld([0,0],{time})[0]", 1.0, node("b"), tracks=moving) == expected
