"""`POST /v1/templates/import`."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from tests.api.world import Someone, World, document, layer
from tests.documents import bundle

pytestmark = pytest.mark.service
PUBLIC = "https://media.example.com/a.png"
PROJECT = document(
    layer("n1", "Background Video", "video", src=PUBLIC),
    layer("n2", "My Photo", "image", src="blob:https://x/1"),
    layer("n3", "My Photo", "image", src=""),
    layer("n4", "1st Title", "text"),
)


def imported(caller: Someone, data: bytes, **fields: str) -> Any:
    return caller.post("/templates/import", files={"file": ("project.motion", data)}, data=fields)


def zipped(entries: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return packed.getvalue()


def test_every_layer_that_shows_a_source_becomes_an_input(world: World) -> None:
    answer = imported(world.account(), bundle(PROJECT))
    assert answer.status_code == 201
    made = answer.json()
    assert made["inputs"] == [
        {"id": "backgroundVideo", "label": "Background Video", "kind": "media", "required": False, "default": PUBLIC},
        {"id": "myPhoto", "label": "My Photo", "kind": "media", "required": True},
        {"id": "myPhoto2", "label": "My Photo", "kind": "media", "required": True},
    ]
    assert made["requiredInputs"] == ["myPhoto", "myPhoto2"]
    assert len(made["warnings"]) == 2
    assert (made["name"], made["width"], made["height"], made["fps"], made["durationSeconds"]) == (
        "Card",
        640,
        360,
        30,
        3,
    )


def test_text_layers_are_inputs_where_asked_for(world: World) -> None:
    ada = world.account()
    ids = [one["id"] for one in imported(ada, bundle(PROJECT), includeText="true").json()["inputs"]]
    assert ids == ["backgroundVideo", "myPhoto", "myPhoto2", "input1stTitle"]
    for other, warned in (("false", False), ("TRUE", True), ("1", True), ("", False)):
        made = imported(ada, bundle(PROJECT), includeText=other).json()
        assert len(made["inputs"]) == 3
        assert any("includeText" in warning for warning in made["warnings"]) is warned


def test_name_and_description_are_taken_from_the_form_and_truncated(world: World) -> None:
    made = imported(world.account(), bundle(PROJECT), name="n" * 130, description="d" * 600).json()
    assert (made["name"], made["description"]) == ("n" * 120, "d" * 500)


def test_a_composition_without_a_name_gives_the_template_one(world: World) -> None:
    for name in ("", "  "):
        stored = {**PROJECT, "comps": {"comp_root": {**PROJECT["comps"]["comp_root"], "name": name}}}
        assert imported(world.account(), bundle(stored)).json()["name"] == "Composition"


def test_of_a_repeated_field_the_last_value_counts(world: World) -> None:
    files = [("name", (None, "first")), ("name", (None, "second")), ("file", ("a", bundle(PROJECT)))]
    assert world.account().post("/templates/import", files=files).json()["name"] == "second"


def test_an_exposed_colour_gets_an_id_that_can_be_sent(world: World) -> None:
    target = {"nodeId": "n4", "componentType": "Text", "prop": "fill"}
    fields = [{"id": "Brand-Colour", "label": "Brand", "kind": "color", "target": target}]
    ada = world.account()
    made = imported(ada, bundle(document(*PROJECT["scene"]["nodes"][1:], fields=fields))).json()
    assert made["inputs"][-1] == {"id": "brandColour", "label": "Brand", "kind": "color", "required": False}
    inputs = {"myPhoto": PUBLIC, "myPhoto2": PUBLIC, "brandColour": "#ff0000"}
    assert ada.render(made["id"], inputs=inputs).status_code == 201


def test_a_bundle_may_sit_in_a_folder_and_a_legacy_file_needs_no_zip(world: World) -> None:
    ada = world.account()
    for data in (bundle(PROJECT, "project/"), json.dumps(PROJECT).encode()):
        assert imported(ada, data).status_code == 201


def test_the_composition_can_be_chosen(world: World) -> None:
    ada = world.account()
    answer = imported(ada, bundle(PROJECT), compId="comp_root")
    assert answer.status_code == 201
    unknown = imported(ada, bundle(PROJECT), compId="comp_none")
    assert unknown.status_code == 400
    assert "comp_none" in unknown.json()["message"]


def test_a_project_without_media_is_refused(world: World) -> None:
    ada = world.account()
    for fields in ({}, {"includeText": "true"}):
        answer = imported(ada, bundle(document(layer("n1", "Title", "text"))), **fields)
        assert (answer.status_code, answer.json()["code"]) == (400, "nothing_to_expose")


@pytest.mark.parametrize("change", [{"width": 8193}, {"height": 9000}, {"fps": 241}, {"durationSeconds": 3601}])
def test_a_composition_over_the_limits_is_refused(world: World, change: dict[str, Any]) -> None:
    stored = {**PROJECT, "comps": {"comp_root": {**PROJECT["comps"]["comp_root"], **change}}}
    answer = imported(world.account(), bundle(stored))
    assert answer.status_code == 400
    assert next(iter(change)) in str(answer.json()["message"])


def test_a_composition_without_a_height_is_told_of_no_limit_that_an_import_does_not_have(world: World) -> None:
    stored = {**PROJECT, "comps": {"comp_root": {**PROJECT["comps"]["comp_root"], "height": 0}}}
    answer = imported(world.account(), bundle(stored))
    assert (answer.status_code, answer.json()["message"]) == (400, "The composition's height must be a number above 0.")


@pytest.mark.parametrize("source", ["http://10.0.0.1/x.png", "HTTP://10.0.0.1/x.png"])
def test_a_source_that_is_not_public_must_be_replaced(world: World, source: str) -> None:
    made = imported(world.account(), bundle(document(layer("n1", "Photo", "image", src=source)))).json()
    assert made["requiredInputs"] == ["photo"]
    assert "default" not in made["inputs"][0]
    assert "public" in made["warnings"][0]


def test_a_public_source_is_the_default_whatever_the_case_of_its_scheme(world: World) -> None:
    source = "HTTPS://media.example.com/x.png"
    made = imported(world.account(), bundle(document(layer("n1", "Photo", "image", src=source)))).json()
    assert made["requiredInputs"] == []
    assert made["inputs"][0]["default"] == source


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n", "The file, which is not a zipped bundle, is empty."),
        (zipped({"manifest.json": b"{}", "scene.json": b""}), "scene.json is empty."),
        (b"\x89PNG...", "no .motion project"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_the_reason(world: World, data: bytes, words: str) -> None:
    assert words in imported(world.account(), data).json()["message"]


def test_an_optional_input_may_be_left_out_and_a_required_one_not(world: World) -> None:
    ada = world.account()
    template = imported(ada, bundle(PROJECT)).json()["id"]
    answer = ada.render(template, inputs={})
    assert {one["field"] for one in answer.json()["errors"]} == {"myPhoto", "myPhoto2"}
    assert ada.render(template, inputs={"myPhoto": PUBLIC, "myPhoto2": PUBLIC}).status_code == 201


@pytest.mark.parametrize(
    "data",
    [
        b"", b"not a project", b"{}", b"[1]", b'{"scene": {"nodes": 7}}', b"PK\x03\x04 but no zip", bundle(PROJECT)[:-30],
        zipped({"readme.txt": b"hello"}), zipped({"scene.json": b"{"}), zipped({"../../scene.json": b'{"nodes": []}'}),
        zipped({"scene.json": b'{"nodes": [' + b" " * 80_000_000 + b"]}"}), b'{"a":' * 5000,
    ],
    ids=range(12),
)  # fmt: skip
def test_an_upload_that_is_no_project_is_refused_with_a_reason(world: World, data: bytes) -> None:
    answer = imported(world.account(), data)
    assert answer.status_code == 400
    assert answer.json()["message"]


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else "x"


@pytest.mark.parametrize("name", ["half \ud83d", "nul \x00", nested(300)], ids=["half a character", "NUL", "deep"])
def test_a_project_that_cannot_be_kept_is_refused_in_words(world: World, name: Any) -> None:
    answer = imported(world.account(), bundle(document(layer("n1", "Photo", "image", src=PUBLIC, note=name))))
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("The JSON")


def test_a_form_that_is_not_as_documented_is_refused(world: World) -> None:
    ada = world.account()
    assert ada.post("/templates/import", json={}).status_code == 400
    assert ada.post("/templates/import", data={"name": "x"}).status_code == 400
    assert ada.post("/templates/import", files={"other": ("a", b"x")}).status_code == 400
    broken = {"Content-Type": "multipart/form-data; boundary=x"}
    for content in (b"", b"--x\r\n", b"--x\r\nContent-Disposition: form-data; name=file\r\n\r\nabc", b"garbage"):
        assert ada.post("/templates/import", content=content, headers=broken).status_code == 400
    no_boundary = {"Content-Type": "multipart/form-data"}
    assert ada.post("/templates/import", content=b"x", headers=no_boundary).status_code == 400


def test_a_bundle_over_the_plans_limit_is_refused(world: World) -> None:
    data = bundle(PROJECT)
    answer = imported(world.account(maxUploadBytes=len(data) - 1), data)
    assert (answer.status_code, answer.json()["code"]) == (413, "upload_too_large")


def test_an_import_counts_as_one_request_and_nothing_else(world: World) -> None:
    ada = world.account()
    assert imported(ada.new_key(), bundle(PROJECT)).status_code == 201
    usage = ada.usage()
    assert (usage["apiRequests"], usage["assetProcessingBytes"], usage["reservedRenderMinutes"]) == (1, 0, 0)


def test_a_project_that_no_frame_can_be_made_from_in_time_is_refused_by_name(world: World) -> None:
    blurs = [{"id": f"e{n}", "type": "blur", "params": {"amount": 90}} for n in range(500)]
    photo = layer("n1", "Photo", "image", src=PUBLIC)
    photo["components"].append({"id": "fx", "type": "fx", "props": {"effects": blurs}})
    answer = imported(world.account(), bundle(document(photo)))
    assert answer.status_code == 400
    assert answer.json()["message"] == "Layer “Photo” has 500 effects; at most 100 are allowed."
