"""Odd documents render or are refused with the name of the property: never a hang, a crash, or a NaN."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motion.build import build
from motion.bundle import read_value
from motion.errors import DocumentError, PropertyRefused
from motion.evaluate import snapshot
from motion.snapshot import GlyphPose, ImageSource, ParticleSource, TextSource
from motion.snapshot_key import key
from motion.template import discover, media_sources
from tests.documents import Json, document, keys, node, root
from tests.motion.corpus import corpus_documents, needs_corpus
from tests.motion.frames import built, layer, place, shown, source

ODD_VALUES: list[Any] = [
    None, True, 0, -1, 0.5, 1e9, -1e9, 1e300, -1e300, 2**80, float("inf"), float("nan"), "", "x", "#12", "comp_root",
    "1e9", [], {}, [1, 2], [[]], {"a": 1}, "\ud800", "𝒳" * 40, [None] * 3, {"keyframes": [{"t": 1e300, "value": -1e300}]},
]  # fmt: skip


@cache
def seeds() -> list[Json]:
    """Documents to break: a small one with all features, and those of the corpus. They are read once, and not during
    collection."""
    everything = document(
        node(
            "a", x=1, rotation=3, cornerRadius=4, fx={"effects": [{"id": "e", "type": "blur", "params": {"amount": 3}}]}
        ),
        node("t", "text", text={"content": "Hi", "__animators": [{"y": 5, "selectors": [{"kind": "wiggly"}]}]}),
        node("v", "video", src="a.mp4", fx={"time": {"stretch": 50, "reverse": True}, "motionBlur": True}),
        node(
            "g", "group", children=["b"], fx={"precomp": True, "mask": {"paths": [{"points": [{"x": 1, "y": 2}] * 4}]}}
        ),
        node(
            "b", parent="g", z=4, fx={"pathOps": [{"id": "o", "type": "repeater", "copies": 3}], "stroke": {"width": 2}}
        ),
        node("i", "comp", fx={"precomp": True, "__compRef": "comp_b", "__compOverrides": {"n/x": 3}}),
        node(
            "n",
            parent="comp_b",
            fx={"__cloner": {"enabled": True, "count": 3}, "layerStyles": {"glass": {"enabled": True}}},
        ),
        node("c", "camera", z=-500, orbitYaw=4),
        node("l", "light", z=-50, castShadows=True),
        node("p", "particle", width=50, height=40, fx={"particle": {"birthRate": 20}}),
        roots=(root("n", node_id="comp_b"),),
        comps={"comp_b": {"id": "comp_b", "width": 50, "height": 50}},
        tracks={
            "a": {"x": keys((0, 0), (2, 9)), "effect.e.amount": keys((0, 1), (1, 9))},
            "g": {"timeRemap": keys((0, 0), (9, 3))},
        },
        expressions={"a": {"y": "wiggle(2,30)+layer('t','x')"}, "b": {"rotation": "time*10"}},
        data={"b": {"path.points": {"kind": "points", "keyframes": [{"t": 0, "value": [{"x": 1, "y": 1}] * 3}]}}},
    )
    stored = [json.loads(path.read_text()) for path in corpus_documents() if path.stat().st_size < 60_000]
    return [everything, *stored]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Yield the address of every value in a document."""
    found = [path] if path else []
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for member, inner in members:
        found.extend(places(inner, (*path, member)))
    return found


@st.composite
def broken_documents(draw: st.DrawFn) -> Json:
    held = copy.deepcopy(draw(st.sampled_from(seeds())))
    for _ in range(draw(st.integers(1, 6))):
        addresses = places(held)
        *above, last = draw(st.sampled_from(addresses))
        holder = held
        for member in above:
            holder = holder[member]
        change = draw(st.sampled_from(["replace", "delete", "repeat"]))
        if change == "replace":
            holder[last] = copy.deepcopy(draw(st.sampled_from(ODD_VALUES)))
        elif change == "delete":
            del holder[last]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
    return held


def numbers_of(value: Any) -> list[float]:
    """Yield every number in a snapshot."""
    if is_dataclass(value):
        return [number for field in fields(value) for number in numbers_of(getattr(value, field.name))]
    if isinstance(value, tuple):
        return [number for member in value for number in numbers_of(member)]
    return [value] if isinstance(value, int | float) else []


@settings(max_examples=250, suppress_health_check=list(HealthCheck))
@given(broken_documents(), st.sampled_from([0.0, 0.5, 1.37, 9.99, -3.0, 1e6]))
def test_broken_documents_evaluate_to_finite_numbers_or_are_refused(doc: Json, at: float) -> None:
    try:
        made = read_value(doc)
        discover(made, include_text=True)
        media_sources(made)
        frame = snapshot(build(made), at)
    except DocumentError as refused:
        assert refused.message
        return
    assert all(math.isfinite(number) for number in numbers_of(frame))
    assert key(frame)


@pytest.mark.thorough
@needs_corpus
@pytest.mark.corpus
def test_every_document_of_the_corpus_evaluates_to_finite_numbers() -> None:
    for path in corpus_documents():
        if path.parent.name == "v99-newer":
            continue
        made = build(read_value(json.loads(path.read_text())))
        for at in (0.0, made.duration_seconds / 3, made.duration_seconds):
            frame = snapshot(made, at)
            assert all(math.isfinite(number) for number in numbers_of(frame)), path.parent.name


@pytest.mark.parametrize("path", ["puppet.p.position", "path.points", "fill.stops", "text.source"])
@pytest.mark.parametrize("kind", ["text", "points", "gradientStops", "number"])
def test_data_of_another_kind_than_its_path_takes_is_ignored(path: str, kind: str) -> None:
    fx = {
        "puppet": {"pins": [{"id": "p", "x": 0, "y": 0}]},
        "fill": {"type": "linear", "stops": [{"offset": 0, "color": "#123456"}]},
    }
    value = {
        "text": "x",
        "points": [{"x": 1, "y": 2}] * 3,
        "gradientStops": [{"pos": 0, "color": "#fff"}] * 3,
        "number": 3,
    }[kind]
    moved = {path: {"kind": kind, "keyframes": [{"t": 0, "value": value}]}}
    layers = node("a", fx=fx), node("t", "text", text={"content": "Hi"})
    taken = {"text.source": "text", "fill.stops": "gradientStops"}.get(path, "points") == kind
    still, frame = shown(document(*layers)), shown(document(*layers, data={"a": moved, "t": moved}))
    assert (key(frame) != key(still)) is taken


def test_parents_in_a_circle_are_cut() -> None:
    doc = document(node("a", x=1, parent="b"), node("b", x=2, parent="a"))
    doc["scene"]["nodes"][0]["children"] = ["a", "b"]
    assert {found.id for found in shown(doc).layers} == {"a", "b"}


def test_children_in_a_circle_are_drawn_once() -> None:
    doc = document(
        node("g", "group", children=["h"]), node("h", "group", parent="g", children=["g", "a"]), node("a", parent="h")
    )
    assert [found.id for found in shown(doc).layers] == ["a"]


@pytest.mark.thorough
def test_ten_thousand_layers_are_drawn() -> None:
    doc = document(*(node(f"n{index}", x=index) for index in range(10_000)))
    assert len(shown(doc).layers) == 10_000


@pytest.mark.thorough
def test_ten_thousand_parents_in_a_chain_are_followed() -> None:
    chain = [
        node(f"n{index}", "null", parent=f"n{index - 1}", children=[f"n{index + 1}"], x=1) for index in range(1, 10_000)
    ]
    first = node("n0", "null", children=["n1"], x=1)
    doc = document(first, *chain, node("n10000", parent="n9999", x=1))
    assert place(doc, "n10000").x == 10_001


def test_scales_that_multiply_beyond_all_numbers_draw_nothing() -> None:
    chain = [
        node(f"n{index}", "null", parent=f"n{index - 1}", children=[f"n{index + 1}"], scale=1e9)
        for index in range(1, 60)
    ]
    doc = document(node("n0", "null", children=["n1"], scale=1e9), *chain, node("n60", parent="n59", x=1))
    assert place(doc, "n60").scale_x == 0.0


def test_units_in_units_without_end_stay_bounded() -> None:
    fx = {"precomp": True}
    chain = [
        node(f"g{index}", "group", parent=f"g{index - 1}", children=[f"g{index + 1}"], fx=fx)
        for index in range(1, 3000)
    ]
    doc = document(node("g0", "group", children=["g1"], fx=fx), *chain, node("g3000", parent="g2999"))
    assert len(shown(doc).layers) == 1
    (warning,) = built(doc).warnings
    assert "deep" in warning


@pytest.mark.thorough
def test_placed_compositions_that_multiply_are_refused_by_name() -> None:
    doc = document(*(node(f"i{index}", "comp", fx={"precomp": True, "__compRef": "c0"}) for index in range(12)))
    for depth in range(7):
        names = [f"c{depth}_{index}" for index in range(12)]
        doc["scene"]["nodes"].append(root(*names, node_id=f"c{depth}"))
        doc["comps"][f"c{depth}"] = {"id": f"c{depth}"}
        fx = {"precomp": True, "__compRef": f"c{depth + 1}", "time": {"stretch": 50}}
        doc["scene"]["nodes"] += [node(name, "comp", parent=f"c{depth}", fx=fx) for name in names]
    with pytest.raises(PropertyRefused, match="508,160,185 layers"):
        shown(doc)


def test_clones_of_clones_and_spliced_circles_stay_bounded() -> None:
    many = {"__cloner": {"enabled": True, "mode": "grid", "countX": 1e9, "countY": 1e9}}
    doc = document(node("g", "group", children=["a"], fx=many), node("a", parent="g", fx=many))
    assert len(shown(doc).layers) == 500
    spliced = document(
        node("i", "comp", fx={"precomp": True, "__compRef": "comp_root", "collapseTransforms": True}), node("a")
    )
    assert 1 <= len(shown(spliced).layers) <= 9


@pytest.mark.parametrize("field", ["width", "height", "fps", "durationSeconds"])
@pytest.mark.parametrize("value", [0, -5, 1e9, "big", float("nan")])
def test_a_composition_of_no_use_is_refused_with_the_property_named(field: str, value: Any) -> None:
    with pytest.raises(PropertyRefused, match=f"The composition's {field} must be"):
        built(document(composition={field: value}))


def test_absent_settings_take_their_defaults() -> None:
    doc = document()
    doc["comps"] = {"comp_root": {}}
    made = built(doc)
    assert (made.width, made.height, made.fps, made.duration_seconds) == (1920, 1080, 30, 10)


def test_sizes_are_held_within_what_can_be_drawn() -> None:
    found = layer(document(node("a", width=1e9, height=-5)), "a")
    assert found is not None
    assert (found.source.width, found.source.height) == (100_000, 0)  # type: ignore[union-attr]


def test_a_text_of_four_megabytes_is_cut() -> None:
    doc = document(node("t", "text", name="Essay", text={"content": "x" * 4_000_000}))
    assert "Essay" in built(doc).warnings[0]
    found = layer(doc, "t")
    assert found is not None
    assert len(found.source.content) <= 100_000  # type: ignore[union-attr]


@pytest.mark.thorough
def test_texts_with_very_many_selectors_are_refused_by_name() -> None:
    selectors = [{"y": 5, "selectors": [{"kind": "range"}] * 100}] * 100
    texts = [node(f"t{index}", "text", text={"content": "x" * 1000, "__animators": selectors}) for index in range(11)]
    with pytest.raises(PropertyRefused, match="animators"):
        shown(document(*texts))
    (one,) = shown(document(texts[0])).layers
    assert isinstance(one.source, TextSource)
    assert one.source.poses[-1] == GlyphPose()


HUGE = [1e308, -1e308, 1e25]
BROKEN_GENERATORS: list[Json] = [
    *({"pathOps": [{"id": "o", "type": "repeater", "copies": 4, "offsetRotation": huge}]} for huge in HUGE),
    *({"__cloner": {"enabled": True, "mode": "radial", "arc": huge, "count": 3}} for huge in HUGE),
    *({"__cloner": {"enabled": True, "offsetY": huge, "step": {"time": huge, "rotation": huge}}} for huge in HUGE),
]


@pytest.mark.parametrize("fx", BROKEN_GENERATORS)
def test_generators_with_huge_numbers_stay_finite(fx: Json) -> None:
    frame = shown(document(node("a", fx=fx), tracks={"a": {"x": keys((0, 0), (1, 10))}}), 0.5)
    assert all(math.isfinite(number) for number in numbers_of(frame))


def test_a_field_of_particles_without_end_shows_none_where_numbers_no_longer_tell_them_apart() -> None:
    config = {"birthRate": 1e9, "maxParticles": 5}
    doc = document(node("p", "particle", fx={"particle": config}), tracks={"p": {"timeRemap": keys((0, 0))}})
    assert len(source(doc, "p", ParticleSource, 1.0).particles) == 5
    assert source(doc, "p", ParticleSource, 1e9).particles == ()


def test_seeds_beyond_all_bounds_are_told_apart() -> None:
    def first(seed: float) -> Any:
        return source(
            document(node("p", "particle", fx={"particle": {"seed": seed}})), "p", ParticleSource, 1.0
        ).particles[0]

    assert first(1.7e12) != first(1.7e12 + 1)


@pytest.mark.parametrize("loop", [True, False])
def test_a_sequence_that_runs_backwards_shows_its_first_frame(loop: bool) -> None:
    frames = {"frames": ["a.png", "b.png"], "fps": -30, "loop": loop}
    assert source(document(node("i", "image", fx={"sequence": frames})), "i", ImageSource, 3.0).src == "a.png"


def test_handles_that_are_no_numbers_count_as_none() -> None:
    pair: list[Json] = [
        {"t": 0, "value": 0, "easing": "bezier", "bezier": [float("inf"), 0, 1, 1]},
        {"t": 1, "value": 100},
    ]
    assert place(document(node("a"), tracks={"a": {"x": pair}}), "a", 0.5).x == pytest.approx(50)


@pytest.mark.parametrize("value", [0, -5, 1e9, "big", float("nan")])
def test_a_composition_of_no_use_that_is_not_rendered_refuses_nothing(value: Any) -> None:
    others = {"comp_b": {"width": value, "height": value, "fps": value, "durationSeconds": value}}
    assert [found.id for found in shown(document(node("a"), comps=others)).layers] == ["a"]


@pytest.mark.parametrize("pin", [[0, 0, 1, 0, 1, 1, 0, 0.5, None], ["x", 0, 0, 1, 0, 1, 1, 0, 0.5]])
def test_a_malformed_corner_pin_is_none(pin: list[Any]) -> None:
    assert place(document(node("a", fx={"cornerPin": pin})), "a").corner_pin is None
