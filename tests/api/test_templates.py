"""`/v1/templates`: publish, list, get, delete."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.api.world import World, document, field, layer, template_body
from tests.documents import bundle

pytestmark = pytest.mark.service
FIELDS = {
    "id", "name", "description", "width", "height", "fps", "durationSeconds", "inputs", "createdAt", "updatedAt",
}  # fmt: skip


def test_a_published_template_is_read_back_without_its_targets(world: World) -> None:
    ada = world.account()
    answer = ada.post("/templates", json=template_body(description="For launches", projectId="prj_1"))
    assert answer.status_code == 201
    made = answer.json()
    assert set(made) == FIELDS
    assert made["inputs"] == [
        {"id": "headline", "label": "Headline", "kind": "text", "required": False},
        {"id": "size", "label": "Size", "kind": "number", "required": False},
        {"id": "tint", "label": "Tint", "kind": "color", "required": False},
        {"id": "photo", "label": "Photo", "kind": "image", "required": True},
    ]
    assert (made["width"], made["fps"], made["durationSeconds"]) == (640, 30, 3)
    assert made["description"] == "For launches"
    assert ada.get(f"/templates/{made['id']}").json() == made
    assert ada.get("/templates").json()["items"] == [made]
    for hidden in ("nodeId", "target", '"n1"', "documents/"):  # an id can contain n1 by chance
        assert hidden not in ada.get(f"/templates/{made['id']}").text


def test_required_may_be_set_explicitly(world: World) -> None:
    ada = world.account()
    body = template_body()
    body["inputs"][0]["required"], body["inputs"][3]["required"] = True, False
    made = ada.post("/templates", json=body).json()
    assert [one["required"] for one in made["inputs"]] == [True, False, False, False]
    answer = ada.render(made["id"], inputs={})
    assert [one["field"] for one in answer.json()["errors"]] == ["headline"]


def test_a_required_input_must_be_given_though_it_has_a_default(world: World) -> None:
    ada = world.account()
    body = template_body()
    body["inputs"][3]["default"] = "https://media.example.com/default.png"
    made = ada.post("/templates", json=body).json()
    assert made["inputs"][3]["required"] is True
    answer = ada.render(made["id"], inputs={})
    assert [one["field"] for one in answer.json()["errors"]] == ["photo"]
    body["inputs"][3]["required"] = False
    assert ada.render(ada.post("/templates", json=body).json()["id"], inputs={}).status_code == 201


@pytest.mark.parametrize("default", ["", "blob:https://x/1", "/files/assets/a.png", None])
def test_a_default_that_is_no_address_is_ignored(world: World, default: str | None) -> None:
    body = template_body()
    body["inputs"][3] |= {"required": False, "default": default}
    assert "default" not in world.account().post("/templates", json=body).json()["inputs"][3]


def test_an_id_that_breaks_the_pattern_is_named(world: World) -> None:
    inputs = [{"id": bad, "label": "x", "kind": "text"} for bad in ("Head-line", "", "x" * 65, "line\n", "caf\u00e9")]
    answer = world.account().post("/templates", json=template_body(inputs=inputs))
    errors = answer.json()["errors"]
    assert [one["field"] for one in errors] == [f"inputs.{index}.id" for index in range(5)]
    assert errors[0]["message"].startswith("'Head-line' is not an input id")
    assert "'caf\u00e9'" in errors[4]["message"]


def test_an_input_of_another_kind_than_its_target_is_refused_by_name(world: World) -> None:
    photo = layer("n2", "Photo", "image", src="https://media.example.com/a.png")
    fields = [field("photo", "image", "n2", "Transform", "src")]
    ada = world.account()
    for held in (document(photo, fields=fields), document(photo)):
        inputs = [{"id": "photo", "label": "Photo", "kind": "text"}]
        answer = ada.post("/templates", json=template_body(document=held, inputs=inputs))
        assert answer.status_code == 400
        assert "'photo' (text)" in answer.json()["message"]
        for kind in ("image", "media"):
            same = template_body(document=held, inputs=[{"id": "photo", "label": "Photo", "kind": kind}])
            assert ada.post("/templates", json=same).status_code == 201


@pytest.mark.parametrize(("node_id", "component"), [("n1", "Fill"), ("gone", "Style")])
def test_an_import_leaves_out_an_input_whose_target_the_project_lacks(
    world: World, node_id: str, component: str
) -> None:
    """Otherwise every render with a value for it would fail."""
    fields = [field("tint", "color", node_id, component, "fill")]
    layers = (layer("n1", "Headline", "text"), layer("n2", "Photo", "image", src="https://media.example.com/a.png"))
    project = bundle(document(*layers, fields=fields))
    made = world.account().post("/templates/import", files={"file": ("p.motion", project)}).json()
    assert [one["id"] for one in made["inputs"]] == ["photo"]
    assert made["warnings"] == ["“Tint” writes to nothing that is in the project, so it was not made an input."]


def test_names_and_descriptions_are_truncated(world: World) -> None:
    ada = world.account()
    made = ada.post("/templates", json=template_body(name="n" * 130, description="d" * 600)).json()
    assert (len(made["name"]), len(made["description"])) == (120, 500)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"name": ""}, "name"), ({"name": "   "}, "name"), ({"name": 7}, "name"), ({"width": 0}, "width"),
        ({"width": 8193}, "width"), ({"height": -1}, "height"), ({"height": "360"}, "height"), ({"fps": 241}, "fps"),
        ({"fps": 0}, "fps"), ({"durationSeconds": 3601}, "durationSeconds"), ({"durationSeconds": None}, "durationSeconds"),
        ({"document": []}, "document"), ({"document": "x"}, "document"), ({"inputs": {}}, "inputs"),
        ({"inputs": [{"id": "Bad", "label": "x", "kind": "text"}]}, "inputs.0.id"),
        ({"inputs": [{"id": "a_b", "label": "x", "kind": "text"}]}, "inputs.0.id"),
        ({"inputs": [{"id": "a" * 65, "label": "x", "kind": "text"}]}, "inputs.0.id"),
        ({"inputs": [{"id": "ok", "label": "x", "kind": "audio"}]}, "inputs.0.kind"),
        ({"inputs": [{"id": "ok", "label": "x", "kind": "text"}] * 2}, "inputs"),
    ],
)  # fmt: skip
def test_a_field_out_of_bounds_is_named(world: World, changes: dict[str, Any], wrong: str) -> None:
    answer = world.account().post("/templates", json=template_body(**changes))
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["errors"]] == [wrong]
    assert isinstance(answer.json()["message"], list)


def test_every_missing_field_is_named_at_once(world: World) -> None:
    answer = world.account().post("/templates", json={"description": 4})
    assert {one["field"] for one in answer.json()["errors"]} == {
        "name", "description", "document", "inputs", "width", "height", "fps", "durationSeconds",
    }  # fmt: skip


def test_values_at_the_limits_are_allowed(world: World) -> None:
    answer = world.account().post(
        "/templates", json=template_body(width=8192, height=0.5, fps=240, durationSeconds=3600)
    )
    assert answer.status_code == 201


def test_json_that_is_no_document_is_refused_with_a_reason(world: World) -> None:
    ada = world.account()
    newer = {**document(), "version": "9.0.0"}
    for stored, words in (({}, "not a .motion project"), (newer, "newer editor")):
        answer = ada.post("/templates", json=template_body(document=stored))
        assert answer.status_code == 400
        assert words in answer.json()["message"]


def test_media_that_cannot_be_fetched_is_refused_by_name_and_reason(world: World) -> None:
    ada = world.account()
    layers = [
        layer("a", "Blob", "image", src="blob:https://x/1"), layer("b", "Disk", "video", src="C:\\clip.mp4"),
        layer("c", "Nothing", "image"), layer("d", "Public", "image", src="https://media.example.com/a.png"),
        layer("e", "Inside", "image", src="http://10.0.0.1/a.png"), layer("f", "Cloud", "image", src="/files/assets/a.png"),
        layer("g", "Replaced", "image", src="blob:https://x/2"),
        layer("h", "Loud", "image", src="HTTP://10.0.0.1/a.png"),
        layer("i", "Indented", "image", src=" https://media.example.com/a.png"),
    ]  # fmt: skip
    body = template_body(
        document=document(*layers, fields=[field("photo", "image", "g", "Transform", "src")]),
        inputs=[{"id": "photo", "label": "Photo", "kind": "image"}],
    )
    answer = ada.post("/templates", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "unrenderable_assets")
    found = {one["layer"]: one["reason"] for one in answer.json()["layers"]}
    assert set(found) == {"Blob", "Disk", "Nothing", "Inside", "Loud", "Indented"}
    assert "blob:" in found["Blob"] and "local file" in found["Disk"] and "no source" in found["Nothing"]
    assert "private" in found["Inside"] and "private" in found["Loud"] and "not allowed" in found["Indented"]
    assert ada.get("/templates").json()["total"] == 0


def test_a_thousand_layers_that_cannot_be_fetched_are_named_and_the_others_counted(world: World) -> None:
    layers = [layer(f"n{number}", f"Layer {number}", "image", src="blob:https://x/1") for number in range(1_500)]
    answer = world.account().post("/templates", json=template_body(document=document(*layers), inputs=[])).json()
    assert (answer["code"], len(answer["layers"])) == ("unrenderable_assets", 1_000)
    assert answer["message"].endswith("The first 1,000 of 1,500 are listed.")


def test_templates_belong_to_their_account(world: World) -> None:
    ada, bob = world.account(), world.account("bob")
    template = ada.template()
    for wanted in (template, "tpl_none", "%00", "a%20b"):
        assert bob.get(f"/templates/{wanted}").status_code == 404
        assert bob.delete(f"/templates/{wanted}").status_code == 404
    assert bob.get("/templates").json() == {"items": [], "total": 0, "limit": 50, "offset": 0}


def test_a_deleted_template_is_gone(world: World) -> None:
    ada = world.account()
    template = ada.template()
    assert ada.delete(f"/templates/{template}").json() == {"deleted": True}
    assert ada.get(f"/templates/{template}").status_code == 404
    assert ada.delete(f"/templates/{template}").status_code == 404
    assert ada.get("/templates").json()["total"] == 0


def test_of_concurrent_deletions_one_finds_the_template(world: World) -> None:
    ada = world.account()
    template = ada.template()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ada.delete(f"/templates/{template}"), range(16)))
    assert sorted(answer.status_code for answer in answers) == [200] + [404] * 15


def test_templates_are_listed_newest_first_in_pages(own_world: World) -> None:
    ada = own_world.account()
    made = []
    for _ in range(3):
        made.append(ada.template())
        own_world.clock.advance(1)
    page = ada.get("/templates", params={"limit": 2}).json()
    assert [one["id"] for one in page["items"]] == [made[2], made[1]]
    assert page["total"] == 3


def test_a_document_that_no_frame_can_be_made_from_in_time_is_refused_by_name(world: World) -> None:
    ada = world.account()
    body = template_body()
    blurs = [{"id": f"e{n}", "type": "blur", "params": {"amount": 90}} for n in range(20_000)]
    layer = next(one for one in body["document"]["scene"]["nodes"] if one["parent"])
    layer["components"].append({"id": "fx", "type": "fx", "props": {"effects": blurs}})
    answer = ada.post("/templates", json=body)
    assert answer.status_code == 400
    assert answer.json()["message"] == f"Layer “{layer['name']}” has 20,000 effects; at most 100 are allowed."
    assert ada.get("/templates").json()["total"] == 0
