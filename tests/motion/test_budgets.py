"""Projects whose layers exceed a common budget are refused with a reason, before a frame is drawn."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from motion import budgets
from motion.build import build
from motion.errors import PropertyRefused
from motion.evaluate import snapshot
from motion.plans import PlanMaker
from motion.snapshot import CompositionSource, Snapshot
from tests.documents import document, keys, node, root


def particles(number: int) -> dict[str, Any]:
    return node(f"p{number}", "particle", fx={"particle": {"maxParticles": 20_000, "birthRate": 1000}})


def repeated(number: int) -> dict[str, Any]:
    operators = [{"id": f"r{n}", "type": "repeater", "copies": 1000} for n in range(2)]
    return node(f"s{number}", "shape", fx={"pathOps": operators})


def limits(monkeypatch: pytest.MonkeyPatch, what: str, **changes: Any) -> None:
    budgets_changed = [one._replace(**changes) if what in one.what else one for one in budgets.BUDGETS]
    assert budgets_changed != list(budgets.BUDGETS)
    monkeypatch.setattr(budgets, "BUDGETS", budgets_changed)


@pytest.mark.parametrize(
    ("make", "what", "total_max"), [(particles, "particles", 90_000), (repeated, "points", 240_000)]
)
def test_the_total_demand_of_many_layers_is_limited(
    make: Any, what: str, total_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits(monkeypatch, what, total_max=total_max)
    build(document(*(make(number) for number in range(4))))
    with pytest.raises(PropertyRefused) as refused:
        build(document(*(make(number) for number in range(6))))
    assert refused.match(f"^All layers together have [0-9,]+ {what}")
    assert refused.match(
        f"at most {total_max:,} are allowed. Layer “{make(4)['name']}” is the first beyond the limit.$"
    )


def test_the_length_of_all_expressions_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, "expressions", total_max=10)
    build(document(node("a"), expressions={"a": {"Transform.x": "time"}}))
    with pytest.raises(PropertyRefused, match="characters of expressions"):
        build(document(node("a"), expressions={"a": {"Transform.x": "time * 100 + 5"}}))


def curves(count: int, reach: float = 3_000.0) -> list[dict[str, float]]:
    """Return points around a circle, with handles on the other side of the layer."""
    points = []
    for index in range(count):
        x, y = 500 * math.cos(index), 500 * math.sin(index)
        points.append({"x": x, "y": y, "inX": -reach, "inY": -reach, "outX": reach, "outY": reach})
    return points


def blurs(count: int) -> dict[str, Any]:
    return {"effects": [{"id": f"e{n}", "type": "blur", "params": {"amount": 90}} for n in range(count)]}


def brushed(points: int, step: float, strokes: int = 1, size: float = 30.0) -> dict[str, Any]:
    """Return a layer with brush strokes that go back and forth over 1,000 px at each point."""
    line = [{"x": abs(index * step % 2_000 - 1_000), "y": float(index % 3)} for index in range(points)]
    return node("Sketch", "shape", fx={"paint": {"strokes": [{"size": size, "points": line}] * strokes}})


def mask(points: list[dict[str, float]]) -> dict[str, Any]:
    return {"paths": [{"id": "m", "mode": "add", "points": points, "closed": True}]}


def teeth(count: int) -> list[dict[str, float]]:
    return [{"x": index / 40, "y": 9.0 * (index % 2)} for index in range(count)]


def wavy(amount: float, wavelength: float) -> dict[str, Any]:
    return {"width": 4, "wave": {"amount": amount, "wavelength": wavelength}}


ABSURD: dict[str, tuple[dict[str, Any], str]] = {
    "effects": (node("Glare", fx=blurs(20_000)), "Layer “Glare” has 20,000 effects; at most 100 are allowed."),
    "fills": (
        node("Paint", fx={"fills": [{"type": "solid", "color": "#ff0000"}] * 500}),
        "Layer “Paint” has 500 fills and strokes; at most 100 are allowed.",
    ),
    "strokes": (
        node("Pen", fx={"fills": [{"type": "solid", "color": "#ff0000"}] * 60, "strokes": [{"width": 2}] * 60}),
        "Layer “Pen” has 1[0-9]{2} fills and strokes; at most 100 are allowed.",
    ),
    "path": (node("Knot", geometry={"points": curves(3_000)}), "Layer “Knot” has .* crossings .* at most 10,000"),
    "brush": (brushed(30_000, 400.0), "Layer “Sketch” has .* crossings .* brush strokes; at most 10,000"),
    "joins": (brushed(60_000, 0.1, size=300.0), "Layer “Sketch” has .* crossings .* brush strokes; at most 10,000"),
    "dashes": (
        node("Lace", "shape", width=1000, height=1000, fx={"stroke": {"width": 1000, "dash": [0.1, 0.1]}}),
        "Layer “Lace” has 20,060,000 dashes, each counted with the pixels of its width; at most 5,000,000 are allowed.",
    ),
    "dashes of a stroke that would be tapered on a path": (
        node(
            "Trim",
            "shape",
            width=1000,
            height=1000,
            fx={"stroke": {"width": 1000, "dash": [0.1, 0.1], "taper": {"startWidth": 0, "startLength": 1}}},
        ),
        "Layer “Trim” has 20,060,000 dashes, each counted with the pixels of its width; at most 5,000,000 are allowed.",
    ),
    "waves": (
        node("Sea", geometry={"points": teeth(3_000)}, fx={"strokes": [wavy(400, 0.5)] * 90}),
        "Layer “Sea” has 1,[0-9]{3},[0-9]{3},[0-9]{3} pixels of the sides of tapered and waved strokes; at most 100,000,000",
    ),
    "waves of copies": (
        node(
            "Choir",
            geometry={"points": teeth(90)},
            fx={"stroke": wavy(9, 0.5), "pathOps": [{"id": "r", "type": "repeater", "copies": 999}]},
        ),
        "Layer “Choir” has .* pixels of the sides of tapered and waved strokes",
    ),
    "waves of copies that fade": (
        node(
            "Fugue",
            geometry={"points": teeth(9)},
            fx={"stroke": wavy(9, 2), "pathOps": [{"type": "repeater", "copies": 900, "offsetScale": 0.99}]},
        ),
        "Layer “Fugue” has .* pixels of the sides of tapered and waved strokes",
    ),
    "operators": (
        node("Coil", geometry={"points": teeth(10_000)}, fx={"pathOps": [{"id": "t", "type": "twist"}] * 300}),
        "Layer “Coil” has 3,000,000 vertices that its path operators make; at most 1,500,000 are allowed.",
    ),
    "teeth": (
        node("Saw", "shape", fx={"pathOps": [{"id": "z", "type": "zigzag", "detail": 200}] * 40}),
        "Layer “Saw” has 1,959,600 vertices that its path operators make",
    ),
    "masks": (
        node("Veil", fx={"mask": {"paths": mask(teeth(3))["paths"] * 600}}),
        "Layer “Veil” has 600 masks; at most 500 are allowed.",
    ),
    "masks of a keyframe": (
        node("Veil", fx={"maskAnim": [{"t": 1, "mask": {"paths": mask(teeth(3))["paths"] * 600}}]}),
        "Layer “Veil” has 600 masks; at most 500 are allowed.",
    ),
    "bones": (
        node("Arm", fx={"skeleton": {"bones": [{"id": f"b{n}", "x": 0, "y": 0, "length": 9} for n in range(2_000)]}}),
        "Layer “Arm” has 2,000 puppet pins, bones and goals; at most 300 are allowed.",
    ),
    "soft brushes": (
        node(
            "Mist",
            "shape",
            fx={"paint": {"strokes": [{"size": 500, "hardness": 0, "points": [{"x": 0, "y": 0}]}] * 200}},
        ),
        "Layer “Mist” has 450,000,000 pixels of soft brush strokes; at most 300,000,000 are allowed.",
    ),
    "mask": (node("Veil", fx={"mask": mask(curves(3_000))}), "Layer “Veil” has .* crossings .* at most 10,000"),
}


@pytest.mark.parametrize("name", ABSURD)
def test_a_layer_that_asks_for_too_much_is_refused_by_name_with_number_and_limit(name: str) -> None:
    layer, message = ABSURD[name]
    with pytest.raises(PropertyRefused, match=message):
        build(document(layer))


def tangle(count: int, size: float) -> list[dict[str, float]]:
    """Return a line that goes back and forth within a small square, and one point far away."""
    chance = random.Random(count)
    inside = [{"x": chance.uniform(0, size), "y": chance.uniform(0, size)} for _ in range(count)]
    return [*inside, {"x": 10_000.0, "y": 10_000.0}]


@pytest.mark.parametrize(
    "layer",
    [
        node("Knot", geometry={"points": tangle(40_000, 30.0)}),
        node("Knot", fx={"mask": mask(tangle(40_000, 30.0))}),
        node("Knot", "shape", fx={"paint": {"strokes": [{"size": 1, "points": tangle(40_000, 30.0)}]}}),
    ],
    ids=["outline", "mask", "brush"],
)
def test_a_tangle_in_a_corner_of_a_large_layer_is_refused(layer: dict[str, Any]) -> None:
    message = r"“Knot” has [0-9]{3},[0-9,]+ crossings of outlines or brush strokes with themselves; at most 100,000,000"
    with pytest.raises(PropertyRefused, match=message):
        build(document(layer))


def test_an_outline_of_many_points_that_hardly_crosses_itself_is_within_the_limits() -> None:
    build(document(node("Wave", geometry={"points": teeth(40_000)})))


def test_a_painting_of_two_hundred_long_brush_strokes_is_within_the_limits() -> None:
    build(document(brushed(500, 4.0, strokes=200)))


def test_a_soft_painting_and_a_character_with_many_masks_and_bones_are_within_the_limits() -> None:
    painting = brushed(500, 4.0, strokes=200)
    for stroke in painting["components"][1]["props"]["paint"]["strokes"]:
        stroke["hardness"] = 0.2
    bones = [{"id": f"b{n}", "x": 0, "y": 0, "length": 9} for n in range(60)]
    masks = {"paths": mask(teeth(3))["paths"] * 50}
    build(document(painting, *(node(f"n{n}", fx={"skeleton": {"bones": bones}, "mask": masks}) for n in range(40))))


def dotted(**fx: Any) -> dict[str, Any]:
    return node(
        "Lace", "shape", width=1000, height=1000, fx={"stroke": {"width": 4, "dash": [2], "cap": "round"}, **fx}
    )


def test_dashes_count_with_their_copies_and_the_largest_width_of_their_stroke() -> None:
    copies = {"pathOps": [{"id": "r", "type": "repeater", "copies": 900}]}
    with pytest.raises(PropertyRefused, match=r"“Lace” has 6,300,000 dashes"):
        build(document(dotted(**copies)))
    with pytest.raises(PropertyRefused, match=r"“Lace” has 9,003,000 dashes"):
        build(document(dotted(), tracks={"Lace": {"strokeWidth": keys((0, 4), (1, 9_000))}}))


def test_hundreds_of_dotted_lines_are_within_the_limits() -> None:
    build(document(*(dotted() | {"id": f"n{number}"} for number in range(400))))


def test_waves_count_by_their_largest_amount_and_shortest_length() -> None:
    sea = node("Sea", geometry={"points": teeth(3_000)}, fx={"stroke": wavy(10, 200)})
    build(document(sea))
    tracks = {"strokeWaveAmount": keys((0, 10), (1, 4_000)), "strokeWaveWavelength": keys((0, 200), (1, 0.5))}
    with pytest.raises(PropertyRefused, match=r"“Sea” has .* pixels of the sides of tapered and waved strokes"):
        build(document(sea, tracks={"Sea": tracks}))


def test_hundreds_of_waved_and_tapered_lines_are_within_the_limits() -> None:
    line = [
        {"x": 200.0 * x, "y": 9.0 * x, "inX": 200.0 * x - 60, "inY": 0.0, "outX": 200.0 * x + 60, "outY": 0.0}
        for x in range(12)
    ]
    stroke = wavy(12, 40) | {"taper": {"startWidth": 0, "startLength": 0.3}, "dash": [12, 6]}
    build(document(*(node(f"n{number}", geometry={"points": line}, fx={"stroke": stroke}) for number in range(400))))


def test_copies_of_tapered_lines_that_change_their_size_are_within_the_limits() -> None:
    line = [
        {"x": 100.0 * x, "y": 0.0, "inX": 100.0 * x - 20, "inY": -60.0, "outX": 100.0 * x + 20, "outY": 60.0}
        for x in range(10)
    ]
    stroke = {"width": 8, "taper": {"startWidth": 0, "startLength": 0.5}}
    repeater = {"id": "r", "type": "repeater", "copies": 20, "offsetScale": 0.97}
    geometry = {"subpaths": [{"points": line, "closed": False}] * 5}
    build(document(node("Rays", "shape", geometry=geometry, fx={"stroke": stroke, "pathOps": [repeater]})))


def test_layers_beyond_those_of_a_frame_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlanMaker, "_layer", lambda *_: pytest.fail("a layer was made"))
    grid = {"enabled": True, "mode": "grid", "countX": 20, "countY": 25}
    with pytest.raises(PropertyRefused, match="The project has more than 20,000 layers"):
        build(document(*(node(f"n{number}", "shape", __cloner=grid) for number in range(41))))


def test_a_keyframed_outline_counts_as_the_one_that_costs_most() -> None:
    key = {"t": 1, "value": curves(3_000), "easing": "linear"}
    still = {"t": 0, "value": curves(4), "easing": "linear"}
    data = {"Knot": {"path.points": {"kind": "points", "keyframes": [still, key]}}}
    with pytest.raises(PropertyRefused, match=r"“Knot” has .* crossings"):
        build(document(node("Knot", geometry={"points": curves(4)}), data=data))


def test_the_points_of_an_outline_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, "points", layer_max=100)
    with pytest.raises(PropertyRefused, match=r"Layer “Dust” has 150 points of outlines .* at most 100 are allowed"):
        build(document(node("Dust", geometry={"points": curves(150, reach=0.0)})))


def test_a_repeater_that_repeats_nothing_leaves_the_points_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, "points", layer_max=100)
    operators = {"pathOps": [{"id": "r", "type": "repeater", "copies": 0}]}
    with pytest.raises(PropertyRefused, match=r"Layer “Dust” has 150 points of outlines"):
        build(document(node("Dust", geometry={"points": curves(150, reach=0.0)}, fx=operators)))


def copying(*operators: dict[str, Any], **properties: Any) -> dict[str, Any]:
    """Return a layer with repeaters, of a thousand copies each by default."""
    chain = [{"id": f"r{number}", "type": "repeater", "copies": 1000, **one} for number, one in enumerate(operators)]
    return node("Fan", "shape", fx={"pathOps": chain}, **properties)


FADING = {"offsetOpacity": 0.99}
SHRINKING = {"offsetScale": 0.5}
GROWING = {"offsetScale": 1.01}
LARGE = {"width": 4000, "height": 4000}


@pytest.mark.parametrize(
    "layer", [copying(FADING, {}), copying(FADING, **LARGE), copying(GROWING)], ids=["twice", "large", "growing"]
)
def test_copies_that_are_painted_one_by_one_are_limited_by_their_pixels(layer: dict[str, Any]) -> None:
    with pytest.raises(PropertyRefused, match=r"Layer “Fan” has [0-9,]+ pixels of copies .*; at most 500,000,000 are"):
        build(document(layer))


@pytest.mark.parametrize(
    "layer",
    [
        copying(FADING),
        copying({}, {}, **LARGE),
        copying(SHRINKING, **LARGE),
        copying({**FADING, "copies": 20}, **LARGE),
    ],
    ids=["once", "joined", "shrinking", "few"],
)
def test_copies_that_are_small_few_or_joined_to_one_outline_are_accepted(layer: dict[str, Any]) -> None:
    build(document(layer))


@pytest.mark.parametrize(
    ("path", "layer", "value"),
    [
        ("pathop.r0.copies", copying({**FADING, "copies": 2}, **LARGE), 1000),
        ("pathop.r0.offsetOpacity", copying({}, **LARGE), 0.5),
        ("width", copying(FADING, width=1, height=4000), 8000),
    ],
)
def test_keyframes_of_copies_count_with_their_largest_value(path: str, layer: dict[str, Any], value: float) -> None:
    build(document(layer))
    with pytest.raises(PropertyRefused, match=r"“Fan” has [0-9,]+ pixels of copies"):
        build(document(layer, tracks={"Fan": {path: keys((0, 1), (1, value))}}))


def placing(width: int, levels: int) -> dict[str, Any]:
    """Return compositions that each place the next one `width` times. The last one has as many shapes."""
    names = ["comp_root", *(f"comp_{level}" for level in range(1, levels))]
    layers, roots = [], []
    for level, name in enumerate(names):
        ids = [f"l{level}_{number}" for number in range(width)]
        inner = {"__compRef": names[level + 1]} if level + 1 < levels else {}
        layers += [node(one, "comp" if inner else "shape", parent=name, **inner) for one in ids]
        roots += [root(*ids, node_id=name)] if level else []
    size = {"width": 400, "height": 300, "fps": 30, "durationSeconds": 10}
    return document(*layers, roots=tuple(roots), comps={name: {"id": name, "name": name, **size} for name in names[1:]})


def test_layers_of_placed_compositions_count_as_often_as_they_are_placed() -> None:
    build(placing(9, 4))
    with pytest.raises(PropertyRefused, match=r"has 73,810 layers .* layer “l0_0”; at most 20,000 are allowed"):
        build(placing(9, 5))


def test_particles_of_a_placed_composition_count_as_often_as_it_is_placed() -> None:
    """500 copies of 20,000 particles took more than a minute for each frame."""
    _, placed, inner, *_ = (doc := placing(1, 2))["scene"]["nodes"]
    inner["components"] = particles(0)["components"]
    placed["components"][0]["props"]["__cloner"] = cloner = {"enabled": True, "mode": "linear", "count": 20}
    build(doc)
    cloner["count"] = 500
    with pytest.raises(PropertyRefused, match=r"has 10,000,000 particles .* in layer “l0_0”; at most 400,000"):
        build(doc)


def test_a_long_chain_of_placed_compositions_is_counted_as_deep_as_it_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert layer_count(snapshot(build(placing(1, 2_000)), 0.0)) == 9
    monkeypatch.setattr(budgets, "LAYERS_MAX", 17)
    with pytest.raises(PropertyRefused, match="has 18 layers"):  # the root of each composition counts too
        build(placing(1, 2_000))


def layer_count(shown: Snapshot) -> int:
    inner = (layer.source.composition for layer in shown.layers if isinstance(layer.source, CompositionSource))
    return len(shown.layers) + sum(map(layer_count, inner))


def test_planes_and_lights_of_all_compositions_together_are_limited() -> None:
    lights = [node(f"Lamp {n}", "light", z=-100) for n in range(40)]
    build(document(*lights[:30]))
    with pytest.raises(PropertyRefused, match=r"together have 40 lights; at most 30 are allowed. Layer “Lamp 30”"):
        build(document(*lights))
    with pytest.raises(PropertyRefused, match=r"have 1,001 3D layers; at most 1,000 are allowed. Layer “P1000”"):
        build(document(*(node(f"P{n}", z=n + 1) for n in range(1_001))))


def test_an_illustration_of_many_small_curves_is_within_all_budgets() -> None:
    subpaths = []
    for index in range(1_500):
        x, y = 10.0 * (index % 50), 10.0 * (index // 50)
        ring = [(x + 4 * math.cos(turn), y + 4 * math.sin(turn)) for turn in range(20)]
        subpaths.append({"points": [{"x": a, "y": b, "inX": a, "inY": b, "outX": a, "outY": b} for a, b in ring]})
    build(document(node("Traced", geometry={"subpaths": subpaths})))


def test_the_page_for_designers_states_every_limit() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "templates.md").read_text()
    for budget in budgets.BUDGETS:
        assert f"\n| {budget.what} | {budget.layer_max:,} | {budget.total_max:,} |\n" in page
