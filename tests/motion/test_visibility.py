"""Layers in the paint list and layers that are drawn: document.md 2.4, 2.7, layers.md 11."""

from __future__ import annotations

from typing import Any

import pytest

from motion.model.parity import WITHOUT_QUIRKS
from motion.snapshot import CompositionSource, ImageSource, Matte, MissingSource, ShapeSource, Transform2D, VideoSource
from tests.documents import Json, document, keys, node, root
from tests.motion.frames import built, layer, shown, source


def drawn(doc: Json, time: float = 0.0) -> list[str]:
    return [found.id for found in shown(doc, time).layers if found.visible]


def test_later_siblings_are_in_front_and_children_paint_at_their_parents_place() -> None:
    doc = document(
        node("a"), node("g", "group", children=["b", "c"]), node("b", parent="g"), node("c", parent="g"), node("d")
    )
    assert drawn(doc) == ["a", "b", "c", "d"]


def test_containers_and_drivers_draw_nothing() -> None:
    doc = document(*(node(kind, kind) for kind in ("group", "null", "camera", "audio", "comp")), node("a"))
    assert drawn(doc) == ["a"]


def test_a_plain_group_hands_on_its_place_and_nothing_else() -> None:
    group = node("g", "group", children=["a"], x=10, opacity=30, visible=False, fx={"blendMode": "multiply"})
    held = layer(document(group, node("a", parent="g", x=5)), "a")
    assert held is not None
    assert (held.visible, held.opacity, held.blend) == (True, 1.0, "normal")
    assert isinstance(held.transform, Transform2D)
    assert held.transform.x == 15


def test_soloing_hides_all_others_of_the_composition_only() -> None:
    doc = document(
        node("a", solo=True),
        node("b"),
        node("i", "comp", solo=True, fx={"precomp": True, "__compRef": "comp_b"}),
        node("n", parent="comp_b"),
        roots=(root("n", node_id="comp_b"),),
        comps={"comp_b": {"id": "comp_b"}},
    )
    assert drawn(doc) == ["a", "i"]
    assert [found.id for found in source(doc, "i", CompositionSource).composition.layers] == ["n"]


def test_soloing_a_group_hides_its_own_children() -> None:
    doc = document(node("g", "group", children=["a"], solo=True), node("a", parent="g"), node("b"))
    assert drawn(doc) == []


def test_guides_and_operands_are_left_out() -> None:
    doc = document(
        node("a", solo=True, fx={"guide": True}), node("b", fx={"booleanOperand": True}), node("c", solo=True)
    )
    assert drawn(doc) == ["c"]


def test_a_unit_composites_its_layers_as_one() -> None:
    group = node("g", "group", children=["a", "b"], x=30, opacity=50, fx={"precomp": True, "blendMode": "screen"})
    held = layer(document(group, node("a", parent="g", x=4), node("b", parent="g")), "g")
    assert held is not None
    assert (held.opacity, held.blend, held.transform) == (0.5, "screen", Transform2D(200, 150))
    assert isinstance(held.source, CompositionSource)
    assert not held.source.sealed
    assert [found.transform.x for found in held.source.composition.layers] == [34, 30]  # type: ignore[union-attr]


def test_copies_of_a_unit_fade_by_the_step_of_its_cloner() -> None:
    cloner = {"enabled": True, "count": 3, "step": {"opacity": -50}}
    group = node("g", "group", children=["a"], opacity=80, fx={"precomp": True, "__cloner": cloner})
    found = shown(document(group, node("a", parent="g"))).layers
    assert [held.opacity for held in found] == pytest.approx([0.8, 0.6, 0.4])


def test_a_unit_without_live_layers_is_not_there() -> None:
    assert drawn(document(node("g", "group", fx={"precomp": True}))) == []


def matted(*above: Json, wanted: str | None = None, **more: Any) -> Json:
    matte: Json = {"mode": "luma", "inverted": True, **({"sourceId": wanted} if wanted else {})}
    return document(node("a", fx={"matte": matte}), *above, **more)


NAMES_C = {"matte": {"mode": "luma", "inverted": True, "sourceId": "c"}}


@pytest.mark.parametrize(
    ("wanted", "source_id"),
    [(None, "b"), ("c", "c"), ("gone", "b"), ("a", "b")],
    ids=["unnamed", "named", "gone", "own"],
)
def test_a_matte_takes_the_layer_it_names_else_the_next_one(wanted: str | None, source_id: str) -> None:
    doc = matted(node("b"), node("c"), wanted=wanted)
    found = layer(doc, "a")
    assert found is not None
    assert found.matte == Matte("luma", True, source_id)
    assert source_id not in drawn(doc)


def collapsed(*inside: Json) -> Json:
    """Return a document that splices the layers of a placed composition."""
    placed = {"precomp": True, "__compRef": "comp_b", "collapseTransforms": True}
    inner = [{**each, "parent": "comp_b"} for each in inside]
    return document(
        node("i", "comp", fx=placed), *inner, roots=(root(*(each["id"] for each in inner), node_id="comp_b"),),
        comps={"comp_b": {"id": "comp_b", "name": "B", "width": 400, "height": 300, "fps": 30, "durationSeconds": 10}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "parameter"),
    [("set-matte", "matteLayerId"), ("displacement-map", "mapLayerId"), ("compound-blur", "blurLayerId")],
)
def test_an_effect_of_a_spliced_layer_looks_at_the_neighbour_that_it_names_by_the_original_id(
    kind: str, parameter: str
) -> None:
    """compositing.md 2.4: "the referenced layers are spliced in place", each with what it looked at before."""
    effect = {"id": "e", "type": kind, "params": {parameter: "c"}}
    cloner = {"enabled": True, "count": 2}
    doc = collapsed(
        node("a", fx={"effects": [effect]}), node("b", fx={"effects": [effect], "__cloner": cloner}), node("c")
    )
    found = {each.id: dict(each.effects[0].stored)[parameter] for each in shown(doc).layers if each.effects}
    assert found == {"i::a": "i::c", "i::0~b": "i::c", "i::1~b": "i::c"}


def test_a_live_boolean_of_a_spliced_layer_combines_the_operands_that_it_names_by_their_original_ids() -> None:
    """layers.md 4.5: "rects 100×50 at (10,10) and (60,10), intersect → layer at (35,10), 50×50 square"."""
    operands = [
        node(name, shapeType="rect", x=x, y=10, width=100, height=50, fx={"booleanOperand": True})
        for name, x in (("b", 10), ("c", 60))
    ]
    combined = node("a", width=7, height=7, fx={"booleanOp": "intersect", "booleanSources": ["b", "c"]})
    found = layer(collapsed(*operands, combined), "i::a")
    assert found is not None
    assert isinstance(found.transform, Transform2D)
    assert isinstance(found.source, ShapeSource)
    assert (found.transform.x, found.transform.y) == (35, 10)
    assert (found.source.width, found.source.height) == (50, 50)


def test_a_matte_of_a_spliced_layer_is_the_neighbour_that_it_names_by_the_original_id() -> None:
    copied = node("d", fx={**NAMES_C, "__cloner": {"enabled": True, "count": 1}})
    doc = collapsed(node("a", fx=NAMES_C), copied, node("b"), node("c"))
    for layer_id in ("i::a", "i::0~d"):
        found = layer(doc, layer_id)
        assert found is not None
        assert found.matte == Matte("luma", True, "i::c")


def test_a_hidden_matte_source_leaves_the_list_and_the_next_layer_takes_its_place() -> None:
    doc = document(
        node("a", fx={"matte": {"mode": "alpha", "inverted": False, "sourceId": "s"}}),
        node("s", visible=False),
        node("b"),
    )
    found = layer(doc, "a")
    assert found is not None
    assert found.matte is not None
    assert found.matte.source_id == "b"


def test_a_layer_without_any_layer_above_it_is_not_matted() -> None:
    found = layer(matted(), "a")
    assert found is not None
    assert found.matte is None


def test_mattes_inside_of_a_unit_are_not_resolved_unless_repaired() -> None:
    group = node("g", "group", children=["a", "b"], fx={"precomp": True})
    doc = document(
        group, node("a", parent="g", fx={"matte": {"mode": "alpha", "inverted": False}}), node("b", parent="g")
    )

    def mattes(**more: Any) -> list[Matte | None]:
        found = layer(doc, "g", **more)
        assert found is not None
        assert isinstance(found.source, CompositionSource)
        return [inner.matte for inner in found.source.composition.layers]

    assert mattes() == [None, None]
    assert mattes(parity=WITHOUT_QUIRKS)[0] == Matte("alpha", False, "b")


def test_a_hidden_layer_that_an_effect_looks_at_stays_without_being_drawn() -> None:
    effect = {"id": "d", "type": "displacement-map", "params": {"mapLayerId": "m"}}
    doc = document(
        node("g", "group", children=["m"]), node("m", parent="g", visible=False), node("a", fx={"effects": [effect]})
    )
    assert [(found.id, found.visible) for found in shown(doc).layers] == [("m", False), ("a", True)]


def test_plugin_layers_are_left_out_with_a_warning_and_other_kinds_are_shapes() -> None:
    doc = document(node("p", "studio.acme.depth", children=["c"]), node("c", parent="p"), node("s", "solid"))
    assert drawn(doc) == ["c", "s"]
    (warning,) = built(doc).warnings
    assert "plugin" in warning


def test_a_placed_composition_without_its_root_is_black_at_its_own_size() -> None:
    placed = node("i", "comp", fx={"precomp": True, "__compRef": "gone"})
    doc = document(placed, node("a"), comps={"gone": {"id": "gone", "width": 100, "height": 50}})
    found = source(doc, "i", CompositionSource)
    assert (found.black, found.width, found.height, found.composition.layers) == (True, 100, 50, ())


def test_a_placed_composition_that_is_unknown_blackens_the_whole_frame() -> None:
    found = layer(document(node("i", "comp", x=10, y=20, scale=3, fx={"precomp": True, "__compRef": "gone"})), "i")
    assert found is not None
    assert isinstance(found.source, CompositionSource)
    assert (found.source.black, found.source.width, found.source.height) == (True, 400, 300)
    assert found.transform == Transform2D(200, 150)


def test_without_its_root_every_root_of_the_document_is_drawn() -> None:
    doc = document(node("a"))
    doc["comps"] = {"comp_x": {"id": "comp_x", "width": 10, "height": 10}}
    assert drawn(doc) == ["a"]


def test_pictures_without_a_source_are_there_and_show_nothing() -> None:
    assert isinstance(source(document(node("i", "image")), "i", MissingSource), MissingSource)


@pytest.mark.parametrize(
    ("src", "plays"),
    [
        ("https://a.example/clip.mp4", True),
        ("/files/clip.WebM?exp=1&sig=2", True),
        ("https://a.example/clip.png?of=clip.mp4", False),
        ("https://a.example/mp4", False),
    ],
)
def test_a_picture_layer_plays_a_source_that_is_named_as_a_video(src: str, plays: bool) -> None:
    picture = layer(document(node("i", "image", src=src)), "i", 2.0)
    assert picture is not None
    assert isinstance(picture.source, VideoSource if plays else ImageSource)
    assert (picture.source.width, picture.source.height) == (280, 180)
    assert getattr(picture.source, "time", None) == (2.0 if plays else None)


def test_opacity_is_a_factor_that_may_overshoot() -> None:
    doc = document(node("a", style={"opacity": 50}), node("b"), tracks={"b": {"opacity": keys((0, 130))}})
    assert [found.opacity for found in shown(doc).layers] == [0.5, 1.3]


def placing(*inside: Json, **more: Any) -> Json:
    """Return a composition placed in another one, both with bars for their layers; `inside` are layers of the inner
    one."""
    listed = [held["id"] for held in inside]
    return document(
        node("i", "comp", fx={"precomp": True, "__compRef": "comp_b"}),
        *inside,
        roots=(root(*listed, node_id="comp_b"), root("m", node_id="comp_c")),
        comps={"comp_b": {"id": "comp_b"}, "comp_c": {"id": "comp_c"}},
        **more,
    )


def test_a_placed_composition_of_hidden_layers_is_black_only_where_none_keeps_its_place() -> None:
    hidden = node("n", parent="comp_b", visible=False)
    assert not source(placing(hidden), "i", CompositionSource).black
    line = {"comp_b": {"frameRate": {"fps": 30}, "duration": 300, "tracks": []}}
    assert source(placing(hidden, timelines=line), "i", CompositionSource).black


def test_a_placed_composition_is_not_black_while_another_placed_in_it_is_off() -> None:
    inner = node("j", "comp", parent="comp_b", fx={"precomp": True, "__compRef": "comp_c"})
    clip = {"start": 0, "duration": 30, "sourceIn": 0}
    track = {"name": "Composition", "layers": [{"id": "bar", "sourceId": "j", "clip": clip}]}
    doc = placing(inner, timelines={"comp_b": {"frameRate": {"fps": 30}, "duration": 300, "tracks": [track]}})
    found = source(doc, "i", CompositionSource, 2.0)
    assert (found.composition.layers, found.black) == ((), False)


def test_content_that_is_unknown_or_empty_is_named() -> None:
    """layers.md 2 and text.md 1: an unknown kind is read as a shape, an empty text draws nothing and is logged."""
    doc = document(
        node("a", "hologram"),
        node("b", "solid", fx={"layerStyles": {"sparkle": {"enabled": True}, "stroke": {"enabled": True}, "x": {}}}),
        node("c", "text", text={"content": ""}),
        node("d", "text", text={"content": ""}, visible=False),
        node("e", "text", text={"content": ""}),
        data={"e": {"text.source": {"kind": "text", "keyframes": [{"t": 0, "value": "Hi"}]}}},
    )
    assert built(doc).warnings == (
        "Layer “a” is of the kind 'hologram', which is unknown; it is drawn as a shape.",
        "The layer style 'sparkle' of layer “b” is unknown and not drawn.",
        "Layer “c” shows nothing: its text is empty.",
    )


def test_of_two_layers_with_one_id_the_first_is_drawn_and_the_other_is_named() -> None:
    """document.md 2.2."""
    doc = document(node("a", name="First"), node("a", name="Second"))
    assert [found.name for found in shown(doc).layers] == ["First"]
    assert built(doc).warnings == ("Layer “Second” is not drawn: an earlier layer has its id.",)


def test_compositions_that_are_placed_in_themselves_or_too_deep_are_named() -> None:
    """document.md 2.10.5: recursion stops on the second round and at depth 8, and what is refused is black."""
    itself = document(node("i", "comp", fx={"precomp": True, "__compRef": "comp_root"}))
    assert built(itself).warnings == (
        "The composition “Main” is placed in itself; its innermost copies are painted black.",
    )
    assert built(nested(8)).warnings == ()
    assert built(nested(9)).warnings == (
        "Compositions are placed more than 8 deep in each other; the innermost are painted black.",
    )


def nested(depth: int) -> Json:
    """Return a document of nested compositions, the innermost with a shape."""
    placed = [
        node(f"i{at}", "comp", parent=f"c{at - 1}" if at else "comp_root", fx={"precomp": True, "__compRef": f"c{at}"})
        for at in range(depth)
    ]
    roots = [root(f"i{at + 1}" if at + 1 < depth else "a", node_id=f"c{at}") for at in range(depth)]
    shape = node("a", parent=f"c{depth - 1}")
    return document(*placed, shape, roots=tuple(roots), comps={f"c{at}": {"id": f"c{at}"} for at in range(depth)})


def test_a_transparent_layer_is_left_out_where_that_changes_nothing_else() -> None:
    fading = {"a": {"opacity": keys((0, 0), (1, 0), (2, 100))}}
    assert drawn(document(node("a"), node("b"), tracks=fading), 0.5) == ["b"]
    assert drawn(document(node("a"), node("b"), tracks=fading), 1.5) == ["a", "b"]
    blurred = {"effects": [{"id": "e", "type": "compound-blur", "params": {"mapLayerId": "a"}}]}
    assert drawn(document(node("a"), node("b", fx=blurred), tracks=fading)) == ["a", "b"]
    assert drawn(document(node("a", fx={"isAdjustment": True}), node("b"), tracks=fading)) == ["a", "b"]
    assert drawn(document(node("a", fx={"backdropBlur": 5}), node("b"), tracks=fading)) == ["a", "b"]


def test_a_transparent_layer_stays_beside_3d_layers_and_in_groups_that_composite_as_a_unit() -> None:
    """It divides a run of 3D layers, and decides whether its group has one layer or more."""
    fading = {"a": {"opacity": keys((0, 0), (1, 100))}}
    assert drawn(document(node("a"), node("b", z=5), tracks=fading)) == ["a", "b"]
    group = node("g", "group", children=["a", "b"], opacity=50, fx={"precomp": True})
    (unit,) = shown(document(group, node("a", parent="g"), node("b", parent="g"), tracks=fading)).layers
    assert isinstance(unit.source, CompositionSource)
    assert [inner.id for inner in unit.source.composition.layers] == ["a", "b"]
