"""Local time of a layer: worked examples C of animation.md, and document.md 2.10."""

from __future__ import annotations

from typing import Any

import pytest

from motion.model.parity import REFERENCE, WITHOUT_QUIRKS, Parity
from motion.snapshot import CompositionSource, Transform2D, VideoSource
from tests.documents import Json, document, keys, node, root
from tests.motion.frames import flat, layer, place, shown, source

RAMP = {"x": keys((0, 0), (2, 600))}


def bars(*clips: tuple[str, float, float, float], duration: int = 300, fps: float = 30, key: str = "comp_root") -> Json:
    """Return a timeline with bars of (node, start, duration, source in)."""
    layers = [
        {"id": f"bar{index}", "sourceId": node_id, "clip": {"start": start, "duration": length, "sourceIn": source_in}}
        for index, (node_id, start, length, source_in) in enumerate(clips)
    ]
    track = {"name": "Composition", "layers": layers}
    return {key: {"frameRate": {"fps": fps}, "duration": duration, "tracks": [{"name": "Other"}, track]}}


def moving(x: list[Json], clips: Json | None = None, **more: Any) -> Json:
    return document(node("a", **more), tracks={"a": {"x": x}}, timelines=clips or {})


def unclipped(x: list[Json], **more: Any) -> Json:
    """Return a layer below a group, which has no bar."""
    group = node("g", "group", children=["a"])
    return document(group, node("a", parent="g", **more), tracks={"a": {"x": x}})


def test_a_bar_shifts_time_and_limits_life() -> None:
    doc = moving(RAMP["x"], bars(("a", 30, 60, 15)))
    assert layer(doc, "a", 0.9) is None
    assert [place(doc, "a", time).x for time in (1.0, 1.5, 2.9)] == pytest.approx([150, 300, 600])
    assert layer(doc, "a", 3.0) is None


def test_a_layer_with_a_bar_steps_from_frame_to_frame() -> None:
    assert place(moving(RAMP["x"]), "a", 1.005).x == pytest.approx(300)
    assert place(unclipped(RAMP["x"]), "a", 1.005).x == pytest.approx(301.5)
    assert place(moving(RAMP["x"]), "a", 1.005, parity=WITHOUT_QUIRKS).x == pytest.approx(301.5)


def test_a_layer_may_own_several_bars() -> None:
    doc = moving(keys((0, 0), (10, 1000)), bars(("a", 0, 30, 0), ("a", 60, 30, 30)))
    assert place(doc, "a", 0.5).x == pytest.approx(50)
    assert layer(doc, "a", 1.5) is None
    assert place(doc, "a", 2.5).x == pytest.approx(150)


@pytest.mark.parametrize(
    ("settings", "pairs", "expected"),
    [
        ({"stretch": 200}, [(1, 0), (2, 100)], {0: 0, 1.5: 25, 2: 50, 3: 100}),
        ({"reverse": True}, [(1, 0), (2, 100)], {0: 100, 1.25: 75, 2: 0}),
        ({"stretch": 50, "reverse": True}, [(1, 0), (3, 100)], {1: 100, 1.5: 50, 2: 0}),
        ({"freeze": True, "freezeTime": 1.5}, [(1, 0), (2, 100)], {0: 50, 9: 50}),
    ],
)
def test_layer_time_stretches_reverses_and_freezes(settings: Json, pairs: Any, expected: dict[float, float]) -> None:
    doc = unclipped(keys(*pairs), fx={"time": settings})
    assert {time: place(doc, "a", time).x for time in expected} == pytest.approx(expected)


def test_posterize_time_holds_the_layers_animation() -> None:
    effect = {"id": "p", "type": "posterize-time", "params": {"frameRate": 4}}
    doc = unclipped(keys((0, 0), (1, 100)), fx={"effects": [effect]})
    assert [place(doc, "a", time).x for time in (0.2, 0.3, 0.6)] == pytest.approx([0, 25, 50])
    disabled = unclipped(keys((0, 0), (1, 100)), fx={"effects": [{**effect, "enabled": False}]})
    assert place(disabled, "a", 0.3).x == pytest.approx(30)


@pytest.mark.parametrize(
    ("legacy", "stored", "expected"), [(4, {}, 25), (4, {"frameRate": 10}, 30), (4, {"frameRate": "4"}, 34)]
)
def test_the_rate_of_posterize_time_may_be_its_legacy_value(legacy: float, stored: Json, expected: float) -> None:
    effect = {"id": "p", "type": "posterize-time", "amount": legacy, "params": stored}
    doc = unclipped(keys((0, 0), (1, 100)), fx={"effects": [effect]})
    assert place(doc, "a", 0.34).x == pytest.approx(expected)


def test_posterize_time_alone_leaves_a_held_key_where_it_is() -> None:
    """-0.901 + (2 + 0.901) is slightly less than 2."""
    effect = {"id": "p", "type": "posterize-time", "params": {"frameRate": 4}}
    held = document(
        node("a", parent="g", fx={"effects": [effect]}),
        node("g", "group", children=["a"]),
        tracks={"a": {"x": keys((-0.901, 0), (2, 10), easing="hold")}},
    )
    assert place(held, "a", 2.0).x == 10


def test_bar_posterizing_and_stretch_act_in_this_order() -> None:
    effect = {"id": "p", "type": "posterize-time", "params": {"frameRate": 8}}
    doc = moving(
        keys((0.5, 0), (2.5, 600)),
        bars(("a", 30, 270, 15)),
        fx={"effects": [effect], "time": {"stretch": 200}},
    )
    assert [place(doc, "a", time).x for time in (1.5, 2.1, 3.33)] == pytest.approx([75, 150, 337.5])


def test_a_unit_remaps_the_time_of_its_children_and_its_own_bar_does_nothing() -> None:
    group = node("g", "group", children=["a"], fx={"precomp": True})
    doc = document(
        group,
        node("a", parent="g"),
        tracks={"g": {"timeRemap": keys((0, 5), (10, 0))}, "a": {"x": keys((0, 0), (10, 1000))}},
        timelines=bars(("g", 30, 90, 0)),
    )

    def child(time: float) -> float:
        (inner,) = source(doc, "g", CompositionSource, time).composition.layers
        assert not hasattr(inner.transform, "matrix")
        return inner.transform.x

    assert [child(time) for time in (0.5, 2, 5)] == pytest.approx([475, 400, 250])


def test_units_remap_the_time_of_units_within_them_the_outermost_first() -> None:
    doc = document(
        node("g", "group", children=["h"], fx={"precomp": True}),
        node("h", "group", parent="g", children=["a"], fx={"precomp": True}),
        node("a", parent="h"),
        tracks={
            "g": {"timeRemap": keys((0, 0), (10, 5))},
            "h": {"timeRemap": keys((0, 1), (10, 11))},
            "a": {"x": keys((0, 0), (10, 1000))},
        },
    )
    (group,) = source(doc, "g", CompositionSource, 4).composition.layers
    assert isinstance(group.source, CompositionSource)
    (inner,) = group.source.composition.layers
    assert isinstance(inner.transform, Transform2D)
    assert inner.transform.x == pytest.approx(300)


def nested(**tracks: Any) -> Json:
    return document(
        node("i", "comp", fx={"precomp": True, "__compRef": "comp_b"}),
        node("n", parent="comp_b"),
        roots=(root("n", node_id="comp_b"),),
        comps={"comp_b": {"id": "comp_b", "fps": 24, "durationSeconds": 10, "width": 100, "height": 80}},
        tracks={"n": {"x": keys((0, 0), (10, 1000))}, **tracks},
        timelines={**bars(("i", 60, 120, 15)), **bars(("n", 24, 48, 0), fps=24, key="comp_b")},
    )


def test_bars_of_a_placed_composition_are_read_at_the_outer_rate() -> None:
    held = nested()
    assert layer(held, "i", 1.9) is None

    def inner(time: float) -> list[float]:
        return [found.transform.x for found in source(held, "i", CompositionSource, time).composition.layers]  # type: ignore[union-attr]

    assert inner(2) == []
    assert [inner(time) for time in (2.5, 3, 3.5)] == [pytest.approx([20]), pytest.approx([70]), pytest.approx([120])]
    assert inner(4) == []
    assert source(held, "i", CompositionSource, 2).black


def test_a_remapped_instance_passes_its_bar_again() -> None:
    """Content times of 1, 0.5 and 1.466667 s: frames 30, 15 and 44 of the outer rate."""
    held = nested(i={"timeRemap": keys((0, 0), (10, 5))})

    def inner(time: float) -> list[float]:
        return [flat(found.transform).x for found in source(held, "i", CompositionSource, time).composition.layers]

    assert inner(2) == [pytest.approx(20)]
    assert inner(4) == []
    assert inner(5.9) == [pytest.approx(200 / 3)]


def test_repaired_bars_keep_their_own_rate() -> None:
    held = layer(nested(), "i", 2.75, parity=WITHOUT_QUIRKS)
    assert held is not None
    assert isinstance(held.source, CompositionSource)
    (inner,) = held.source.composition.layers
    assert inner.transform.x == pytest.approx(25, abs=1)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("time", "expected"), [(0.0, 1.0), (0.25, 0.75), (1.5, -0.5)], ids=["start", "quarter", "past the end"]
)
def test_a_reversed_video_without_keys_turns_about_its_first_second(time: float, expected: float) -> None:
    doc = document(
        node("g", "group", children=["v"]), node("v", "video", parent="g", src="a.mp4", fx={"time": {"reverse": True}})
    )
    assert source(doc, "v", VideoSource, time).time == pytest.approx(expected)


def test_keys_in_any_order_span_the_time_that_a_layer_is_reversed_in() -> None:
    doc = document(
        node("v", "video", src="a.mp4", fx={"time": {"reverse": True}}), tracks={"v": {"x": keys((3, 0), (1, 0))}}
    )
    assert source(doc, "v", VideoSource, 1.0).time == 3


def test_a_remapped_video_passes_its_bar_again() -> None:
    doc = document(node("v", "video", src="a.mp4"), tracks={"v": {"timeRemap": keys((0, 2), (10, 0))}})
    assert source(doc, "v", VideoSource, 1.01).time == pytest.approx(1.8)


def test_a_video_may_be_remapped_by_a_stored_number() -> None:
    assert source(document(node("v", "video", src="a.mp4", timeRemap=1.5)), "v", VideoSource, 4.0).time == 1.5
    doc = document(node("v", "video", src="a.mp4", timeRemap=1.5), tracks={"v": {"timeRemap": keys((0, 2), (10, 0))}})
    assert source(doc, "v", VideoSource, 0.0).time == 2


def test_a_remapped_layers_rig_moves_at_the_time_of_its_content() -> None:
    puppet = {"pins": [{"id": "p", "x": 0, "y": 0}]}
    moved = {"p": [{"x": 0, "y": 0}], "end": [{"x": 100, "y": 0}]}
    path = [{"t": 0, "value": moved["p"]}, {"t": 10, "value": moved["end"]}]
    doc = document(
        node("v", "video", src="a.mp4", fx={"puppet": puppet}),
        tracks={"v": {"timeRemap": keys((0, 2), (10, 0)), "x": keys((0, 0), (10, 1000))}},
        data={"v": {"puppet.p.position": {"kind": "points", "keyframes": path}}},
    )
    found = layer(doc, "v", 5.0)
    assert found is not None
    assert found.mesh is not None
    xs = [vertex[0] for vertex in found.mesh.vertices]
    assert (min(xs) + max(xs)) / 2 == pytest.approx(10)
    assert place(doc, "v", 5.0).x == pytest.approx(500)


def test_the_last_frame_stays_when_the_time_is_past_the_end() -> None:
    doc = document(node("a"))
    assert layer(doc, "a", 10.0) is not None
    assert layer(doc, "a", 25.0) is not None


def test_a_hidden_null_with_a_bar_is_sampled_at_raw_time() -> None:
    pair = (node("n", "null", children=["a"], visible=False), node("a", parent="n"))
    doc = document(*pair, tracks={"n": {"x": keys((0, 0), (10, 1000))}}, timelines=bars(("n", 30, 270, 0)))
    assert place(doc, "a", 3).x == pytest.approx(300)
    seen = document(
        node("n", "null", children=["a"]),
        pair[1],
        tracks={"n": {"x": keys((0, 0), (10, 1000))}},
        timelines=bars(("n", 30, 270, 0)),
    )
    assert place(seen, "a", 3).x == pytest.approx(200)


def test_a_layer_parented_to_another_has_no_bar_whatever_the_file_says() -> None:
    doc = document(node("n", "null", children=["a"]), node("a", parent="n"), timelines=bars(("a", 30, 10, 0)))
    assert layer(doc, "a", 0) is not None


def test_a_layer_that_names_another_parent_keeps_the_bar_of_the_composition_that_lists_it() -> None:
    child = node("a", parent="n")
    doc = document(node("n", "null"), child, timelines=bars(("a", 30, 10, 0)))
    doc["scene"]["nodes"][0]["children"].append("a")
    assert layer(doc, "a", 0) is None
    assert layer(doc, "a", 1) is not None


def test_clones_lag_by_their_share_of_the_step() -> None:
    cloner = {"enabled": True, "mode": "linear", "count": 3, "offsetX": 10, "step": {"time": 1}}
    doc = unclipped(keys((0, 0), (10, 1000)), fx={"__cloner": cloner})
    found = [each.transform.x for each in shown(doc, 5).layers]  # type: ignore[union-attr]
    assert found == pytest.approx([490, 450, 410])


def test_motion_blur_looks_around_the_frame_where_nothing_snaps() -> None:
    fast = keys((0, 0), (2, 600))
    free = layer(unclipped(fast, fx={"motionBlur": True}), "a", 1)
    assert free is not None
    assert [flat(sample.transform).x for sample in free.samples] == pytest.approx(
        [297.5 + 5 * index / 7 for index in range(8)]
    )
    snapped = layer(moving(fast, fx={"motionBlur": True}), "a", 1)
    assert snapped is not None
    assert [flat(sample.transform).x for sample in snapped.samples] == pytest.approx([300] * 8)
    repaired = layer(moving(fast, fx={"motionBlur": True}), "a", 1, parity=WITHOUT_QUIRKS)
    assert repaired is not None
    assert flat(repaired.samples[0].transform).x == pytest.approx(297.5)


def test_samples_of_motion_blur_span_the_shutter_with_both_ends() -> None:
    """0.99166667, 0.99722222, 1.00277778 and 1.00833333 s."""
    doc = unclipped(keys((0, 0), (2, 2)), fx={"motionBlur": True})
    doc["motionBlur"] = {"shutterAngle": 180, "shutterPhase": -90, "samples": 4}
    blurred = layer(doc, "a", 1)
    assert blurred is not None
    assert [flat(sample.transform).x for sample in blurred.samples] == pytest.approx(
        [0.99166667, 0.99722222, 1.00277778, 1.00833333], abs=1e-8
    )


@pytest.mark.parametrize("kind", ["light", "particle"])
def test_lights_and_particles_never_blur(kind: str) -> None:
    fast = {"x": keys((0, 0), (2, 600)), "opacity": keys((0, 0), (2, 100))}
    doc = document(
        node("g", "group", children=["a"]), node("a", kind, parent="g", fx={"motionBlur": True}), tracks={"a": fast}
    )
    found = layer(doc, "a", 1)
    assert found is not None
    assert found.samples == ()


def test_a_wide_shutter_reaches_the_next_frame() -> None:
    doc = moving(keys((0, 0), (2, 600)), fx={"motionBlur": True})
    doc["motionBlur"] = {"shutterAngle": 360}
    blurred = layer(doc, "a", 1)
    assert blurred is not None
    assert [flat(sample.transform).x for sample in blurred.samples] == pytest.approx([300] * 7 + [310])


def test_samples_follow_the_output_rate() -> None:
    held = layer(unclipped(keys((0, 0), (2, 600)), fx={"motionBlur": True}), "a", 1, output_fps=15)
    assert held is not None
    assert flat(held.samples[0].transform).x == pytest.approx(295)


def test_a_units_remap_by_expression_counts_where_its_other_remap_has_keyframes() -> None:
    doc = document(
        node("g", "group", children=["a"], fx={"precomp": True}),
        node("a", parent="g"),
        tracks={"g": {"precompTime": keys((0, 9))}, "a": {"x": keys((0, 0), (10, 1000))}},
        expressions={"g": {"timeRemap": "time + 2"}},
    )
    (inner,) = source(doc, "g", CompositionSource, 1.0).composition.layers
    assert flat(inner.transform).x == pytest.approx(300)


def parented(parity: Parity, **fx: Any) -> list[Transform2D]:
    """Return the samples of a layer that moves below a null."""
    doc = document(
        node("n", "null", children=["a"], x=50, y=9, scaleX=2, scaleY=3, rotation=90),
        node("a", parent="n", scaleX=1, scaleY=5, skew=8, fx={"motionBlur": True, **fx}),
        tracks={"a": {"y": keys((0, 0), (2, 600))}},
    )
    blurred = layer(doc, "a", 1, parity=parity)
    assert blurred is not None
    return [flat(sample.transform) for sample in blurred.samples]


def test_samples_of_motion_blur_leave_out_the_parents_unless_repaired() -> None:
    own = parented(REFERENCE)
    assert [(one.x, one.scale_y, one.rotation, one.skew) for one in own] == [(0, 5, 0, 0)] * len(own)
    repaired = parented(WITHOUT_QUIRKS)
    assert [one.x for one in repaired] == pytest.approx([50 - 3 * one.y for one in own])
    for one in repaired:
        assert (one.y, one.rotation, one.scale_x, one.scale_y) == pytest.approx((9, 90, 2, 15))


def test_a_layer_that_moves_far_gets_a_sample_for_every_two_pixels_up_to_the_limit() -> None:
    def count(distance: float, path: str) -> int:
        tracks = {"a": {path: keys((0, 0), (1, distance * 60))}}
        doc = document(
            node("g", "group", children=["a"]), node("a", parent="g", fx={"motionBlur": True}), tracks=tracks
        )
        doc["motionBlur"] = {"samples": 4, "adaptiveSampleLimit": 20}
        blurred = layer(doc, "a", 0.5)
        assert blurred is not None
        return len(blurred.samples)

    for path in ("x", "y"):
        assert [count(distance, path) for distance in (2, 20.5, 1000)] == [4, 11, 20]


@pytest.mark.parametrize("angle", [1e-323, 1e-9])
def test_a_shutter_that_hardly_opens_gives_samples_of_one_moment(angle: float) -> None:
    doc = unclipped(keys((0, 0), (2, 600)), fx={"motionBlur": True})
    doc["motionBlur"] = {"shutterAngle": angle}
    blurred = layer(doc, "a", 1)
    assert blurred is not None
    assert [flat(sample.transform).x for sample in blurred.samples] == pytest.approx([300] * 8)
