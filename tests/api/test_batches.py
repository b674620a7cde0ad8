"""`/v1/batches` and `/v1/renders/validate`."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.api.test_progress import write
from tests.api.world import Someone, World, document, field, layer, picture, text_template

pytestmark = pytest.mark.service


def rows(*names: Any) -> list[dict[str, Any]]:
    return [{"inputs": {"headline": name}, "metadata": {"line": index}} for index, name in enumerate(names)]


def batch(someone: Someone, template: str, *names: Any, **body: Any) -> Any:
    headers = body.pop("headers", {})
    return someone.post("/batches", json={"templateId": template, "rows": rows(*names), **body}, headers=headers)


def test_a_batch_makes_a_job_for_each_row(own_world: World) -> None:
    ada = own_world.account()
    made = batch(ada, text_template(ada), "A", "B", "C", output={"width": 320, "height": 180})
    assert made.status_code == 201, made.text
    body = made.json()
    assert (body["status"], body["total"], body["totals"]["queued"]) == ("running", 3, 3)
    assert [(item["index"], item["metadata"], item["status"]) for item in body["items"]] == [
        (0, {"line": 0}, "queued"), (1, {"line": 1}, "queued"), (2, {"line": 2}, "queued"),
    ]  # fmt: skip
    assert ada.get("/renders").json()["total"] == 3
    assert ada.usage()["renderJobs"] == 3
    assert ada.usage()["reservedRenderMinutes"] == pytest.approx(3 * 3 / 60)

    own_world.move(body["items"][1]["jobId"], "completed", video_key="results/b.mp4", progress=100)
    found = ada.get(f"/batches/{body['batchId']}?limit=1&offset=1").json()
    assert (found["totals"]["completed"], found["totals"]["queued"], found["progress"]) == (1, 2, 33.3)
    assert [item["videoUrl"] is not None for item in found["items"]] == [True]


def test_an_answer_is_of_one_moment_and_knows_what_runs(own_world: World) -> None:
    ada = own_world.account()
    made = batch(ada, text_template(ada), *[f"Row {n}" for n in range(40)]).json()
    jobs, done = [item["jobId"] for item in made["items"]], threading.Event()

    def complete() -> None:
        for job_id in jobs:
            own_world.move(job_id, "completed", video_key=f"results/{job_id}.mp4", progress=100)
        done.set()

    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(complete)
        while not done.is_set():
            found = ada.get(f"/batches/{made['batchId']}").json()
            counted = Counter(item["status"] for item in found["items"])
            assert {status: number for status, number in found["totals"].items() if number} == counted
            assert found["progress"] == round(sum(item["progress"] for item in found["items"]) / 40, 1)
        ending.result()


def test_the_progress_of_a_batch_moves_while_a_job_runs(own_world: World) -> None:
    ada = own_world.account()
    made = batch(ada, text_template(ada), "A", "B").json()
    job_id = made["items"][1]["jobId"]
    own_world.move(job_id, "processing")
    write(own_world, ada, job_id, 50)
    found = ada.get(f"/batches/{made['batchId']}?limit=1").json()
    assert (found["items"][0]["progress"], found["progress"]) == (0, 25)


def test_every_fault_of_every_row_is_named_and_nothing_is_queued(world: World) -> None:
    ada = world.account()
    template = text_template(ada)
    answer = ada.post(
        "/batches",
        json={
            "templateId": template, "callbackUrl": "http://localhost/",
            "rows": [{"inputs": {"headline": "A"}}, {"inputs": {"headline": 7, "x": 1}}, {"inputs": [], "metadata": 3}],
        },
    )  # fmt: skip
    assert answer.status_code == 400, answer.text
    assert {one["field"] for one in answer.json()["errors"]} == {
        "callbackUrl", "rows.1.headline", "rows.1.x", "rows.2.inputs", "rows.2.metadata",
    }  # fmt: skip
    assert ada.get("/renders").json()["total"] == 0


def test_a_field_that_a_row_does_not_have_is_named(world: World) -> None:
    ada = world.account()
    wanted = {"templateId": text_template(ada), "rows": [{"headline": "A"}, {"input": {"headline": "B"}}]}
    refused = ada.post("/batches", json=wanted)
    assert {one["field"]: one["message"] for one in refused.json()["errors"]} == {
        "rows.0.headline": "is not a field of this request",
        "rows.1.input": "is not a field of this request; did you mean inputs?",
    }
    some = {**wanted, "rows": [*wanted["rows"], {"inputs": {"headline": "C"}}], "partial": True}
    made = ada.post("/batches", json=some).json()
    assert (made["totals"]["queued"], made["totals"]["refused"]) == (1, 2)


def test_rows_without_faults_may_go_ahead(world: World) -> None:
    ada = world.account()
    made = batch(ada, text_template(ada), "A", 7, "C", partial=True).json()
    assert (made["totals"]["queued"], made["totals"]["refused"], made["total"]) == (2, 1, 3)
    assert [(item["index"], item["status"]) for item in made["items"]] == [(0, "queued"), (2, "queued"), (1, "refused")]
    assert made["items"][2]["errors"] == [{"field": "headline", "message": "must be a string"}]
    assert batch(ada, text_template(ada), 7, 8, partial=True).status_code == 400
    assert batch(ada, text_template(ada), "A", 7, partial=None).status_code == 400, "null is the default"
    assert batch(ada, text_template(ada), "A", partial=None).status_code == 201


def test_a_batch_is_bounded_and_needs_its_fields(world: World) -> None:
    ada = world.account()
    template = text_template(ada)
    bodies: list[dict[str, Any]] = [
        {"templateId": template, "rows": []},
        {"templateId": template, "rows": [{}] * 1001},
        {"rows": [{}]},
    ]
    for body in bodies:
        assert ada.post("/batches", json=body).status_code == 400
    refused = ada.post("/batches", json={"templateId": template, "row": [{}], "rows": [{}]})
    assert "did you mean rows?" in refused.text


def test_a_repeat_returns_the_batch_and_another_body_is_a_conflict(own_world: World) -> None:
    ada = own_world.account()
    template, headers = text_template(ada), {"Idempotency-Key": "batch-0001"}
    with ThreadPoolExecutor(4) as pool:
        ids = {
            answer.json()["batchId"]
            for answer in pool.map(lambda _: batch(ada, template, "A", "B", headers=headers), range(4))
        }
    assert len(ids) == 1
    assert ada.get("/renders").json()["total"] == 2
    assert batch(ada, template, "A", headers=headers).json()["code"] == "idempotency_conflict"
    eve = own_world.account("eve")
    assert batch(eve, text_template(eve), "A", headers=headers).status_code == 201, "keys are scoped to the account"


def test_the_minutes_of_all_rows_must_fit(world: World) -> None:
    ada = world.account(monthlyRenderMinutes=0.1)
    template = text_template(ada)
    refused = batch(ada, template, "A", "B", "C")
    assert (refused.status_code, refused.json()["code"]) == (403, "quota_exceeded")
    assert ada.get("/renders").json()["total"] == 0
    assert batch(ada, template, "A", "B").status_code == 201


def test_a_batch_is_cancelled_as_a_whole(own_world: World) -> None:
    ada = own_world.account()
    made = batch(ada, text_template(ada), "A", "B", "C").json()
    own_world.move(made["items"][0]["jobId"], "completed", video_key="results/a.mp4", progress=100)
    assert ada.post(f"/batches/{made['batchId']}/cancel").json() == {"batchId": made["batchId"], "cancelled": 2}
    found = ada.get(f"/batches/{made['batchId']}").json()
    assert (found["status"], found["totals"]["completed"], found["totals"]["cancelled"]) == ("ended", 1, 2)
    assert ada.usage()["reservedRenderMinutes"] == 0


@pytest.mark.usefixtures("long_window")
def test_batches_belong_to_their_account_and_are_limited(start: Any) -> None:
    limited = start(batches_per_minute=1)
    ada, eve = limited.account(), limited.account("eve")
    template = text_template(ada)
    made = batch(ada, template, "A").json()["batchId"]
    assert eve.get(f"/batches/{made}").status_code == eve.post(f"/batches/{made}/cancel").status_code == 404
    assert batch(eve, template, "A").status_code == 404
    assert batch(ada, template, "A").status_code == 429


def test_a_thousand_rows_are_one_request(own_world: World) -> None:
    ada = own_world.account(monthlyRenderMinutes=None)
    made = batch(ada, text_template(ada), *(f"Row {number}" for number in range(1000)))
    assert made.status_code == 201, made.text
    assert made.json()["totals"]["queued"] == 1000
    assert ada.get(f"/batches/{made.json()['batchId']}?limit=100&offset=900").json()["items"][-1]["index"] == 999


def test_validation_names_faults_minutes_and_warnings_and_queues_nothing(own_world: World) -> None:
    ada = own_world.account()
    template = ada.template()
    wrong = ada.post("/renders/validate", json={"templateId": template, "inputs": {"size": "x", "tint": "reddish"}})
    assert wrong.status_code == 200, wrong.text
    assert not wrong.json()["valid"]
    assert {one["field"] for one in wrong.json()["errors"]} == {"size", "tint", "photo"}

    body = {"templateId": template, "inputs": {"photo": "https://media.example.com/photo.png"}}
    good = ada.post("/renders/validate", json=body).json()
    assert good == {
        "valid": True, "errors": [], "renderMinutes": 0.05, "remainingMinutes": 60, "expectedSeconds": None, "warnings": [],
    }  # fmt: skip
    job = ada.render(template).json()["jobId"]
    own_world.move(job, "completed", video_key="results/a.mp4", render_duration_ms=4000)
    small = ada.post("/renders/validate", json={**body, "output": {"width": 320, "height": 180}}).json()
    assert small["expectedSeconds"] == 1
    assert ada.get("/renders").json()["total"] == 1
    assert ada.post("/renders/validate", json={"templateId": "tpl_none", "inputs": {}}).status_code == 404


def test_validation_expects_the_time_of_a_long_video(own_world: World) -> None:
    """An hour at 4096 x 2304 has more pixels than 32 bits count."""
    ada = own_world.account(monthlyRenderMinutes=None)
    large = {"output": {"width": 4096, "height": 2304, "fps": 60}}
    template = ada.template(durationSeconds=3600)
    job = ada.render(template, **large).json()["jobId"]
    own_world.move(job, "completed", video_key="results/a.mp4", render_duration_ms=4000)
    body = {"templateId": template, "inputs": {"photo": "https://media.example.com/photo.png"}, **large}
    answer = ada.post("/renders/validate", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["expectedSeconds"] == 4


def test_an_optional_picture_without_a_value_is_named_where_its_layer_has_no_source(world: World) -> None:
    ada = world.account()
    card = document(layer("n1", "Logo", "image"), fields=[field("logo", "image", "n1", "Transform", "src")])
    optional = [{"id": "logo", "label": "Logo", "kind": "image", "required": False}]
    template = ada.template(document=card, inputs=optional)
    expected = {"code": "media_missing", "message": "Layer “Logo” shows nothing: it has no source.", "layer": "Logo"}
    for inputs, warnings in (({}, [expected]), ({"logo": ada.upload(picture()).json()["url"]}, [])):
        answer = ada.post("/renders/validate", json={"templateId": template, "inputs": inputs}).json()
        assert (answer["valid"], answer["warnings"]) == (True, warnings)
