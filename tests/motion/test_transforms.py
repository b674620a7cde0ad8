"""Positions of layers: worked examples E of animation.md and those of layers.md 3 and 11."""

from __future__ import annotations

import math
from typing import Any

import pytest

from motion.formulas.affine import IDENTITY, Affine, applied, decomposed, inverse, placed, product
from motion.snapshot import CompositionSource, ShapeSource, SolidPaint, TextSource, Transform2D
from tests.documents import document, keys, node, root
from tests.motion.frames import fill, layer, place, shown, source


def numbers(found: Transform2D) -> list[float]:
    return [found.x, found.y, found.rotation, found.scale_x, found.scale_y]


def drawing_matrix(found: Transform2D) -> Affine:
    """Return T R K S T(-anchor), as the renderer multiplies it (animation.md 6.4)."""
    turn = placed(found.x, found.y, found.rotation, 1, 1)
    shear: Affine = (1, 0, math.tan(math.radians(found.skew)), 1, 0, 0)
    axis, back = placed(0, 0, found.skew_axis, 1, 1), placed(0, 0, -found.skew_axis, 1, 1)
    skewed = product(product(turn, axis), product(shear, back))
    scaled = product(skewed, placed(0, 0, 0, found.scale_x, found.scale_y))
    return product(scaled, (1, 0, 0, 1, -found.anchor_x, -found.anchor_y))


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        (
            {"x": 100, "y": 50, "rotation": 90, "scaleX": 2, "scaleY": 3, "anchorX": 10, "anchorY": 20, "skew": 30},
            {"x": 10, "y": 0, "rotation": 15, "scale": 0.5},
            [100, 70, 111.89636793222883, 1.0410255148817082, 1.4408868741036045],
        ),
        (
            {"x": 100, "y": 50, "scaleX": 2},
            {"x": 10, "y": 0, "rotation": 45},
            [120, 50, 26.56505117707799, 1.5811388300841898, 1.2649110640673515],
        ),
        (
            {"x": 100, "y": 50, "rotation": 90, "scaleX": 2},
            {"x": 10, "y": 20, "rotation": 30},
            [80, 70, 106.1021, 1.8028, 1.1094],
        ),
    ],
)
def test_parents_hand_on_position_rotation_and_scale_without_shear(
    parent: Any, child: Any, expected: list[float]
) -> None:
    doc = document(node("n", "null", children=["a"], **parent), node("a", parent="n", **child))
    assert numbers(place(doc, "a")) == pytest.approx(expected, rel=1e-4)


def test_a_mirrored_layer_comes_out_as_a_half_turn() -> None:
    assert numbers(place(document(node("a", rotation=30, scaleX=-1)), "a"))[2:] == pytest.approx([-150, 1, -1])


def test_the_anchor_lands_on_the_position() -> None:
    found = place(document(node("a", x=100, y=100, rotation=90, scale=2, anchorX=10, width=50, height=50)), "a")
    matrix = drawing_matrix(found)
    assert applied(matrix, -25, -25) == pytest.approx((150, 30))
    corner = place(document(node("a", x=500, y=300, anchorX=-100, anchorY=-50, rotation=90)), "a")
    ends = [applied(drawing_matrix(corner), *point) for point in ((-100, -50), (100, 50))]
    assert ends == [pytest.approx((500, 300)), pytest.approx((400, 500))]


def test_skew_leans_along_its_axis() -> None:
    plain = drawing_matrix(place(document(node("a", x=100, y=100, skew=30)), "a"))
    assert applied(plain, -25, -25) == pytest.approx((60.5662, 75), abs=1e-3)
    found = place(document(node("a", x=100, y=100, rotation=20, scaleX=2, skew=30, skewAxis=40)), "a")
    assert drawing_matrix(found)[:4] == pytest.approx((1.5082716421, 0.0412526770, -0.1208821606, 1.3227148423))


def test_a_moving_uniform_scale_beats_stored_axes_and_a_moving_axis_beats_it() -> None:
    stored = node("a", scaleX=4, scaleY=5)
    assert numbers(place(document(stored, tracks={"a": {"scale": keys((0, 2))}}), "a"))[3:] == [2, 2]
    both = document(stored, tracks={"a": {"scale": keys((0, 2)), "scaleX": keys((0, 7))}})
    assert numbers(place(both, "a"))[3:] == [7, 2]
    assert numbers(place(document(node("a", scale=3)), "a"))[3:] == [3, 3]


def test_a_layer_turns_along_its_path_and_back_after_the_last_key() -> None:
    ramp = keys((0, 0), (1, 100))
    doc = document(node("a", rotation=33, fx={"autoOrient": "path"}), tracks={"a": {"x": ramp, "y": ramp}})
    assert place(doc, "a", 0.5).rotation == pytest.approx(45)
    assert place(doc, "a", 1.0).rotation == pytest.approx(33)


def test_a_collapsed_instance_overrides_its_own_layers_only() -> None:
    fx = {"precomp": True, "__compRef": "comp_b", "collapseTransforms": True}
    doc = document(
        node("i", "comp", fx={**fx, "__compOverrides": {"b/x": 77, "c/x": 50, "b/fill": "#00ff00"}}),
        node("j", "comp", fx=fx),
        node("b", parent="comp_b", style={"fill": "#ff0000"}),
        node("deeper", "comp", parent="comp_b", fx={**fx, "__compRef": "comp_c"}),
        node("c", parent="comp_c", x=6),
        roots=(root("b", "deeper", node_id="comp_b"), root("c", node_id="comp_c")),
        comps={name: {"id": name, "width": 100, "height": 100} for name in ("comp_b", "comp_c")},
        tracks={"b": {"x": keys((0, 5))}},
    )
    assert [place(doc, name).x for name in ("i::b", "i::deeper::c", "j::b")] == [77, 6, 5]
    assert fill(doc, "i::b") == SolidPaint("#00ff00")
    assert fill(doc, "j::b") == SolidPaint("#ff0000")


def test_an_instance_overrides_what_it_shows_and_stills_it() -> None:
    overrides = {"b/x": 77, "b/opacity": 25, "b/scaleX": 3, "b/fill": "#00ff00", "b/text": "no", "b/width": 9}
    doc = document(
        node("i", "comp", fx={"precomp": True, "__compRef": "comp_b", "__compOverrides": overrides}),
        node("j", "comp", fx={"precomp": True, "__compRef": "comp_b"}),
        node("b", parent="comp_b", style={"fill": "#ff0000"}),
        roots=(root("b", node_id="comp_b"),),
        comps={"comp_b": {"id": "comp_b", "width": 100, "height": 100}},
        tracks={
            "b": {"x": keys((0, 5)), "opacity": keys((0, 80)), "scale": keys((0, 2)), "fill_r": keys((0, 1))},
        },
    )
    changed, kept = (source(doc, name, CompositionSource).composition.layers[0] for name in ("i", "j"))
    assert isinstance(changed.transform, Transform2D)
    assert isinstance(kept.transform, Transform2D)
    assert (changed.transform.x, changed.opacity, changed.transform.scale_x) == (77, 0.25, 2)
    assert isinstance(changed.source, ShapeSource)
    assert changed.source.fills == (SolidPaint("#00ff00"),)
    assert (kept.transform.x, kept.opacity) == (5, 0.8)


def test_a_fill_moves_only_where_its_red_channel_does() -> None:
    red = document(node("a", style={"fill": "#00ff00"}), tracks={"a": {"fill_r": keys((0, 1))}})
    assert fill(red, "a") == SolidPaint("#ff0000ff")
    green = document(node("a", style={"fill": "#0000ff"}), tracks={"a": {"fill_g": keys((0, 1))}})
    assert fill(green, "a") == SolidPaint("#0000ff")


def test_effect_colours_keep_the_channels_that_do_not_move() -> None:
    glow = {"id": "g", "type": "glow", "params": {"color": "#112233", "radius": 4}}
    doc = document(node("a", fx={"effects": [glow]}), tracks={"a": {"effect.g.color_r": keys((0, 0.5))}})
    found = layer(doc, "a")
    assert found is not None
    (effect,) = found.effects
    assert effect.animated == (("color_r", 0.5),)
    assert dict(effect.stored)["color"] == "#112233"


NESTED = {"comp_b": {"id": "comp_b", "width": 400, "height": 300}}


def test_a_placed_composition_is_centred_on_its_instance() -> None:
    doc = document(
        node("i", "comp", x=500, y=400, scale=2, anchorX=30, fx={"precomp": True, "__compRef": "comp_b"}),
        node("b", parent="comp_b", x=200, y=150, width=50, height=50),
        roots=(root("b", node_id="comp_b"),),
        comps=NESTED,
    )
    found = layer(doc, "i")
    assert found is not None
    assert isinstance(found.source, CompositionSource)
    assert found.transform == Transform2D(500, 400, 0, 2, 2)
    assert (found.source.width, found.source.height, found.source.sealed) == (400, 300, True)


def test_a_placed_composition_ignores_its_glass_and_motion_blur() -> None:
    fx = {"precomp": True, "__compRef": "comp_b", "motionBlur": True, "layerStyles": {"glass": {"enabled": True}}}
    doc = document(
        node("i", "comp", fx=fx),
        tracks={"i": {"x": keys((0, 0), (1, 300))}},
        roots=(root(node_id="comp_b"),),
        comps=NESTED,
    )
    found = layer(doc, "i", 0.5)
    assert found is not None
    assert (found.glass, found.samples) == (None, ())


def test_a_collapsed_composition_is_spliced_into_its_host_without_centring() -> None:
    fx = {"precomp": True, "__compRef": "comp_b", "collapseTransforms": True}
    doc = document(
        node("below"),
        node("i", "comp", x=500, y=400, scale=2, fx=fx),
        node("above"),
        node("b", parent="comp_b", x=200, y=150, width=50, height=50),
        roots=(root("b", node_id="comp_b"),),
        comps=NESTED,
    )
    assert [found.id for found in shown(doc).layers] == ["below", "i::b", "above"]
    assert numbers(place(doc, "i::b")) == pytest.approx([900, 700, 0, 2, 2])


def test_layers_parented_to_a_collapsed_composition_are_drawn_in_front_of_its_layers() -> None:
    """They are "spliced into the host list right after the instance; the instance acts as an ordinary parent" (document.md 2.10.5)."""
    fx = {"precomp": True, "__compRef": "comp_b", "collapseTransforms": True}
    doc = document(
        node("i", "comp", x=500, y=400, scale=2, fx=fx, children=["pinned"]),
        node("pinned", parent="i", x=10, y=20),
        node("above"),
        node("b", parent="comp_b"),
        roots=(root("b", node_id="comp_b"),),
        comps=NESTED,
    )
    assert [found.id for found in shown(doc).layers] == ["i::b", "pinned", "above"]
    assert numbers(place(doc, "pinned")) == pytest.approx([520, 440, 0, 2, 2])


@pytest.mark.parametrize("override", [{}, {"__compOverrides": {"b/x": 5}}], ids=["plain", "with an override"])
def test_a_composition_that_places_itself_ends_in_black(override: dict[str, Any]) -> None:
    doc = document(
        node("i", "comp", fx={"precomp": True, "__compRef": "comp_b", **override}),
        node("j", "comp", parent="comp_b", fx={"precomp": True, "__compRef": "comp_b"}),
        node("b", parent="comp_b"),
        roots=(root("j", "b", node_id="comp_b"),),
        comps=NESTED,
    )
    inner = source(doc, "i", CompositionSource).composition.layers[0]
    assert isinstance(inner.source, CompositionSource)
    assert inner.source.black


def test_a_dangling_reference_is_black_over_the_whole_host_and_none_draws_nothing() -> None:
    doc = document(node("i", "comp", fx={"precomp": True, "__compRef": "gone"}), node("j", "comp"))
    found = source(doc, "i", CompositionSource)
    assert (found.width, found.height, found.black) == (400, 300, True)
    assert layer(doc, "j") is None


def test_a_solid_without_a_size_fills_the_composition() -> None:
    pinned = node("a", x=7, rotation=45, width=100, height=100, fx={"solid": True})
    doc = document(pinned)
    assert place(doc, "a") == Transform2D(200, 150)
    box = source(doc, "a", ShapeSource)
    assert (box.width, box.height, box.is_solid) == (400, 300, True)
    sized = document(node("a", x=7, width=50, height=60, fx={"solid": True}))
    assert place(sized, "a").x == 7


def test_a_live_boolean_lies_where_its_outline_does() -> None:
    operand = {"booleanOperand": True}
    doc = document(
        node("p", x=10, y=10, width=100, height=50, fx=operand),
        node("q", x=60, y=10, width=100, height=50, fx=operand),
        node("r", x=400, rotation=20, fx={"booleanOp": "intersect", "booleanSources": ["p", "q"]}),
    )
    assert [found.id for found in shown(doc).layers] == ["r"]
    assert numbers(place(doc, "r")) == pytest.approx([35, 10, 0, 1, 1])
    found = source(doc, "r", ShapeSource)
    assert found.primitive == "path"
    assert (found.width, found.height) == pytest.approx((50, 50))


def test_the_result_of_a_live_boolean_keeps_its_anchor_and_no_skew() -> None:
    doc = document(
        node("p", x=10, width=100, height=50),
        node("q", x=60, width=100, height=50),
        node("r", anchorX=7, skew=30, skewAxis=40, fx={"booleanOp": "union", "booleanSources": ["p", "q"]}),
    )
    found = place(doc, "r")
    assert (found.anchor_x, found.skew, found.skew_axis) == (7, 0, 0)


def test_an_operand_of_a_live_boolean_is_placed_without_shear() -> None:
    doc = document(
        node("g", "group", children=["p"], scaleX=3),
        node("p", parent="g", rotation=45, width=100, height=100),
        node("q", width=1, height=1),
        node("r", fx={"booleanOp": "union", "booleanSources": ["p", "q"]}),
    )
    drawn = place(doc, "p")
    found = source(doc, "r", ShapeSource)
    c, s = abs(math.cos(math.radians(drawn.rotation))), abs(math.sin(math.radians(drawn.rotation)))
    width, height = 100 * drawn.scale_x, 100 * drawn.scale_y
    assert (found.width, found.height) == pytest.approx((c * width + s * height, s * width + c * height))


def test_a_text_keeps_measuring_its_static_content() -> None:
    text = {"content": "Short", "fontSize": 40, "fill": "#fff"}
    track = {"t": {"text.source": {"kind": "text", "keyframes": [{"t": 0, "value": "A much longer one"}]}}}
    found = source(document(node("t", "text", text=text), data=track), "t", TextSource)
    assert (found.content, found.measured_content) == ("A much longer one", "Short")
    assert source(document(node("t", "text")), "t", TextSource).content == "Text"


@pytest.mark.parametrize(
    ("rotation", "is_larger"),
    [(8, True), (12, True), (-12, True), (-0.2, True), (12.8, True), (10, False), (23.8, False), (90, False)],
)
def test_a_scale_of_one_returns_from_the_matrix_as_javascript_rounds_it(rotation: float, is_larger: bool) -> None:
    found = decomposed(placed(0, 0, rotation, 1, 1))
    assert (max(found.scale_x, found.scale_y) > 1) is is_larger


def test_scales_of_degenerate_matrices_stay_plain_numbers() -> None:
    assert decomposed((0, 0, 0, 2, 0, 0)).scale_x == 0
    assert decomposed((3e200, 4e200, 0, 1, 0, 0)).scale_x == pytest.approx(5e200)


def test_an_inverse_undoes_a_map_that_turns_shears_and_moves() -> None:
    forth = (2.0, 0.5, -0.3, 1.5, 40.0, -70.0)
    assert product(inverse(forth), forth) == pytest.approx(IDENTITY, abs=1e-12)
    assert inverse((1.0, 2.0, 2.0, 4.0, 5.0, 6.0)) == IDENTITY


@pytest.mark.parametrize(("stored", "drawn"), [(50, 0.5), (-20, 0), (150, 1), (None, 1)])
def test_a_fill_opacity_is_a_share_of_one(stored: float | None, drawn: float) -> None:
    properties: dict[str, Any] = {} if stored is None else {"fillOpacity": stored}
    found = layer(document(node("a", **properties)), "a")
    assert found is not None and found.fill_opacity == drawn


def test_a_backdrop_blur_is_not_negative_and_glass_replaces_it() -> None:
    glass = {"layerStyles": {"glass": {"enabled": True}}}
    blurs = []
    for blur, fx in ((7, {}), (-7, {}), (7, glass)):
        found = layer(document(node("a", backdropBlur=blur, fx=fx)), "a")
        assert found is not None
        blurs.append((found.backdrop_blur, found.glass is not None))
    assert blurs == [(7, False), (0, False), (0, True)]


def test_glass_follows_its_tracks_and_keeps_the_rest() -> None:
    glass = {"layerStyles": {"glass": {"enabled": True, "blur": 9, "tintColor": "#102030", "grain": 0.5}}}
    tracks = {"a": {"glass.blur": keys((0, 5)), "glass.tintColor_r": keys((0, 1))}}
    still, moved = (layer(document(node("a", fx=glass), tracks=given), "a") for given in ({}, tracks))
    assert still is not None and still.glass is not None and moved is not None and moved.glass is not None
    assert (still.glass.blur, still.glass.tint_color, still.glass.grain) == (9, "#102030", 0.5)
    assert (moved.glass.blur, moved.glass.tint_color, moved.glass.grain) == (5, "#ff2030", 0.5)
