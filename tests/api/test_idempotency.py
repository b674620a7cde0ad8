"""`Idempotency-Key`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.world import World

pytestmark = pytest.mark.service
KEY = {"Idempotency-Key": "order-1234"}


def test_a_repeat_returns_the_original_job(world: World) -> None:
    ada = world.account()
    template = ada.template()
    first = ada.render(template, headers=KEY)
    again = ada.render(template, headers=KEY)
    assert (again.status_code, again.json()) == (201, first.json())
    world.move(first.json()["jobId"], "processing")
    assert ada.render(template, headers=KEY).json() == {**first.json(), "status": "processing"}
    assert ada.get("/renders").json()["total"] == 1
    assert ada.usage()["renderJobs"] == 1


def test_a_repeat_costs_nothing_and_outlives_template_and_quota(world: World) -> None:
    ada = world.account(monthlyRenderMinutes=0.05)
    template = ada.template()
    first = ada.render(template, headers=KEY).json()
    ada.delete(f"/templates/{template}")
    assert ada.render(template, headers=KEY).json() == first


def test_another_body_with_the_key_is_a_conflict(world: World) -> None:
    ada = world.account()
    template = ada.template()
    ada.render(template, headers=KEY)
    answer = ada.render(template, headers=KEY, output={"width": 128})
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")


def test_keys_are_scoped_to_the_account(world: World) -> None:
    ada, bob = world.account(), world.account("bob")
    first = ada.render(ada.template(), headers=KEY).json()["jobId"]
    other = bob.render(bob.template(), headers=KEY).json()["jobId"]
    assert first != other


def test_without_a_key_every_request_is_a_new_job(world: World) -> None:
    ada = world.account()
    template = ada.template()
    assert ada.render(template).json()["jobId"] != ada.render(template).json()["jobId"]


def test_a_malformed_key_is_refused(world: World) -> None:
    ada = world.account()
    template = ada.template()
    for key in ("", "short", "x" * 129, "white space", 'quoted"key', "slash/slash", "comma,comma"):
        answer = ada.render(template, headers={"Idempotency-Key": key})
        assert answer.status_code == 400, key
        rule = {"field": "Idempotency-Key", "message": "must be 8 to 128 characters from A-Z a-z 0-9 . _ : -"}
        assert answer.json()["errors"] == [rule]
        answer = ada.render(template, headers={"Idempotency-Key": key}, inputs={"nope": 1}, output={"fps": 0})
        fields = {one["field"] for one in answer.json()["errors"]}
        assert fields == {"Idempotency-Key", "nope", "photo", "output.fps"}
    batch = {"templateId": template, "rows": [{"inputs": {}}], "output": {"fps": 0}}
    answer = ada.post("/batches", json=batch, headers={"Idempotency-Key": "short"})
    fields = {one["field"] for one in answer.json()["errors"]}
    assert fields == {"Idempotency-Key", "output.fps", "rows.0.photo"}
    for key in ("a.b_c:d-", "x" * 128, "ABCdef12"):
        assert ada.render(template, headers={"Idempotency-Key": key}).status_code == 201, key


def test_a_refused_request_does_not_use_the_key_up(world: World) -> None:
    ada = world.account()
    template = ada.template()
    assert ada.render(template, headers=KEY, inputs={}).status_code == 400
    assert ada.render(template, headers=KEY).status_code == 201


def test_of_racing_repeats_one_job_is_made(world: World) -> None:
    ada = world.account()
    template = ada.template()
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: ada.render(template, headers=KEY), range(12)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["jobId"] for answer in answers}) == 1
    assert ada.usage()["renderJobs"] == 1
