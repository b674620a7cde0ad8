"""Expressions, operators, animators and masks with any stored values give numbers or nothing."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from motion.formulas import path_ops
from motion.formulas.data_keyframes import data_track, sample_data
from motion.formulas.keyframes import sample_scalar, scalar_track
from motion.formulas.mask_keys import mask_track, sample_mask
from motion.formulas.path_ops.stored import TYPES
from motion.formulas.rigs import mesh, rig
from motion.formulas.text_animators import glyph_poses, text_animators
from tests.motion.test_expressions import on

WORDS = [
    "1", ".5", "'a'", '"b"', "[1,2]", "value", "time", "wiggle(2,30)", "Math.max", "Math.random()", "thisComp", "layer('n1','x')",
    "loopOut", "(", ")", "[", "]", ",", ".", "+", "-", "*", "/", "%", "?", ":", "!", "&&", "||", "==", "===", "<", ">=", " ",
    "null", "true", "random(", "linear(time,", "add(", "length", "key(1)", "marker", "toComp([1,2])", "seedRandom(3)",
]  # fmt: skip
NUMBERS = st.one_of(st.floats(), st.integers(-(10**20), 10**20), st.sampled_from([0, 1, -1, 100, 1e9, 1e308]))
STORED = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)


def entries(*names: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return lists of objects with some of the names, mostly with numbers."""
    return st.lists(st.dictionaries(st.sampled_from(names), st.one_of(NUMBERS, STORED), max_size=8), max_size=4)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(WORDS), max_size=14), NUMBERS)
def test_any_expression_gives_a_finite_number_or_nothing(words: list[str], time: float) -> None:
    result = on("".join(words), float(time))
    assert result is None or math.isfinite(result)


@settings(max_examples=40)
@given(entries("t", "value", "easing", "bezier", "so", "si"), NUMBERS)
def test_any_stored_track_can_be_sampled(keys: list[dict[str, Any]], time: float) -> None:
    sample_scalar(scalar_track({"keyframes": keys}), float(time))
    for kind in ("text", "points", "gradientStops", "number"):
        track = data_track({"kind": kind, "keyframes": keys})
        assert track is not None
        sample_data(track, float(time))
    masks = mask_track(keys)
    assert masks is None or isinstance(sample_mask(masks, float(time)), tuple)


@settings(max_examples=40)
@given(
    st.sampled_from(sorted(TYPES)),
    entries(
        "amount", "detail", "start", "end", "offset", "copies", "offsetX", "offsetScale", "seed", "wigglesPerSecond"
    ),
)
def test_any_path_operator_leaves_finite_points(kind: str, stored: list[dict[str, Any]]) -> None:
    chain = path_ops.path_operators([{**entry, "type": kind} for entry in stored])
    result = path_ops.apply(chain, "ellipse", 100.0, 50.0, (), 1.5)
    for run in result.runs if result else ():
        assert all(map(math.isfinite, run.points[0]))


@settings(max_examples=40)
@given(entries("x", "scale", "opacity", "selectors", "start", "end", "mode", "basedOn", "characterOffset", "color"))
def test_any_animator_poses_every_code_point(stored: list[dict[str, Any]]) -> None:
    animators = text_animators(stored)
    assert len(glyph_poses(animators, "a b\n😀", 0.7, {"ta.0.x": 5.0})) in {0, 5}


@settings(max_examples=60)
@given(
    entries("id", "x", "y", "rotation", "scale"), entries("id", "parentId", "length", "x", "y", "rotation", "scaleX")
)
def test_any_rig_gives_a_finite_mesh_or_none(pins: list[dict[str, Any]], bones: list[dict[str, Any]]) -> None:
    held = rig({"pins": pins, "meshDensity": 4}, {"bones": bones})
    found = None if held is None else mesh(held, 100.0, 50.0, {}, {})
    assert found is None or all(math.isfinite(number) for vertex in found.vertices for number in vertex)
