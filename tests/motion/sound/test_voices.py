"""Voices of a document: worked examples of audio.md, sections 1, 2.1 to 2.6 and 7."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from motion.model.parity import REFERENCE_SOUND
from motion.sound.levels import db_to_gain, percent_to_db
from tests.documents import Json, document, node, root
from tests.motion.sound.sounds import audio, bars, heard, mixed, ramp, stretch, video


def key(t: float, value: float) -> Json:
    return {"t": t, "value": value, "easing": "linear"}


@pytest.mark.parametrize(
    ("fps", "bar", "expected"),
    [
        (30, (60, 60, 30), (2, 2, 1, 1)),
        (60, (60, 60, 0), (1, 1, 0, 1)),
        (30, (30, 90, 45), (1, 3, 1.5, 1)),
    ],
)
def test_a_bar_is_a_voice(fps: float, bar: tuple[float, float, float], expected: tuple[float, ...]) -> None:
    comps = {"comp_root": {"name": "Main", "width": 400, "height": 300, "fps": fps, "durationSeconds": 10}}
    doc = document(audio(), timelines=bars(("a", *bar), fps=fps), comps=comps)
    assert [stretch(voice) for voice in heard(doc)] == [expected]


def test_a_split_layer_has_a_voice_for_each_bar() -> None:
    doc = document(audio(), timelines=bars(("a", 0, 60, 0), ("a", 60, 60, 60)))
    assert [stretch(voice) for voice in heard(doc)] == [(0, 2, 0, 1), (2, 2, 2, 1)]


def test_without_a_bar_the_layers_own_numbers_count() -> None:
    group = node("g", "group", children=["a"])
    doc = document(group, audio(parent="g", __start=4, __in=1, __out=6))
    assert [stretch(voice) for voice in heard(doc)] == [(4, 5, 1, 1)]


@pytest.mark.parametrize(
    ("numbers", "range_", "expected"),
    [
        ((2, 0, 4), (0, 20), (2, 0, 4)),
        ((0, 3, 5), (0, 20), (0, 3, 2)),
        ((5, 2, 12), (8, 10), (0, 5, 2)),
    ],
)
def test_the_range_cuts_a_voice(
    numbers: tuple[float, float, float], range_: tuple[float, float], expected: tuple[float, float, float]
) -> None:
    start, first, end = numbers
    doc = document(node("g", "group", children=["a"]), audio(parent="g", __start=start, __in=first, __out=end))
    (voice,) = heard(doc, *range_)
    assert (voice.start - range_[0], voice.position, voice.length * voice.rate) == pytest.approx(expected)


@pytest.mark.parametrize("range_", [(6.0, 8.0), (0.0, 1.5)])
def test_a_voice_outside_the_range_is_none(range_: tuple[float, float]) -> None:
    doc = document(node("g", "group", children=["a"]), audio(parent="g", __start=2, __in=0, __out=4))
    assert heard(doc, *range_) == ()


def test_an_open_voice_lasts_to_the_end_of_its_file() -> None:
    doc = document(node("g", "group", children=["a"]), audio(parent="g", __start=1, __in=0, __out=0))
    (voice,) = heard(doc, 0, 5)
    assert stretch(voice) == (1, 4, 0, 1)
    assert voice.is_open


@pytest.mark.parametrize(
    "changes",
    [{"visible": False}, {"__muted": True}],
)
def test_hidden_and_muted_layers_are_not_heard(changes: dict[str, Any]) -> None:
    assert heard(document(audio(**changes), timelines=bars(("a", 0, 60, 0)))) == ()


def test_a_solo_silences_the_others_of_its_composition() -> None:
    doc = document(audio("a"), audio("b", solo=True), timelines=bars(("a", 0, 60, 0), ("b", 0, 60, 0)))
    assert [voice.layer for voice in heard(doc)] == ["b"]


def test_a_level_of_silence_drops_no_voice() -> None:
    (voice,) = heard(document(audio(audioLevelDb=-80), timelines=bars(("a", 0, 60, 0))))
    assert voice.gain.values.tolist() == [0.0]


@pytest.mark.parametrize(("stretched", "rate"), [(50, 2.0), (200, 0.5)])
def test_a_stretched_video_changes_its_speed_and_pitch(stretched: float, rate: float) -> None:
    doc = document(video(fx={"time": {"stretch": stretched}}), timelines=bars(("v", 30, 90, 0)))
    assert [stretch(voice) for voice in heard(doc)] == [(1, 3, 0, rate)]


def test_a_stretched_video_sounds_where_its_picture_is() -> None:
    """Q4: in 1 s, stretch 200: after 2 s the picture is at 1.5 s."""
    doc = document(video(fx={"time": {"stretch": 200}}), timelines=bars(("v", 0, 300, 30)))
    (voice,) = heard(doc)
    assert voice.position + 2 * voice.rate == pytest.approx(1.5)


def test_an_audio_layer_is_not_stretched() -> None:
    doc = document(audio(fx={"time": {"stretch": 50}}), timelines=bars(("a", 0, 60, 0)))
    assert [stretch(voice) for voice in heard(doc)] == [(0, 2, 0, 1)]


def test_a_frozen_video_is_silent() -> None:
    doc = document(video(fx={"time": {"freeze": True, "freezeTime": 1}}), timelines=bars(("v", 0, 60, 0)))
    assert heard(doc) == ()


def test_a_reversed_video_plays_its_window_from_the_end_in_any_range() -> None:
    """Q5: a clip of 4 s, range 2..4, plays 2 to 0."""
    doc = document(video(fx={"time": {"reverse": True}}), timelines=bars(("v", 0, 120, 0)))
    assert [stretch(voice) for voice in heard(doc)] == [(0, 4, 4, -1)]
    assert [stretch(voice) for voice in heard(doc, 2, 4)] == [(2, 2, 2, -1)]


def remapped(*keys: tuple[float, float], fps: float = 10, seconds: float = 2) -> Json:
    comps = {"comp_root": {"name": "Main", "width": 40, "height": 30, "fps": fps, "durationSeconds": seconds}}
    tracks = {"v": {"timeRemap": [key(*one) for one in keys]}}
    return document(video(), tracks=tracks, comps=comps, timelines=bars(("v", 0, seconds * fps, 0), fps=fps))


def test_a_straight_remap_is_one_voice() -> None:
    assert [stretch(voice) for voice in heard(remapped((0, 0), (2, 4)))] == [(0, 2, 0, 2)]


def test_held_parts_of_a_remap_are_silent() -> None:
    assert [stretch(voice) for voice in heard(remapped((0, 0), (1, 1), (2, 1)))] == [(0, 1, 0, 1)]


def test_a_curved_remap_is_cut_into_straight_pieces() -> None:
    curve = [(k / 4, (k / 4) ** 2) for k in range(5)]
    found = [stretch(voice) for voice in heard(remapped(*curve, fps=4, seconds=1))]
    assert [one[3] for one in found] == [0.25, 0.75, 1.25, 1.75]
    assert [one[2] for one in found] == [0, 0.0625, 0.25, 0.5625]


@pytest.mark.parametrize("fps", [120, 240])
def test_a_remap_sounds_at_any_rate(fps: float) -> None:
    """Q7: the reference drops every piece above 120 frames per second."""
    found = heard(remapped(*[(k / 4, (k / 4) ** 2) for k in range(5)], fps=fps, seconds=1))
    assert sum(voice.length for voice in found) == pytest.approx(1.0)


def test_a_remap_that_runs_backwards_starts_where_it_says() -> None:
    """Q6: 4 to 0 over 2 s."""
    assert [stretch(voice) for voice in heard(remapped((0, 4), (2, 0)))] == [(0, 2, 4, -2)]


def test_a_remap_sounds_smooth_though_its_picture_steps() -> None:
    """Posterised times would give silence with a jump at every step."""
    doc = remapped((0, 0), (2, 4))
    doc["scene"]["nodes"][1]["components"].append(
        {"type": "fx", "props": {"effects": [{"id": "p", "type": "posterize-time", "params": {"frameRate": 4}}]}}
    )
    assert [stretch(voice) for voice in heard(doc)] == [(0, 2, 0, 2)]


def test_a_reversed_video_without_a_bar_plays_its_whole_file_from_the_end() -> None:
    doc = document(node("g", "group", children=["v"]), video(parent="g", fx={"time": {"reverse": True}}))
    samples = mixed(doc, {"clip.mp4": ramp(2)}, 3.0)[:, 0]
    assert samples[48_000] == pytest.approx(0.01, abs=1e-6)
    assert samples[5] == pytest.approx(0.02, abs=1e-5)
    assert not samples[96_000:].any()


def placed(*, visible: bool = True, seconds: float = 10, **fx: Any) -> Json:
    """Return a composition with a sound that starts at 1 s, placed at 2 s for 3 s."""
    inner = {"frameRate": {"fps": 30}, "tracks": [{"name": "Composition", "layers": [
        {"id": "x", "sourceId": "a", "clip": {"start": 30, "duration": 90, "sourceIn": 0}}]}]}  # fmt: skip
    comps = {
        "comp_root": {"name": "Main", "width": 40, "height": 30, "fps": 30, "durationSeconds": 10},
        "inner": {"name": "Inner", "width": 40, "height": 30, "fps": 30, "durationSeconds": seconds},
    }
    instance = node("i", "comp", visible=visible, fx={"precomp": True, "__compRef": "inner", **fx})
    timelines = {**bars(("i", 60, 90, 0)), "inner": inner}
    return document(
        instance, audio(parent="inner"), roots=(root("a", node_id="inner"),), comps=comps, timelines=timelines
    )


def test_a_placed_composition_sounds_where_it_is_placed() -> None:
    assert [stretch(voice) for voice in heard(placed())] == [(3, 2, 0, 1)]


def test_a_placed_composition_takes_its_speed_along() -> None:
    (voice,) = heard(placed(time={"stretch": 50}))
    assert stretch(voice) == (2.5, 1.5, 0, 2)


def test_a_placed_composition_sounds_for_as_long_as_it_shows() -> None:
    """The length of the inner composition does not end a picture (animation.md 3.5)."""
    assert [stretch(voice) for voice in heard(placed(seconds=2))] == [(3, 2, 0, 1)]


def test_an_open_sound_in_a_reversed_composition_is_heard_to_its_first_sample() -> None:
    comps = {
        "comp_root": {"name": "Main", "width": 40, "height": 30, "fps": 30, "durationSeconds": 4},
        "inner": {"name": "Inner", "width": 40, "height": 30, "fps": 30, "durationSeconds": 4},
    }
    instance = node("i", "comp", fx={"precomp": True, "__compRef": "inner", "time": {"reverse": True}})
    layers = (instance, node("g", "group", parent="inner", children=["a"]), audio(parent="g"))
    doc = document(*layers, roots=(root("g", node_id="inner"),), comps=comps, timelines=bars(("i", 0, 120, 0)))
    samples = mixed(doc, {"tone.wav": ramp(0.8)}, 2.0)[:, 0]
    assert samples[24_000] == pytest.approx(0.005, abs=1e-6)  # the composition is at 1 - 0.5 s
    assert samples[43_200] == pytest.approx(0.001, abs=1e-6)


def test_a_hidden_instance_is_silent() -> None:
    assert heard(placed(visible=False)) == ()


def test_the_reference_plays_every_composition_from_zero() -> None:
    assert [stretch(voice) for voice in heard(placed(), parity=REFERENCE_SOUND)] == [(1, 3, 0, 1)]


def test_a_video_without_an_asset_sounds_but_not_in_the_reference() -> None:
    doc = document(video(), timelines=bars(("v", 30, 150, 0)))
    assert [stretch(voice) for voice in heard(doc)] == [(1, 5, 0, 1)]
    assert heard(doc, parity=REFERENCE_SOUND) == ()


@pytest.mark.parametrize(
    ("db", "gain"),
    [(-60, 0), (-59.99, 0.0010012), (-20, 0.1), (-12, 0.251189), (-6, 0.501187), (-3, 0.707946), (0, 1),
     (6, 1.995262), (12, 3.981072)],
)  # fmt: skip
def test_decibels_become_gain(db: float, gain: float) -> None:
    assert db_to_gain(db) == pytest.approx(gain, abs=5e-7)


def test_a_level_beyond_all_measure_is_a_gain_that_32_bits_hold() -> None:
    assert 1e38 < db_to_gain(1e9) < float(np.finfo(np.float32).max)


@pytest.mark.parametrize(("percent", "gain"), [(0, 0), (0.1, 0), (1, 0.01), (40, 0.4), (50, 0.5), (150, 1.5), (200, 2)])
def test_percent_becomes_gain(percent: float, gain: float) -> None:
    assert db_to_gain(percent_to_db(percent)) == pytest.approx(gain)


def test_a_level_is_straight_in_decibels_at_points_and_in_gain_between_them() -> None:
    tracks = {"a": {"audioLevelDb": [key(0, -60), key(2, 0)]}}
    (voice,) = heard(document(audio(), tracks=tracks, timelines=bars(("a", 0, 90, 0))))
    assert len(voice.gain.values) == 151
    found = voice.gain.at(np.array([0, 0.01, 0.02, 1, 1.01, 1.5, 2]))
    assert found.tolist() == pytest.approx([0, 0.00053576, 0.00107152, 0.0316228, 0.0327536, 0.177828, 1], rel=1e-5)


def test_a_level_is_picked_up_within() -> None:
    tracks = {"a": {"audioLevelDb": [key(0, 0), key(4, -20)]}}
    doc = document(audio(), tracks=tracks, timelines=bars(("a", 0, 150, 0)))
    assert heard(doc)[0].gain.at(np.array([2.0, 2.01])).tolist() == pytest.approx([0.316228, 0.3144179], rel=1e-6)
    assert heard(doc, 2, 5)[0].gain.at(np.array([0.0])).tolist() == pytest.approx([0.316228], rel=1e-5)


def test_keys_of_a_level_move_with_the_bar() -> None:
    """Q3: with a bar at 2 s, a key set at 3 s is stored as 1 and heard at 3 s."""
    tracks = {"a": {"audioLevelDb": [key(0, 0), key(1, -20)]}}
    doc = document(audio(), tracks=tracks, timelines=bars(("a", 60, 90, 0)))
    assert heard(doc)[0].gain.at(np.array([0.0, 1.0])).tolist() == pytest.approx([1.0, 0.1])
    assert heard(doc, parity=REFERENCE_SOUND)[0].gain.at(np.array([0.0])).tolist() == pytest.approx([0.1])


def test_an_expression_sets_a_level_and_one_that_fails_leaves_the_stored_one() -> None:
    def gain(source: str) -> float:
        expressions = {"a": {"audioLevelDb": source}}
        doc = document(audio(audioLevelDb=-20), expressions=expressions, timelines=bars(("a", 0, 60, 0)))
        return float(heard(doc)[0].gain.at(np.array([0.0]))[0])

    assert gain("-40") == pytest.approx(0.01)
    assert gain("bogus") == pytest.approx(0.1)
