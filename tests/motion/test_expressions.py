"""Worked examples D of animation.md 9, and malicious expressions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest

from motion.formulas.expressions import (
    CompositionFacts,
    LayerFacts,
    Marker,
    SourceRect,
    property_value,
    selector_amount,
)
from motion.formulas.keyframes import ScalarTrack, scalar_track

Address = tuple[str, str]
RAMP = [(0.0, 0.0), (1.0, 100.0)]


@dataclass
class Document:
    """Tracks, expressions and static numbers in one composition."""

    tracks: dict[Address, list[tuple[float, float]]] = field(default_factory=dict)
    sources: dict[Address, str] = field(default_factory=dict)
    statics: dict[Address, float] = field(default_factory=dict)
    markers: tuple[Marker, ...] = ()

    def track(self, node_id: str, path: str) -> ScalarTrack | None:
        keys = self.tracks.get((node_id, path))
        return None if keys is None else scalar_track({"keyframes": [{"t": t, "value": v} for t, v in keys]})

    def expression(self, node_id: str, path: str) -> str | None:
        return self.sources.get((node_id, path))

    def static_number(self, node_id: str, path: str) -> float | None:
        return self.statics.get((node_id, path))

    def loudness(self) -> float:
        return 0.0

    def layer_named(self, name: str) -> str | None:
        return name if any(name == node for node, _ in (*self.tracks, *self.sources, *self.statics)) else None

    def layer_facts(self, node_id: str) -> LayerFacts:
        return LayerFacts(node_id, None, 50)

    def control_owner(self, name: str) -> str | None:
        return next((node for node, path in self.statics if path == f"ctrl_{name}"), None)

    def composition(self) -> CompositionFacts:
        return CompositionFacts(640, 360, 4, 24, 3)

    def composition_markers(self) -> tuple[Marker, ...]:
        return ()

    def layer_markers(self, node_id: str) -> tuple[Marker, ...]:
        return self.markers

    def source_rect(self, node_id: str, time_seconds: float, extents: bool) -> SourceRect | None:
        return SourceRect(-5, -6, 10, 12) if extents else None

    def to_composition(
        self, node_id: str, point: tuple[float, float, float], time_seconds: float
    ) -> tuple[float, float]:
        return point[0] + 100, point[1] + time_seconds

    def from_composition(self, node_id: str, point: tuple[float, float], time_seconds: float) -> tuple[float, float]:
        return point[0] - 100, point[1] - time_seconds

    def to_world(
        self, node_id: str, point: tuple[float, float, float], time_seconds: float
    ) -> tuple[float, float, float]:
        return point

    def from_world(self, node_id: str, point: tuple[float, float, float], time_seconds: float) -> tuple[float, ...]:
        return point[:2]


def on(
    source: str,
    time: float,
    path: str = "x",
    keys: list[tuple[float, float]] | None = None,
    static: float | None = None,
) -> float | None:
    """Return the value of a property of node n1 with one expression."""
    document = Document(sources={("n1", path): source})
    if keys is not None:
        document.tracks["n1", path] = keys
    if static is not None:
        document.statics["n1", path] = static
    return property_value(document, "n1", path, time)


def approx(*expected: float, tolerance: float = 1e-9) -> object:
    return pytest.approx(expected, abs=tolerance)


def test_wiggle_has_the_stated_values_and_neighbours_share_a_curve() -> None:
    assert [on("wiggle(2,30)", t) for t in (0, 0.25, 0.5, 1, 1.3)] == approx(
        0.755911500309594, 5.154899993322033, 9.553888486334472, 23.978940996166784, 18.987037083575697, tolerance=1e-6
    )
    assert [on("wiggle(2,30)", t, "y") for t in (0, 0.25, 0.5, 1, 1.3)] == approx(
        9.553888486334472, 16.766414741250628, 23.978940996166784, 16.275385575499968, 20.90307027836993, tolerance=1e-6
    )


def test_wiggle_adds_its_octaves() -> None:
    assert [on("wiggle(3,40,3,0.6)", t, keys=[(0, 0)]) for t in (0, 0.25, 0.5, 1, 1.3)] == approx(
        1.007882000412792,
        16.393328050475134,
        11.22289266236238,
        -4.777753784419845,
        30.847864651831372,
        tolerance=1e-6,
    )


def test_wiggle_has_one_octave_unless_a_number_asks_for_more_and_never_more_than_eight() -> None:
    def at(octaves: str) -> float | None:
        return on(f"wiggle(3,40,{octaves})", 0.3)

    assert at("0/0") == at("-2") == at("1.9") == at("1") != at("2")
    assert at("1e9") == at("8") != at("7")


def test_random_is_the_same_at_every_time() -> None:
    values = [on(source, 2.0) for source in ("random()", "random(10,20)", "gaussRandom()")]
    assert values == approx(0.7258416200711508, 17.25841620071151, -0.28015317621419006, tolerance=1e-6)
    assert on("Math.random()", 0) == on("random()", 1)
    assert on("seedRandom(5)+random(10)", 0) == on("seedRandom(5)+random(10)", 3)


def test_noise_has_the_stated_values() -> None:
    assert [on("noise(time)", t) for t in (0, 0.5, 1)] == approx(
        -1, -0.388338934276686, 0.4092383802203694, tolerance=1e-6
    )
    assert [on("noise(time,3)", t) for t in (0, 0.5, 1)] == approx(
        -0.8693582823935481, -0.4538973378745482, -0.34976651959847416, tolerance=1e-6
    )


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("cycle", (50, 100, 25, 0, 50)), ("pingpong", (50, 100, 75, 0, 50)), ("offset", (50, 100, 125, 200, 350))],
)
def test_loop_out_repeats_after_the_last_key(mode: str, expected: tuple[float, ...]) -> None:
    values = [on(f'loopOut("{mode}")', t, keys=RAMP) for t in (0.5, 1, 1.25, 2, 3.5)]
    assert values == approx(*expected)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("cycle", (0, 25, 75, 50)), ("pingpong", (100, 75, 25, 50)), ("offset", (-100, -75, -25, -150))],
)
def test_loop_in_repeats_before_the_first_key(mode: str, expected: tuple[float, ...]) -> None:
    values = [on(f"loopIn('{mode}')", t, keys=[(1, 0), (2, 100)]) for t in (0, 0.25, 0.75, -0.5)]
    assert values == approx(*expected)


def test_a_loop_of_too_many_turns_falls_back() -> None:
    keys = [(0.0, 0.0), (5e-324, 1.0)]
    assert on("loopOut('offset')", 1.0, keys=keys) == 1
    assert on("loopIn('offset')", -1.0, keys=keys) == 0


def test_interpolation_takes_five_arguments_or_three() -> None:
    assert [on("linear(time,0.5,1.5,10,20)", t) for t in (0, 0.75, 2)] == [10, 12.5, 20]
    assert on("linear(time,10,20)", 0.5) == 15
    assert on("linear(time,1,0,0,100)", 0.25) == 75
    assert on("linear(time,1,1,7,9)", 3) == 7
    assert [on(f"{name}(time,0,1,0,100)", 0.25) for name in ("ease", "easeIn", "easeOut")] == [15.625, 6.25, 43.75]


def test_interpolation_of_four_arguments_is_that_of_three() -> None:
    assert on("linear(time,10,20,99)", 0.5) == 15


def test_velocity_is_the_slope_of_the_own_keys() -> None:
    assert [on("velocity", t, keys=RAMP) for t in (0.5, 0, 1)] == approx(100, 50, 50)
    assert on("thisProperty.velocityAtTime(0.5) - speed", 0.5, keys=RAMP) == pytest.approx(0)


def test_an_array_gives_every_property_its_own_component() -> None:
    assert [on("[11,22,33]", 0, path) for path in ("x", "y", "z", "scaleY", "rotationX")] == [11, 22, 33, 22, 11]
    assert on("[11,22]", 0, "z") == 22


@pytest.mark.parametrize(
    "source",
    ["bogus+1", "[1,2]+[3,4]", "'a'", "true", "1/0", "null", "[]", "[1,2,3,4,5]", "[1,'a']", "[1,2]*2", "1e", "1;2"],
)
def test_an_invalid_result_falls_back_to_the_keyframes(source: str) -> None:
    assert on(source, 0.5, keys=RAMP) == 50


def test_value_is_zero_without_keys_but_an_error_falls_back_to_the_static_number() -> None:
    assert on("value+5", 0, static=300) == 5
    assert on("bogus", 0, static=300) == 300
    assert on("bogus", 0) is None


def test_vectors_work_element_by_element() -> None:
    source = (
        "add([1,2],5)[1]+dot([1,2],[3,4])+length([3,4])+length([0,0],[3,4])"
        "+cross([1,0],[0,1])[2]+normalize([3,4])[0]+div(1,0)[0]"
    )
    assert on(source, 0) == pytest.approx(29.6)


def test_a_cycle_gives_the_outermost_property_what_it_has_without_expression() -> None:
    document = Document(
        sources={("A", "x"): "layer('B','x')+1", ("B", "x"): "layer('A','x')+1"},
        statics={("A", "x"): 777, ("B", "x"): 777},
    )
    assert [property_value(document, node, "x", 0) for node in "AB"] == [777, 777]
    document.tracks["A", "x"] = [(0, 5)]
    assert [property_value(document, node, "x", 0) for node in "AB"] == [5, 777]


def test_sixteen_hops_pass_and_seventeen_do_not() -> None:
    document = Document(
        tracks={("L20", "x"): [(0, 1000)]},
        sources={(f"L{i}", "x"): f"layer('L{i + 1}','x')+1" for i in range(20)},
    )
    assert [property_value(document, node, "x", 0) for node in ("L4", "L3", "L0")] == [1016, None, None]


def test_an_error_in_another_layer_stays_there() -> None:
    document = Document(sources={("A", "x"): "layer('B','x')+1", ("B", "x"): "bogus"}, statics={("B", "x"): 7})
    assert property_value(document, "A", "x", 0) == 8


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("null+1", 1),
        ("[3]*2", 6),
        ("-7%3", -1),
        ("5.+.5", 5.5),
        ("1 - 2 - 3", -4),
        ("2+3*4", 14),
        ("!0 && 5", 5),
        ("0 || '' || 7", 7),
        ("0 && bogus", 0),
        ("null==0 ? 1 : undefined==null ? 2 : 3", 2),
        ("'5'==5 ? 1 : 0", 1),
        ("'5'===5 ? 1 : 0", 0),
        ("'b'>'a' ? 1 : 0", 1),
        ("'10'<9 ? 1 : 0", 0),
        ("1/0>1e308 ? 1 : 0", 1),
        ("'a\\'b'.length", 3),
        ('"x\\n"[1]=="\\n" ? 1 : 0', 1),
        ("[1,2,3].length+[7][0]", 10),
        ("[1][5]==null ? 4 : 5", 4),
        ("(''+0.1)=='0.1' && (''+1e21)=='1e+21' && (''+1e-7)=='1e-7' && (''+123456789012345680000)!='' ? 1 : 0", 1),
        ("('n'+[1,[2,null]]+true)=='n1,2,true' ? 1 : 0", 1),
        ("Math.max(1,Math.PI,2)-Math.PI+Math.round(-2.5)", -2),
        ("Math.sqrt(-1)==Math.sqrt(-1) ? 1 : 0", 0),
        ("clamp(time,2,3)+timeToFrames(2)+framesToTime(12)", 50.5),
        ("posterizeTime(4,0.6)", 0.5),
        ("thisComp.width+thisComp.numLayers+thisLayer.width+thisLayer.height", 640 + 3 + 640 + 50),
        ("toComp([1,2])[0]+fromComp([1,2],9)[1]+toWorld([1,2])[2]", 101 - 7),
        ("sourceRectAtTime().width+sourceRectAtTime(0,true).left", 635),
        ("key(99).value+key(1).index+nearestKey(0.6).time+numKeys", 0 + 1 + 0 + 0),
        ("audio", 0),
        ("marker.numKeys", 0),
        ("normalize([0,0])[0] == 0 && normalize('a')[0] != normalize('a')[0] ? 1 : 0", 1),
        ("[]==[] || []===[] || [1]==[1] ? 1 : 0", 0),
        ("'😀'.length + '😀é'.length", 2 + 3),
        ("'a😀'[1] + 'a😀'[2] == '😀'[0] + '😀'[1] ? 1 : 0", 1),
        ("'\uffff' > '😀' ? 1 : 0", 1),
        ("+'\u2003 5\u3000\u202f'", 5),
        ("+'5' == +'\u0665' || '0x\u0665' == 5 || '\x1f5' == 5 ? 1 : 0", 0),
        ("Math.round(0.49999999999999994) + Math.round(4503599627370497) - 4503599627370497", 0),
        (
            "1/Math.round(-0.2) < 0 && 1/Math.ceil(-0.2) < 0 && 1/Math.trunc(-0.2) < 0 && 1/Math.floor(0.2) > 0 ? 1 : 0",
            1,
        ),
        ("posterizeTime(0, 7) + (posterizeTime(1/0) == posterizeTime(1/0) ? 1 : 0)", 7),
    ],
)
def test_the_language_follows_javascript(source: str, expected: float) -> None:
    assert on(source, 0) == pytest.approx(expected)


def test_markers_are_found_by_number_comment_name_and_time() -> None:
    document = Document(markers=(Marker(1, name="b", comment="a"), Marker(2, 0.5, "a", "c")))
    for source, expected in (
        ("marker.key(2).duration", 0.5),
        ("marker.key(9).time", 2),
        ("marker.key('a').index", 1),
        ("thisLayer.marker.key('b').time", 1),
        ("marker.nearestKey(1.5).index", 1),
        ("marker.key('zz').index", 0),
    ):
        document.sources["n1", "x"] = source
        assert property_value(document, "n1", "x", 0) == expected


def test_controls_are_read_with_their_tracks() -> None:
    document = Document(sources={("n1", "x"): "ctrl('Speed')*2"}, statics={("rig", "ctrl_Speed"): 4})
    assert property_value(document, "n1", "x", 0) == 8
    document.tracks["rig", "ctrl_Speed"] = RAMP
    assert property_value(document, "n1", "x", 0.5) == 100
    document.sources["rig", "ctrl_Speed"] = "ctrl('Speed')+1"
    assert property_value(document, "n1", "x", 0.5) == 2


def test_layers_are_read_by_name_or_id() -> None:
    document = Document(tracks={("B", "x"): RAMP}, sources={("A", "x"): "layer('#B','x')+thisComp.layer('B','x')"})
    assert property_value(document, "A", "x", 0.5) == 100
    document.sources["A", "x"] = "layerAt('B','x',1) + layer('none','x') + layer('B','opacity')"
    assert property_value(document, "A", "x", 0.5) == 100
    document.sources["A", "x"] = "thisComp.layer('B').width + thisComp.layer('B').toComp([0,0])[0]"
    assert property_value(document, "A", "x", 0.5) == 740


def test_512_terms_pass_and_513_do_not() -> None:
    assert on("+".join(["1"] * 512), 0) == 512
    assert on("+".join(["1"] * 513), 0) is None


@pytest.mark.parametrize(
    "source",
    [
        "(" * 100_000 + "1" + ")" * 100_000,
        "-" * 100_000 + "1",
        "[" * 5_000,
        "a" + "[0]" * 5_000,
        "clamp(" * 500,
        "1?" * 3_000 + "1",
        "'" + "x" * 70_000 + "'+'y'",
        '"ab".repeat(900000000)',
        "[1,2].map(Math.abs)",
        "(5).toFixed",
        "value.constructor",
        "[]['const'+'ructor']",
        "Math['__proto__']",
        "thisComp.__proto__",
        "this",
        "open('x')",
        "__import__('os')",
        "Math.abs.__globals__",
        "toComp(1)",
        "toComp([1/0,1])",
        "thisComp.layer('none').width",
        "null.x",
        "1()",
        "\\",
        "'abc",
        "1 2",
        "x = 1",
        "`a`",
        "2**3",
        "0x10",
        "[1,]",
        "(1,2)",
        "\x00",
        "é",
    ],
)
def test_source_outside_the_language_has_no_value(source: str) -> None:
    assert on(source, 0) is None


def test_a_tree_of_reads_stops_at_the_budget() -> None:
    reads = "+".join(["layer('L{0}','x')"] * 8)
    document = Document(
        tracks={("L12", "x"): [(0, 1)]}, sources={(f"L{i}", "x"): reads.format(i + 1) for i in range(12)}
    )
    value = property_value(document, "L0", "x", 0)
    assert value is not None
    assert math.isfinite(value)


@pytest.mark.thorough
def test_a_long_source_of_many_parts_is_within_the_budget_or_refused() -> None:
    assert on("[" + ",".join(["1"] * 30_000) + "].length", 0) == 30_000
    assert on("[" + ",".join(["1"] * 220_000) + "].length", 0) is None


def test_a_selector_knows_five_names() -> None:
    assert selector_amount("selectorValue*textIndex/textTotal+time-Math.floor(time)", 1, 4, 100, 2.5) == 25.5
    assert selector_amount("value", 1, 4, 100, 2.5) == 0
    assert selector_amount("1/0", 1, 4, 100, 2.5) == 0
