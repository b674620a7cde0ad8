"""Storage that counts against an account, and its limit."""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from farm_core.audit.log import Actor, Role
from farm_core.controls import jobs
from farm_core.db.database import Database
from farm_core.storage import disk_space
from farm_core.usage import stored as stored_objects
from tests.api import media
from tests.api.world import Someone, World, picture, template_body, text_template
from tests.sent_statements import sent_statements

pytestmark = pytest.mark.service


def stored(someone: Someone) -> int:
    """Return the account's stored total. Assert that it equals the sum of its objects."""
    ((total,),) = someone.world.database.execute(
        "SELECT coalesce(sum(bytes), 0) FROM object_charges WHERE account_id = %s", (someone.account_id,)
    ).fetchall()
    ((shown,),) = someone.world.database.execute(
        "SELECT coalesce(sum(stored_bytes), 0) FROM account_queues WHERE account_id = %s", (someone.account_id,)
    ).fetchall()
    assert shown == total
    return int(shown)


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    body = answer.json()
    assert "storage is full" in body["message"]
    return answer.status_code, body["code"], body["kind"]


FULL = (403, "quota_exceeded", "storage_bytes")


def test_uploads_count_until_they_are_refused_and_nothing_is_left_of_what_was_refused(own_world: World) -> None:
    sound = media.files()["audio/wav"]
    ada = own_world.account(maxStorageBytes=2 * len(sound))
    assert [ada.upload(sound).status_code for _ in range(2)] == [201, 201]
    answer = ada.upload(picture())
    assert refusal(answer) == FULL
    assert (answer.json()["limit"], answer.json()["used"]) == (2 * len(sound), 2 * len(sound))
    assert stored(ada) == ada.usage()["assetProcessingBytes"] == 2 * len(sound)
    ((rows,),) = own_world.database.execute("SELECT count(*) FROM assets").fetchall()
    assert rows == 2
    assert own_world.account().upload(picture()).status_code == 201, "another account's storage is its own"


def test_of_uploads_at_once_exactly_those_that_fit_are_taken(own_world: World) -> None:
    sound = media.files()["audio/wav"]
    ada = own_world.account(maxStorageBytes=3 * len(sound))
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: ada.upload(sound).status_code, range(8)))
    assert sorted(statuses) == [201] * 3 + [403] * 5
    assert stored(ada) == 3 * len(sound)
    objects = list((own_world.settings.data_folder / "storage" / "objects" / "assets").rglob("*.wav"))
    assert len(objects) == 3, "refused uploads leave no object behind"


def test_templates_count_their_documents_and_one_document_counts_once(world: World) -> None:
    ada = world.account()
    ada.template()
    once = stored(ada)
    ada.template()
    assert stored(ada) == once > 0
    world.limit(ada.account_id, maxStorageBytes=once)
    larger = template_body(document=template_body()["document"] | {"notes": "x" * 1000})
    assert refusal(ada.post("/templates", json=larger)) == FULL
    assert ada.post("/templates", json=template_body()).status_code == 201, "what is stored already needs no room"
    bob = world.account("bob", maxStorageBytes=once - 1)
    assert refusal(bob.post("/templates", json=template_body())) == FULL, "an equal document of another account counts"


def test_presets_count_with_the_size_that_they_have_now(world: World) -> None:
    ada = world.account()

    def put(size: int) -> str:
        answer = ada.post("/animations", json={"name": "Bounce", "animationData": {"a": "x" * size}})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    preset = put(1000)
    assert stored(ada) == 1000 + len('{"a":""}')
    put(200)
    assert stored(ada) == 200 + len('{"a":""}')
    world.limit(ada.account_id, maxStorageBytes=500)
    answer = ada.post("/animations", json={"name": "Bounce", "animationData": {"a": "x" * 1000}})
    assert refusal(answer) == FULL
    assert ada.get(f"/animations/{preset}").json()["version"] == 2, "a refused replacement changes nothing"
    world.limit(ada.account_id, maxStorageBytes=100)
    put(150)
    put(150)
    assert stored(ada) == 150 + len('{"a":""}'), "an account above its limit can store less, and as much"
    assert ada.delete(f"/animations/{preset}").status_code == 200
    assert stored(ada) == 0


def test_a_full_account_creates_no_renders_until_there_is_room(world: World) -> None:
    ada = world.account()
    template = text_template(ada)
    world.limit(ada.account_id, maxStorageBytes=stored(ada))
    for answer in (
        ada.render(template, inputs={}),
        ada.post("/batches", json={"templateId": template, "rows": [{"inputs": {}}]}),
    ):
        assert refusal(answer) == FULL
    world.limit(ada.account_id, maxStorageBytes=None)
    assert ada.render(template, inputs={}).status_code == 201


def test_large_inputs_count_until_their_renders_are_deleted(own_world: World) -> None:
    ada = own_world.account()
    template = text_template(ada)
    before = stored(ada)
    assert ada.render(template, inputs={"headline": "short"}).status_code == 201
    assert stored(ada) == before, "an ordinary render counts with its video alone"
    assert ada.render(template, inputs={"headline": "x" * 5_000}, metadata={"note": "x" * 3_000}).status_code == 201
    rows = [{"inputs": {"headline": letter * 10_000}} for letter in "ab"]
    rows.append({"inputs": {"headline": "c", "y" * 7_000: "no input"}})
    made = ada.post("/batches", json={"templateId": template, "rows": rows, "partial": True})
    assert made.json()["totals"]["refused"] == 1
    assert before + 35_000 < stored(ada) < before + 35_500
    assert ada.post(f"/batches/{made.json()['batchId']}/cancel").json() == {
        "batchId": made.json()["batchId"], "cancelled": 2,
    }  # fmt: skip
    assert stored(ada) > before + 35_000, "cancelled renders are kept for as long as others"
    assert asyncio.run(retry_all(own_world, ada)) == 2
    assert stored(ada) > before + 55_000, "renders that an operator creates again have inputs of their own"
    own_world.limit(ada.account_id, maxStorageBytes=stored(ada) + 10_000)
    for answer in (
        ada.render(template, inputs={"headline": "x" * 20_000}),
        ada.post("/batches", json={"templateId": template, "rows": [{"inputs": {"headline": "x" * 6_000}}] * 2}),
    ):
        assert refusal(answer) == FULL
    assert ada.render(template, inputs={"headline": "short"}).status_code == 201


async def retry_all(world: World, someone: Someone) -> int:
    database = Database(str(world.settings.database_url))
    try:
        return await jobs.retry(database, Actor("olga", Role.operator), jobs.JobFilter(account_id=someone.account_id))
    finally:
        await database.close()


def test_lists_select_no_column_that_they_do_not_show(own_world: World) -> None:
    ada = own_world.account()
    template = ada.template()
    job = ada.render(template).json()["jobId"]
    batch = ada.post("/batches", json={"templateId": text_template(ada), "rows": [{"inputs": {}}]}).json()["batchId"]
    with sent_statements() as statements:
        assert [one["jobId"] for one in ada.get("/renders").json()["items"]][-1] == job
        assert [one["id"] for one in ada.get("/templates").json()["items"]][-1] == template
        assert len(ada.get(f"/batches/{batch}").json()["items"]) == 1
    lists = [one for one in statements if "LIMIT" in one]
    assert len(lists) == 3
    for column in ("jobs.inputs", "jobs.media", "jobs.request_hash", "templates.targets", "templates.document_key"):
        assert not [one for one in lists if column in one], column


def test_a_default_that_cannot_be_fetched_is_not_kept(world: World) -> None:
    body = template_body()
    photo = next(one for one in body["inputs"] if one["id"] == "photo")
    for size, kept in ((100, True), (1_000_000, False)):
        photo["default"] = "https://media.example.com/" + "x" * size
        made = world.account().post("/templates", json=body).json()
        shown = {one["id"]: one for one in made["inputs"]}
        assert ("default" in shown["photo"]) is kept


def test_a_disk_without_its_reserve_takes_no_more_from_an_account_that_fills_it_but_small_files_of_others(
    own_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob, measured = own_world.account(), own_world.account(), shutil.disk_usage
    for one in (ada, bob):
        assert one.upload(picture()).status_code == 201
    assert ada.upload(media.files()["audio/wav"]).status_code == 201
    reserve = stored(ada) - 1000
    monkeypatch.setattr(shutil, "disk_usage", lambda of: measured(of)._replace(total=10 * reserve, free=reserve))
    preset = {"name": "Fade", "animationData": {"a": "x" * 2000}}
    for refused in (
        ada.upload(picture()),
        ada.post("/templates", json=template_body()),
        ada.post("/animations", json=preset),
    ):
        assert refused.status_code == 503
        assert "storage is nearly full" in refused.json()["message"]
    accepted = (
        bob.upload(picture()),
        bob.post("/templates", json=template_body()),
        bob.post("/animations", json=preset),
    )
    assert [answer.status_code for answer in accepted] == [201] * 3
    for small_bytes, status in ((len(picture()), 201), (len(picture()) - 1, 503)):
        monkeypatch.setattr(stored_objects, "SMALL_BYTES", small_bytes)
        assert bob.upload(picture()).status_code == status, "the reserve is for small files"
    monkeypatch.setattr(shutil, "disk_usage", measured)
    assert ada.upload(picture()).status_code == 201


def test_the_only_account_of_a_farm_can_use_the_reserve_of_its_disk(
    own_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, measured = own_world.account(), shutil.disk_usage
    assert ada.upload(picture()).status_code == 201
    monkeypatch.setattr(shutil, "disk_usage", lambda of: measured(of)._replace(total=1_000, free=100))
    monkeypatch.setattr(disk_space, "ROOM_BYTES", 0)
    assert ada.upload(picture()).status_code == 201
    operator = own_world.account("boss")
    own_world.database.execute("UPDATE accounts SET operator = true WHERE id = %s", (operator.account_id,))
    assert ada.upload(picture()).status_code == 201, "operators are no customers"
    own_world.account()
    assert ada.upload(picture()).status_code == 503
