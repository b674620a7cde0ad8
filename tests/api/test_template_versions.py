"""`PUT /v1/templates/{id}`: a new version keeps the id, and accepted renders keep the former version."""

from __future__ import annotations

import base64
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from farm_core.templates.repository import FORMER_VERSIONS_MAX
from tests.api.world import Someone, World, document, field, layer, template_body
from tests.attacks.test_deletion import until_waiting
from tests.documents import bundle
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service
OLD = document(layer("n1", "Photo", "image", src="blob:https://x/1"), layer("n2", "Title", "text"))
NEW = document(layer("n1", "Logo", "image", src=""), layer("n2", "Title", "text"), layer("n3", "Subtitle", "text"))


def text_body(label: str, **changes: Any) -> dict[str, Any]:
    stored = document(layer("n1", label, "text"), fields=[field("headline", "text", "n1", "Text", "content")])
    inputs = [{"id": "headline", "label": label, "kind": "text"}]
    return template_body(name=label, document=stored, inputs=inputs) | changes


def imported(caller: Someone, method: str, path: str, project: dict[str, Any], **fields: str) -> dict[str, Any]:
    files = {"file": ("project.motion", bundle(project))}
    answer = caller.world.client.request(method, f"/api/v1{path}", files=files, data=fields, headers=caller.headers)
    assert answer.status_code == (201 if method == "POST" else 200), answer.text
    made: dict[str, Any] = answer.json()
    return made


def put(caller: Someone, path: str, **options: Any) -> Any:
    return caller.world.client.put(f"/api/v1{path}", headers=caller.headers, **options)


def versions(world: World, template_id: str) -> list[int]:
    rows = world.database.execute(
        "SELECT template_version FROM jobs WHERE template_id = %s ORDER BY created_at", (template_id,)
    )
    return [row[0] for row in rows.fetchall()]


def test_a_new_version_keeps_the_id_and_is_what_later_renders_are_checked_against(own_world: World) -> None:
    ada = own_world.account()
    first = ada.post("/templates", json=text_body("Old", description="For launches")).json()
    assert ada.render(first["id"], inputs={"headline": "a"}).status_code == 201
    own_world.clock.advance(1)
    answer = put(ada, f"/templates/{first['id']}", json=template_body(name="New"))
    assert answer.status_code == 200
    second = answer.json()
    assert (second["id"], second["createdAt"]) == (first["id"], first["createdAt"])
    assert (second["name"], second["description"], len(second["inputs"])) == ("New", "For launches", 4)
    assert second["updatedAt"] > first["updatedAt"]
    assert (first.get("version"), second["version"]) == (None, 2)
    assert second.pop("requiredInputs") == ["photo"]
    assert second.pop("warnings") == ["Input 'photo' is required now: requests without it are refused."]
    assert ada.get(f"/templates/{first['id']}").json() == second
    assert ada.get("/templates").json()["items"] == [second]
    assert [one["field"] for one in ada.render(first["id"], inputs={"headline": "a"}).json()["errors"]] == ["photo"]
    assert ada.render(first["id"]).status_code == 201
    assert versions(own_world, first["id"]) == [1, 2]


def test_an_equal_version_is_no_new_one(world: World) -> None:
    ada = world.account()
    template_id = ada.post("/templates", json=text_body("Old")).json()["id"]
    for name in ("Old", "Renamed"):
        assert put(ada, f"/templates/{template_id}", json=text_body("Old", name=name)).json()["name"] == name
        ada.render(template_id, inputs={})
    assert versions(world, template_id) == [1, 1]


def test_an_import_keeps_what_the_form_leaves_out_and_warns_of_inputs_that_changed(world: World) -> None:
    ada = world.account()
    fields = {"name": "Card", "description": "For launches", "includeText": "true", "compId": "comp_root"}
    first = imported(ada, "POST", "/templates/import", OLD, **fields)
    assert [one["id"] for one in first["inputs"]] == ["photo", "title"]
    second = imported(ada, "PUT", f"/templates/{first['id']}/import", NEW)
    assert [one["id"] for one in second["inputs"]] == ["logo", "title", "subtitle"]
    assert [second[name] for name in ("id", "name", "description", "createdAt")] == [
        first[name] for name in ("id", "name", "description", "createdAt")
    ]
    assert second["warnings"][:2] == [
        "Input 'photo' is gone: requests with it are refused.",
        "Input 'logo' is required now: requests without it are refused.",
    ]
    third = imported(ada, "PUT", f"/templates/{first['id']}/import", NEW, name="Other", includeText="false")
    assert (third["name"], [one["id"] for one in third["inputs"]]) == ("Other", ["logo"])
    kinds = imported(ada, "PUT", f"/templates/{first['id']}/import", OLD, includeText="true")
    assert "Input 'logo' is gone: requests with it are refused." in kinds["warnings"]


def test_choices_of_the_former_version_are_kept_by_an_import_and_where_a_request_asks(world: World) -> None:
    ada = world.account()
    layers = [layer("n1", "Title", "text"), layer("n2", "Terms", "text"), layer("n3", "Logo", "image", src="")]
    inputs = [
        {"id": "title", "label": "Name of the guest", "kind": "text"},
        {"id": "logo", "label": "Logo", "kind": "image"},
    ]
    path = f"/templates/{ada.template(document=document(*layers), inputs=inputs)}"
    newer = document(*layers[:2], layer("n3", "LOGO", "image", src=""), layer("n4", "City", "text"))
    offered = [
        {"id": "title", "label": "Title", "kind": "text"}, {"id": "terms", "label": "Terms", "kind": "text"},
        {"id": "logo", "label": "LOGO", "kind": "image"}, {"id": "city", "label": "City", "kind": "text"},
    ]  # fmt: skip
    body = template_body(document=newer, inputs=offered)
    del body["name"]
    kept = [("title", "Name of the guest"), ("logo", "LOGO"), ("city", "City")]
    for made in (
        imported(ada, "PUT", f"{path}/import", newer),
        put(ada, path, json=body | {"keepChoices": True}).json(),
    ):
        assert sorted((one["id"], one["label"]) for one in made["inputs"]) == sorted(kept)
        assert made["name"] == "Card"
    asked = imported(ada, "PUT", f"{path}/import", newer, includeText="true")
    assert {one["id"] for one in asked["inputs"]} == {"title", "terms", "logo", "city"}
    literal = put(ada, path, json=body).json()
    assert [one["label"] for one in literal["inputs"]] == ["Title", "Terms", "LOGO", "City"]


def test_a_lost_or_broken_document_is_replaced(world: World) -> None:
    ada = world.account()
    template_id = imported(ada, "POST", "/templates/import", OLD, includeText="true")["id"]
    for project, damage in ((NEW, Path.unlink), (OLD, lambda path: path.write_bytes(b"none"))):
        (row,) = world.database.execute("SELECT document_key FROM templates WHERE id = %s", (template_id,)).fetchall()
        damage(world.settings.data_folder / "storage/objects" / row[0])
        assert imported(ada, "PUT", f"/templates/{template_id}/import", project)["id"] == template_id


def test_the_labels_of_inputs_of_another_kind_are_not_kept(world: World) -> None:
    ada = world.account()
    first = ada.post("/templates", json=text_body("Title", inputs=[{"id": "headline", "label": "x", "kind": "text"}]))
    assert first.status_code == 201, first.text
    photo = document(layer("n1", "Headline", "image", src=""))
    made = imported(ada, "PUT", f"/templates/{first.json()['id']}/import", photo)
    assert [(one["id"], one["label"], one["kind"]) for one in made["inputs"]] == [("headline", "Headline", "media")]
    assert made["warnings"][0] == "Input 'headline' takes media, no longer text."


def test_a_replacement_follows_changes_that_were_made_while_it_was_prepared(world: World) -> None:
    ada = world.account()
    template_id = imported(ada, "POST", "/templates/import", OLD, name="Card", includeText="true")["id"]
    extra = '[{"id": "extra", "label": "Extra", "kind": "text", "required": false}]'
    with psycopg.connect(str(world.settings.database_url)) as other, ThreadPoolExecutor() as threads:
        other.execute(
            "UPDATE templates SET name = 'Renamed', inputs = inputs || %s::jsonb WHERE id = %s", (extra, template_id)
        )
        answer = threads.submit(imported, ada, "PUT", f"/templates/{template_id}/import", NEW)
        until_waiting(world.settings.database_url, 1, answer.done)
        other.commit()
        made = answer.result(HANG_SECONDS)
    assert made["name"] == "Renamed"
    assert "Input 'extra' is gone: requests with it are refused." in made["warnings"]


def test_only_the_accounts_own_templates_can_be_replaced(world: World) -> None:
    ada, eve = world.account(), world.account("eve")
    template_id = ada.template()
    files = {"file": ("project.motion", bundle(NEW))}
    for path in (f"/templates/{template_id}", "/templates/tpl_none", "/templates/..."):
        assert put(eve, path, json=text_body("Mine")).status_code == 404
        assert put(eve, f"{path}/import", files=files).status_code == 404
    before = ada.get(f"/templates/{template_id}").json()
    for bad in (text_body("Bad", fps=0), template_body(document={"scene": {}})):
        assert put(ada, f"/templates/{template_id}", json=bad).status_code == 400
    assert put(ada, f"/templates/{template_id}/import", files={"file": ("a", b"no project")}).status_code == 400
    assert ada.get(f"/templates/{template_id}").json() == before
    ada.delete(f"/templates/{template_id}")
    assert put(ada, f"/templates/{template_id}", json=text_body("Late")).status_code == 404


def test_a_version_counts_in_the_storage_of_its_account(world: World) -> None:
    ada = world.account()
    template_id = ada.template()
    world.limit(ada.account_id, maxStorageBytes=1)
    answer = put(ada, f"/templates/{template_id}", json=text_body("New"))
    assert (answer.status_code, answer.json()["kind"]) == (403, "storage_bytes")
    assert ada.get(f"/templates/{template_id}").json()["name"] == "Card"


def test_former_versions_that_waiting_renders_may_need_are_limited(world: World) -> None:
    ada = world.account()
    template_id = ada.template()
    world.database.execute(
        "INSERT INTO template_versions (template_id, version, account_id, inputs, targets, duration_seconds, document_key,"
        " replaced_at) SELECT %s, n + 1000, %s, '[]', '{}', 1, 'documents/none', now() FROM generate_series(1, %s) AS n",
        (template_id, ada.account_id, FORMER_VERSIONS_MAX),
    )
    answer = put(ada, f"/templates/{template_id}", json=text_body("New"))
    assert answer.status_code == 409
    assert "former versions" in answer.json()["message"]


def test_a_former_version_is_restored_as_a_new_one(own_world: World) -> None:
    ada, eve = own_world.account(), own_world.account("eve")
    first = ada.post("/templates", json=text_body("Old")).json()
    path = f"/templates/{first['id']}"
    assert ada.get(f"{path}/versions").json() == {"items": [], "total": 0, "limit": 50, "offset": 0}
    own_world.clock.advance(1)
    wrong = put(ada, path, json=template_body(name="Wrong", width=200, fps=24, durationSeconds=2)).json()
    (kept,) = ada.get(f"{path}/versions").json()["items"]
    shown = ("width", "height", "fps", "durationSeconds", "inputs")
    assert kept == {name: first[name] for name in shown} | {"version": 1, "replacedAt": wrong["updatedAt"]}
    assert ada.render(first["id"]).status_code == 201

    restored = ada.post(f"{path}/versions/1/restore")
    assert restored.status_code == 200
    made = restored.json()
    assert "Input 'photo' is gone: requests with it are refused." in made.pop("warnings")
    assert made.pop("requiredInputs") == []
    assert ada.get(path).json() == made
    assert {name: made[name] for name in shown} == {name: first[name] for name in shown}
    assert (made["id"], made["name"], made["version"]) == (first["id"], "Wrong", 3)
    assert ada.render(first["id"], inputs={"headline": "a"}).status_code == 201
    assert versions(own_world, first["id"]) == [2, 3]
    listed = ada.get(f"{path}/versions", params={"limit": 1}).json()
    assert ([one["version"] for one in listed["items"]], listed["total"]) == ([2], 2)

    for caller, version in ((eve, 1), (ada, 3), (ada, 9)):
        assert caller.post(f"{path}/versions/{version}/restore").status_code == 404
        assert caller.delete(f"{path}/versions/{version}").status_code == 404
    assert eve.get(f"{path}/versions").status_code == 404
    for invalid in ("0", "x", 2**31):
        assert ada.post(f"{path}/versions/{invalid}/restore").status_code == 400
    assert ada.delete(f"{path}/versions/1").json() == {"deleted": True}
    assert ada.post(f"{path}/versions/1/restore").status_code == 404
    assert [one["version"] for one in ada.get(f"{path}/versions").json()["items"]] == [2]
    ada.delete(path)
    assert ada.get(f"{path}/versions").status_code == 404
    assert ada.post(f"{path}/versions/2/restore").status_code == 404


def test_a_version_is_restored_while_a_replacement_forgets_it(own_world: World) -> None:
    ada = own_world.account()
    template_id = ada.post("/templates", json=text_body("Old")).json()["id"]
    path = f"/templates/{template_id}"
    assert put(ada, path, json=text_body("New")).status_code == 200
    url = str(own_world.settings.database_url)
    with psycopg.connect(url) as replacement, ThreadPoolExecutor(1) as threads:  # it locks the rows in this order
        replacement.execute("SELECT 1 FROM templates WHERE id = %s FOR NO KEY UPDATE", (template_id,))
        answer = threads.submit(ada.post, f"{path}/versions/1/restore")
        until_waiting(url, 1, answer.done)
        replacement.execute(
            "UPDATE template_versions SET restorable = false WHERE template_id = %s AND version = 1", (template_id,)
        )
        replacement.commit()
        assert answer.result(HANG_SECONDS).status_code == 404
    assert ada.get(path).json()["version"] == 2


def test_a_large_project_replaces_a_template_by_import_only(world: World) -> None:
    ada = world.account()
    template_id = ada.template()
    note = base64.b64encode(random.Random(1).randbytes(12_000_000)).decode()  # 12 MB zipped, too
    large = {**NEW, "comps": {"comp_root": {**NEW["comps"]["comp_root"], "note": note}}}
    assert put(ada, f"/templates/{template_id}", json=text_body("New", document=large)).status_code == 413
    imported(ada, "PUT", f"/templates/{template_id}/import", large)
