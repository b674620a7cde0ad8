"""Inputs of a document, and how they are applied."""

from __future__ import annotations

from typing import Any

import pytest

from motion.errors import CompositionUnknown, PropertyRefused
from motion.template import (
    InputField,
    Target,
    apply,
    authored_fields,
    discover,
    media_sources,
    slug,
    unrenderable_layers,
    validate,
)
from tests.documents import document, node, root
from tests.motion.frames import layer

HERO = "https://example.com/hero.png"
MAPPED = {"id": "d", "type": "displacement-map", "params": {"mapLayerId": "h"}}


def field(kind: Any, **changes: Any) -> InputField:
    values: dict[str, Any] = {
        "id": "a",
        "label": "A",
        "required": False,
        "default": None,
        "target": Target("n", "Transform", "src"),
    }
    return InputField(kind=kind, **{**values, **changes})


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Background Video", "backgroundVideo"),
        ("  Caption 1  ", "caption1"),
        ("Logo-2x final", "logo2xFinal"),
        ("Bob’s Photo", "bobSPhoto"),
        ("camelCase Name", "camelcaseName"),
        ("Café Logo", "cafLogo"),
        ("Über", "ber"),
        ("日本語", "input"),
        ("1st Title", "input1stTitle"),
        ("x" * 70, "x" * 64),
    ],
)
def test_labels_become_valid_ids(label: str, expected: str) -> None:
    assert slug(label) == expected


def test_every_layer_that_shows_a_source_becomes_an_input() -> None:
    doc = document(
        node("i", "image", name="Hero Photo", src=HERO),
        node("v", "video", name="Hero Photo", src="blob:abc"),
        node("t", "text", name="Title", text={"content": "Hi"}),
        node("s", name="Box"),
        node("g", "svg", name="Icon", svg={"sanitizedMarkup": "<svg/>"}),
    )
    found = discover(doc, None, include_text=False)
    assert [(entry.id, entry.kind, entry.required, entry.default) for entry in found.fields] == [
        ("heroPhoto", "media", False, HERO),
        ("heroPhoto2", "media", True, None),
    ]
    assert found.has_media
    assert "Hero Photo" in found.warnings[0]
    assert "browser session" in found.warnings[0]


def test_an_input_writes_the_source_that_is_shown() -> None:
    doc = document(node("i", "image", src=HERO, style={"src": "blob:abc"}))
    (found,) = discover(doc).fields
    assert (found.target.component_type, found.required) == ("Style", True)


def test_texts_are_exposed_when_asked_for() -> None:
    doc = document(node("t", "text", name="Main Title", text={"content": "Hi"}))
    (entry,) = discover(doc, None, include_text=True).fields
    assert (entry.id, entry.kind, entry.required, entry.default) == ("mainTitle", "text", False, "Hi")
    assert entry.target == Target("t", "Text", "content")


def test_layers_of_placed_compositions_are_found_and_of_other_compositions_are_not() -> None:
    doc = document(
        node("p", "comp", fx={"precomp": True, "__compRef": "comp_b"}),
        node("inner", "image", parent="comp_b", name="Inner", src=""),
        node("other", "image", parent="comp_c", name="Other", src=""),
        roots=(root("inner", node_id="comp_b"), root("other", node_id="comp_c")),
        comps={"comp_b": {"id": "comp_b", "name": "Intro"}, "comp_c": {"id": "comp_c"}},
    )
    assert [entry.id for entry in discover(doc).fields] == ["inner"]
    assert [entry.id for entry in discover(doc, "comp_c").fields] == ["other"]
    with pytest.raises(CompositionUnknown, match=r"no composition 'comp_z'. It has 'comp_root' .*, 'comp_b' \(Intro\)"):
        discover(doc, "comp_z")


def test_an_unknown_composition_of_a_long_id_is_named_by_its_beginning() -> None:
    with pytest.raises(CompositionUnknown) as refusal:
        discover(document(node("a", "text")), "z" * 1_000_000)
    assert "'zzz" in refusal.value.message and len(refusal.value.message) < 500


def test_a_hidden_layer_is_no_input_and_is_named() -> None:
    found = discover(document(node("i", "image", name="Draft", src="", visible=False)))
    assert found.fields == ()
    assert not found.has_media
    assert "Draft" in found.warnings[0]


def authored(*fields: dict[str, Any]) -> dict[str, Any]:
    doc = document(
        node("t", "text", text={"content": "Hi", "fill": "#fff"}), node("i", "image", name="Picture", src=HERO)
    )
    doc["scene"]["nodes"][0]["components"][0]["props"]["__templateFields"] = list(fields)
    return doc


TITLE = {
    "id": "headline",
    "label": "Headline",
    "kind": "text",
    "default": "Hi",
    "target": {"nodeId": "t", "componentType": "Text", "prop": "content"},
}
PICTURE = {
    "id": "hero",
    "label": "Hero",
    "kind": "media",
    "default": HERO,
    "target": {"nodeId": "i", "componentType": "Transform", "prop": "src"},
}


def test_an_import_names_media_and_text_by_their_layers_whatever_was_authored() -> None:
    held = authored(TITLE, PICTURE, {"id": "broken"})
    assert [entry.id for entry in authored_fields(held)] == ["headline", "hero"]
    assert {entry.id: entry.default for entry in discover(held, include_text=True).fields} == {
        "t": "Hi",
        "picture": HERO,
    }
    assert [entry.id for entry in discover(held, include_text=False).fields] == ["picture"]


def test_an_exposed_colour_keeps_its_id_and_one_that_writes_to_nothing_is_named() -> None:
    target = {"nodeId": "t", "componentType": "Text", "prop": "fill"}
    tint = {"id": "brandTint", "label": "Tint", "kind": "color", "default": "#ff0000", "target": target}
    lost = {**tint, "id": "lost", "label": "Lost", "target": {**target, "nodeId": "gone"}}
    found = discover(authored(TITLE, PICTURE, tint, lost))
    assert [entry.id for entry in found.fields] == ["picture", "brandTint"]
    assert found.warnings == ("“Lost” writes to nothing that is in the project, so it was not made an input.",)


def test_an_import_adds_the_colours_and_numbers_that_the_author_exposed() -> None:
    tint = {"id": "tint", "label": "Tint", "kind": "color", "default": "#ff0000"}
    tint["target"] = {"nodeId": "t", "componentType": "Text", "prop": "fill"}  # type: ignore[assignment]
    taken = {**tint, "id": "picture", "target": {"nodeId": "i", "componentType": "Transform", "prop": "width"}}
    odd = {**tint, "id": "Brand-Colour 1", "target": {"nodeId": "t", "componentType": "Text", "prop": "stroke"}}
    target = {"nodeId": "t", "componentType": "Text", "prop": "fontSize"}
    size: dict[str, Any] = {"id": "size", "label": "", "kind": "number", "default": 24, "target": target}
    found = discover(authored(TITLE, PICTURE, tint, taken, odd, size), include_text=False).fields
    assert [(entry.id, entry.label, entry.kind, entry.default) for entry in found] == [
        ("picture", "Picture", "media", HERO),
        ("tint", "Tint", "color", "#ff0000"),
        ("picture2", "Tint", "color", "#ff0000"),
        ("brandColour1", "Tint", "color", "#ff0000"),
        ("size", "size", "number", 24),
    ]


def test_all_faults_are_found_at_once() -> None:
    fields = [
        field("text", id="title"),
        field("number", id="size"),
        field("media", id="clip", required=True),
        field("image", id="photo"),
        field("color", id="tint"),
    ]
    faults = validate(
        fields,
        {"title": 3, "size": "3", "photo": "ftp://x", "tint": None, "ghost": "x", "Tytle": "x"},
        lambda url: "no",
    )
    assert {fault.field: fault.message for fault in faults} == {
        "ghost": "is not an input of this template",
        "Tytle": "is not an input of this template; did you mean title?",
        "title": "must be a string",
        "size": "must be a number",
        "clip": "is required",
        "photo": "must be a public http(s) URL",
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, True, None, [1]])
def test_only_finite_numbers_are_numbers(value: object) -> None:
    assert bool(validate([field("number", required=True)], {"a": value}))


def test_addresses_are_judged_by_the_farms_rule() -> None:
    assert validate([field("media")], {"a": HERO}, lambda url: None) == []
    (fault,) = validate([field("media")], {"a": HERO}, lambda url: "resolves to a private address")
    assert fault.message == "resolves to a private address"


def test_a_required_picture_must_be_given_whatever_its_default() -> None:
    (fault,) = validate([field("media", required=True, default=HERO)], {})
    assert fault.message == "is required"
    assert validate([field("media", required=False, default=HERO)], {}) == []


def test_values_are_written_to_a_copy() -> None:
    held = authored(TITLE, PICTURE)
    filled: Any = apply(held, authored_fields(held), {"headline": "New", "hero": "https://x/y.png"})
    assert filled["scene"]["nodes"][1]["components"][1]["props"] == {"content": "New", "fill": "#fff"}
    assert filled["scene"]["nodes"][2]["components"][0]["props"]["src"] == "https://x/y.png"
    assert held["scene"]["nodes"][1]["components"][1]["props"]["content"] == "Hi"


def test_a_colour_that_is_accepted_is_never_drawn_black() -> None:
    """layers.md 5.2: a plain rectangle reads no colour names, which the message for other values recommends."""
    paint = field("color", target=Target("t", "Text", "fill"))
    filled: Any = apply(authored(TITLE, PICTURE), [paint], {"a": "tomato"})
    assert filled["scene"]["nodes"][1]["components"][1]["props"]["fill"] == "#ff6347"


def test_a_target_that_is_gone_is_named() -> None:
    with pytest.raises(PropertyRefused, match="'a'"):
        apply(document(), [field("media")], {"a": HERO})
    with pytest.raises(PropertyRefused, match="'a' writes to a Text that the layer does not have"):
        apply(document(node("n")), [field("text", target=Target("n", "Text", "content"))], {"a": "Hi"})


def test_a_value_without_a_declared_input_is_named() -> None:
    with pytest.raises(PropertyRefused, match="ghost"):
        apply(document(), [], {"ghost": "x"})


def test_layers_that_cannot_be_fetched_are_listed_with_reasons_unless_a_field_replaces_them() -> None:
    doc = document(
        node("e", "image", name="Empty"),
        node("f", "image", name="File", src="C:\\pictures\\a.png"),
        node("d", "image", name="Disk", src="file:///pictures/a.png"),
        node("t", "image", name="Transfer", src="FTP://example.com/a.png"),
        node("b", "video", name="Session", src="blob:x"),
        node("c", "image", name="Cloud", src="/files/a?exp=1"),
        node("n", "image", name="Input", src=""),
    )
    reasons = dict(unrenderable_layers(doc, [field("media")]))
    assert list(reasons) == ["Empty", "File", "Disk", "Transfer", "Session"]
    assert "local file" in reasons["File"] and "local file" in reasons["Disk"]
    assert reasons["Transfer"] == "its source begins with ftp://, which is not fetched: only http and https are"


def test_the_sources_of_a_render_are_known_in_advance() -> None:
    doc = document(
        node("i", "image", src=HERO),
        node("d", "image", src="data:image/png;base64,AA"),
        node("h", "image", src="https://example.com/hidden.png", visible=False),
        node("q", "image", fx={"sequence": {"frames": ["https://example.com/1.png"]}}),
        node("a", "audio", audio={"__src": "https://example.com/song.mp3"}),
        node("m", "audio", audio={"__src": "https://example.com/hidden.mp3"}, visible=False),
    )
    shown = {HERO, "https://example.com/1.png"}
    assert set(media_sources(doc)) == shown
    assert set(media_sources(doc, with_sound=True)) == shown | {"https://example.com/song.mp3"}


@pytest.mark.parametrize("looker", [
    {"effects": [MAPPED]},
    {"matte": {"mode": "luma", "inverted": False, "sourceId": "h"}},
])  # fmt: skip
def test_a_hidden_picture_that_another_layer_looks_at_is_fetched_and_can_be_replaced(looker: dict[str, Any]) -> None:
    group = node("g", "group", children=["h"])
    hidden = node("h", "image", parent="g", name="Map", src=HERO, visible=False)
    doc = document(group, hidden, node("a", fx=looker))
    assert set(media_sources(doc)) == {HERO}
    assert [entry.id for entry in discover(doc).fields] == ["map"]


@pytest.mark.parametrize("switch", [{"fxEnabled": False}, {"effects": [{**MAPPED, "enabled": False}]}])
def test_a_hidden_picture_that_only_switched_off_effects_look_at_is_not_fetched(switch: dict[str, Any]) -> None:
    group = node("g", "group", children=["h"])
    hidden = node("h", "image", parent="g", src=HERO, visible=False)
    assert set(media_sources(document(group, hidden, node("a", fx={"effects": [MAPPED]})))) == {HERO}
    assert set(media_sources(document(group, hidden, node("a", fx={"effects": [MAPPED], **switch})))) == set()


@pytest.mark.parametrize(
    "matte", [{"mode": "luma", "inverted": False}, {"mode": "luma", "inverted": False, "sourceId": "off"}]
)
def test_a_hidden_picture_that_is_the_matte_of_its_neighbour_is_fetched(matte: dict[str, Any]) -> None:
    """A matte without a source in the list is the next layer in paint order, also a hidden one without bars."""
    looker = node("a", parent="g", fx={"matte": matte})
    others = (
        node("n", "null", parent="g"),
        node("o", parent="g", fx={"booleanOperand": True}),
        node("u", "group", parent="g", fx={"guide": True}),
        node("h", "image", parent="g", src=HERO, visible=False),
        node("i", "image", parent="g", src="https://example.com/unused.png", visible=False),
    )
    group = node("g", "group", children=["a", *(other["id"] for other in others)])
    doc = document(group, looker, *others, node("off", "image", src="https://example.com/off.png", visible=False))
    found = layer(doc, "a")
    assert found is not None and found.matte is not None and found.matte.source_id == "h"
    assert set(media_sources(doc)) == {HERO}


def test_a_hidden_picture_in_another_list_is_no_neighbour() -> None:
    """The list of a composition, or of a unit, ends with its last layer."""
    looker = node("a", parent="u", fx={"matte": {"mode": "luma", "inverted": False}})
    unit = node("u", "group", parent="g", children=["a"], fx={"precomp": True})
    hidden = node("h", "image", parent="g", src=HERO, visible=False)
    doc = document(node("g", "group", children=["u", "h"]), unit, looker, hidden)
    assert set(media_sources(doc)) == set()


def test_a_hidden_picture_that_a_hidden_matte_looks_at_is_fetched() -> None:
    doc = document(
        node("g", "group", children=["m", "h"]),
        node("m", parent="g", fx={"effects": [MAPPED]}, visible=False),
        node("h", "image", parent="g", src=HERO, visible=False),
        node("a", fx={"matte": {"mode": "luma", "inverted": False, "sourceId": "m"}}),
    )
    assert set(media_sources(doc)) == {HERO}
    doc["scene"]["nodes"][-1]["visible"] = False
    assert set(media_sources(doc)) == set()


def test_a_hidden_picture_with_a_bar_of_its_own_is_never_looked_at() -> None:
    doc = document(node("h", "image", src=HERO, visible=False), node("a", fx={"effects": [MAPPED]}))
    assert set(media_sources(doc)) == set()


def test_a_picture_without_a_transform_takes_its_source_on_what_it_has() -> None:
    picture = {**node("p", "image"), "components": [{"id": "s", "type": "Style", "props": {"__kind": "image"}}]}
    doc = document(picture)
    (field,) = discover(doc).fields
    written = apply(doc, [field], {field.id: "https://a.example/b.png"})
    assert set(media_sources(written)) == {"https://a.example/b.png"}


def test_names_beyond_those_that_are_compared_get_no_hint() -> None:
    """900 short names took 40 ms of the API's event loop."""
    names = [f"k{number}" for number in range(900)] + ["siz"]
    faults = validate([field("number", id="size"), field("text", id="note")], dict.fromkeys(names, "x"))
    assert len(faults) == 901
    assert (faults[-1].field, faults[-1].message) == ("siz", "is not an input of this template")
