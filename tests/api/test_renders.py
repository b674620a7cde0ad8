"""`/v1/renders`: creating, reading, cancelling."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.api.world import World, picture

pytestmark = pytest.mark.service
PHOTO = {"photo": "https://media.example.com/photo.png"}


def errors(answer: Any) -> dict[str, str]:
    assert answer.status_code == 400, answer.text
    assert answer.json()["message"] == "Invalid inputs."
    return {one["field"]: one["message"] for one in answer.json()["errors"]}


def test_a_render_is_queued_and_read_back(own_world: World) -> None:
    ada = own_world.account()
    answer = ada.render(ada.template())
    assert answer.status_code == 201
    assert set(answer.json()) == {"jobId", "status"}
    assert answer.json()["status"] == "queued"
    job = ada.get(f"/renders/{answer.json()['jobId']}").json()
    assert job == {
        "jobId": answer.json()["jobId"], "status": "queued", "progress": 0, "videoUrl": None, "error": None,
        "createdAt": "2026-01-01T00:00:00.000Z",
    }  # fmt: skip


def test_renders_begin_with_the_priority_that_an_operator_gave_the_account(world: World) -> None:
    ada = world.account()
    world.database.execute("UPDATE accounts SET job_priority = 3 WHERE id = %s", (ada.account_id,))
    rows = [{"inputs": {"photo": "https://media.example.com/photo.png"}}]
    answer = ada.post("/batches", json={"templateId": ada.template(), "rows": rows})
    assert answer.status_code == 201, answer.text
    ada.job()
    found = world.database.execute("SELECT priority FROM jobs WHERE account_id = %s", (ada.account_id,)).fetchall()
    assert found == [(3,), (3,)]


def test_a_request_gives_a_priority_up_to_what_the_operator_allows(world: World) -> None:
    ada = world.account()
    template, rows = ada.template(), [{"inputs": PHOTO}]
    low = ada.render(template, priority=-10)
    assert low.status_code == 201, low.text
    for path in ("/renders", "/renders/validate"):
        body = {"templateId": template, "inputs": PHOTO, "priority": 1}
        (fault,) = ada.post(path, json=body).json()["errors"]
        assert (
            fault["field"] == "priority"
            and "from -10 to 0" in fault["message"]
            and "--job-priority" in fault["message"]
        )
    assert set(errors(ada.post("/batches", json={"templateId": template, "rows": rows, "priority": 1}))) == {"priority"}
    for wrong in (-11, "0", True, 0.5, [0]):
        assert set(errors(ada.render(template, priority=wrong))) == {"priority"}

    world.database.execute("UPDATE accounts SET job_priority = 3 WHERE id = %s", (ada.account_id,))
    assert ada.post("/batches", json={"templateId": template, "rows": rows, "priority": 3}).status_code == 201
    assert ada.render(template, priority=None).status_code == 201
    assert ada.render(template, priority=-2.0).status_code == 201
    assert set(errors(ada.render(template, priority=4))) == {"priority"}
    found = world.database.execute(
        "SELECT priority FROM jobs WHERE account_id = %s ORDER BY created_at", (ada.account_id,)
    ).fetchall()
    assert found == [(-10,), (3,), (3,), (-2,)]


def test_every_fault_is_named_at_once_and_nothing_is_queued(world: World) -> None:
    ada = world.account()
    answer = ada.render(
        ada.template(),
        inputs={"headline": 7, "size": "12", "tint": ["red"], "photo": "http://192.168.0.1/x.png", "extra": "?"},
        output={"format": "webm", "width": 63, "height": 4097, "fps": 0},
        callbackUrl="http://localhost/hook",
    )
    assert set(errors(answer)) == {
        "headline", "size", "tint", "photo", "extra", "output.format", "output.width", "output.height", "output.fps",
        "callbackUrl",
    }  # fmt: skip
    assert ada.get("/renders").json()["total"] == 0
    assert ada.usage()["reservedRenderMinutes"] == 0


@pytest.mark.parametrize(
    ("inputs", "field", "words"),
    [
        ({}, "photo", "required"),
        ({"photo": ""}, "photo", "required"),
        ({"photo": 5}, "photo", "must be a string"),
        ({"photo": None}, "photo", ""),
        ({"photo": "ftp://media.example.com/x"}, "photo", "public http(s) URL"),
        ({"photo": "http://private.example.com/x"}, "photo", "private address"),
        ({"photo": "http://[::1]/x"}, "photo", "IPv6"),
        ({"photo": "/files/assets/x.png"}, "photo", "public http(s) URL"),
        ({"photo": "photo.png"}, "photo", "POST /v1/assets uploads a file"),
        ({**PHOTO, "size": True}, "size", "must be a number"),
        ({**PHOTO, "size": "7"}, "size", "must be a number"),
        ({**PHOTO, "headline": None}, "headline", "null"),
        ({**PHOTO, "Headline": "x"}, "Headline", "not an input"),
        ([], "inputs", "must be an object"),
        ("x", "inputs", "must be an object"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(world: World, inputs: Any, field: str, words: str) -> None:
    ada = world.account()
    assert words in errors(ada.render(ada.template(), inputs=inputs))[field]


def test_a_text_that_looks_like_a_url_is_text(world: World) -> None:
    ada = world.account()
    inputs = {**PHOTO, "headline": "http://127.0.0.1/", "size": 12.5, "tint": "#ff0000"}
    assert ada.render(ada.template(), inputs=inputs).status_code == 201


def test_a_name_that_does_not_resolve_now_is_left_to_the_fetch(world: World) -> None:
    ada = world.account()
    assert ada.render(ada.template(), inputs={"photo": "https://unknown.example.com/x.png"}).status_code == 201


@pytest.mark.parametrize(
    ("output", "fields"),
    [
        ({"width": 64, "height": 64, "fps": 1}, set()),
        ({"width": 4096, "height": 3906, "fps": 120, "format": "mp4"}, set()),
        ({"width": 4096, "height": 4096}, {"output"}),
        ({"width": 640.5}, {"output.width"}),
        ({"width": "640"}, {"output.width"}),
        ({"width": True}, {"output.width"}),
        ({"width": 64.5, "height": 360.0, "fps": 30.0}, {"output.width"}),
        ({"width": 640.0, "height": 360.0, "fps": 30.0}, set()),
        ({"fps": 29.97}, {"output.fps"}),
        ({"fps": 121}, {"output.fps"}),
        ("mp4", {"output"}),
        ({"widht": 640, "height": 1}, {"output.widht", "output.height"}),
        ({}, set()),
        (None, set()),
    ],
)
def test_output_sizes_and_rates_have_limits(world: World, output: Any, fields: set[str]) -> None:
    ada = world.account()
    answer = ada.render(ada.template(), output=output)
    if fields:
        assert set(errors(answer)) == fields
    else:
        assert answer.status_code == 201, answer.text


def test_the_output_defaults_to_the_templates_own(own_world: World) -> None:
    ada = own_world.account()
    template = ada.template()
    ada.render(template)
    ada.render(template, output={"width": 128, "fps": 10})
    rows = own_world.database.execute("SELECT width, height, fps, frame_count FROM jobs ORDER BY id").fetchall()
    assert rows == [(640, 360, 30, 90), (128, 360, 10, 30)]


def test_a_template_larger_than_any_output_needs_an_output(world: World) -> None:
    ada = world.account()
    template = ada.template(width=8192, height=100)
    assert set(errors(ada.render(template))) == {"output.width"}
    assert ada.render(template, output={"width": 4096}).status_code == 201


def test_the_limits_of_an_output_hold_for_the_templates_own_size_and_rate(world: World) -> None:
    ada = world.account()
    template = ada.template(width=0.4, height=63, fps=240)
    assert set(errors(ada.render(template))) == {"output.width", "output.height", "output.fps"}
    assert set(errors(ada.render(template, output={"width": 64, "height": 64}))) == {"output.fps"}
    assert ada.render(template, output={"width": 64, "height": 64, "fps": 120}).status_code == 201
    assert ada.render(ada.template(fps=29.97)).status_code == 201
    assert set(errors(ada.render(ada.template(fps=0.5)))) == {"output.fps"}


def test_missing_and_malformed_fields_are_named(world: World) -> None:
    ada = world.account()
    answer = ada.post("/renders", json={})
    assert answer.status_code == 400
    assert {one["field"] for one in answer.json()["errors"]} == {"templateId", "inputs"}
    assert ada.post("/renders", json=[]).status_code == 400
    rest = {"output": {"width": 1, "fps": 0.5}, "callbackUrl": "http://localhost/"}
    faulty_fields = {"output.width", "output.fps", "callbackUrl"}
    for wrong in (None, 7, ["x"]):
        answer = ada.post("/renders", json={"templateId": wrong, "inputs": {}, **rest})
        assert set(errors(answer)) == {"templateId"} | faulty_fields
    assert set(errors(ada.post("/renders", json={"templateId": ada.template(), **rest}))) == {"inputs"} | faulty_fields
    assert set(errors(ada.post("/renders", json=rest))) == {"templateId", "inputs"} | faulty_fields


def test_a_text_that_cannot_be_stored_is_named_with_all_other_faults(world: World) -> None:
    ada = world.account()
    inputs = {"headline": "a\x07b", "size": "7", "photo": "https://media.example.com/\x00.png", "nothing": "\x01"}
    answer = ada.render(ada.template(), inputs=inputs, output={"width": 1})
    assert answer.json()["message"] == "Invalid inputs."
    faults = errors(answer)
    assert set(faults) == {"headline", "size", "photo", "nothing", "output.width"}
    assert faults["headline"] == "holds the control character U+0007, which no field can hold"
    line_breaks = {**PHOTO, "headline": "two\nlines\tand a tab"}
    assert ada.render(ada.template(), inputs=line_breaks).status_code == 201
    rows = [{"inputs": PHOTO}, {"inputs": {**PHOTO, "headline": "\x7f"}}]
    batch = ada.post("/batches", json={"templateId": ada.template(), "rows": rows})
    assert set(errors(batch)) == {"rows.1.headline"}


def test_the_body_is_checked_before_an_unknown_template(world: World) -> None:
    ada = world.account()
    for rest, fields in (
        ({"output": {"width": 1}}, {"output.width"}),
        ({"output": 7, "callbackUrl": "http://localhost/"}, {"output", "callbackUrl"}),
        ({"metadata": 7, "templateID": "x"}, {"metadata", "templateID"}),
        ({"inputs": {"a": [], "b": {}, "c": True, "d": None, "e": "fine", "f": 1.5}}, {"a", "b", "c", "d"}),
    ):
        body = {"templateId": "tpl_none", "inputs": {}, **rest}
        answer = ada.post("/renders", json=body)
        assert (answer.status_code, set(errors(answer))) == (400, fields)
        assert {one["field"] for one in ada.post("/renders/validate", json=body).json()["errors"]} == fields
    batch = {"templateId": "tpl_none", "rows": [{"inputs": {}}]}
    assert ada.post("/batches", json={**batch, "output": {"fps": 0}}).status_code == 400
    assert ada.post("/batches", json=batch).status_code == 404
    assert ada.post("/renders", json={"templateId": "tpl_none", "inputs": {}}).status_code == 404


def test_fields_have_the_interfaces_names_and_no_others(world: World) -> None:
    ada = world.account()
    answer = ada.post(
        "/renders", json={"template_id": ada.template(), "inputs": {}, "callback_url": "http://localhost/"}
    )
    faults = errors(answer)
    assert set(faults) == {"templateId", "template_id", "callback_url"}
    assert faults["callback_url"] == "is not a field of this request; did you mean callbackUrl?"
    refused = ada.post("/keys", json={"expires_at": "2020-01-01T00:00:00Z", "sort": 1})
    assert refused.status_code == 400
    assert {one["field"]: one["message"] for one in refused.json()["errors"]} == {
        "expires_at": "is not a field of this request; did you mean expiresAt?",
        "sort": "is not a field of this request",
    }
    assert ada.get("/keys").json()["total"] == 0


def test_a_template_of_another_account_is_not_there(world: World) -> None:
    ada, bob = world.account(), world.account("bob")
    template = ada.template()
    for wanted in (template, "tpl_none", "../x", "\u00e4", "x" * 300):
        assert bob.render(wanted).status_code == 404


def test_a_deleted_template_is_not_there_but_its_jobs_stay(world: World) -> None:
    ada = world.account()
    template = ada.template()
    job = ada.render(template).json()["jobId"]
    ada.delete(f"/templates/{template}")
    assert ada.render(template).status_code == 404
    assert ada.get(f"/renders/{job}").json()["status"] == "queued"


def test_creations_do_not_wait_for_one_anothers_connections(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.app.POOL_CONNECTIONS", 1)
    ada = start().account()
    template, photo = ada.template(), ada.upload(picture()).json()["url"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ada.render(template, inputs={"photo": photo}), range(16)))
    assert [answer.status_code for answer in answers] == [201] * 16


def test_renders_are_listed_newest_first_in_pages(own_world: World) -> None:
    ada = own_world.account()
    template = ada.template()
    jobs = []
    for _ in range(5):
        jobs.append(ada.render(template).json()["jobId"])
        own_world.clock.advance(1)
    page = ada.get("/renders", params={"limit": 2, "offset": 1}).json()
    assert [one["jobId"] for one in page["items"]] == [jobs[3], jobs[2]]
    assert (page["total"], page["limit"], page["offset"]) == (5, 2, 1)
    whole = ada.get("/renders").json()
    assert (whole["limit"], whole["offset"], len(whole["items"])) == (50, 0, 5)
    assert ada.get("/renders", params={"offset": 100}).json()["items"] == []


def test_a_page_out_of_bounds_is_refused(world: World) -> None:
    ada = world.account()
    for path in ("/renders", "/templates", "/keys", "/animations"):
        for query in (
            "limit=0", "limit=101", "limit=x", "offset=-1", "limit=1.5", "offset=99999999999999", "limit=5.0",
            "limit=1_0", "offset=1_0", "limit=%205", "limit=", "limit=" + "1" * 50,
        ):  # fmt: skip
            assert ada.get(f"{path}?{query}").status_code == 400, (path, query)


def test_another_accounts_job_is_not_there(world: World) -> None:
    ada, bob = world.account(), world.account("bob")
    job = ada.job()
    for caller, wanted in ((bob, job), (ada, "job_none"), (ada, "%00"), (ada, "a b")):
        assert caller.get(f"/renders/{wanted}").status_code == 404
        assert caller.post(f"/renders/{wanted}/cancel").status_code == 404
        assert caller.get(f"/renders/{wanted}/download").status_code == 404
    assert bob.get("/renders").json()["total"] == 0


def test_a_job_that_has_not_ended_is_cancelled(world: World) -> None:
    ada = world.account()
    queued, processing = ada.job(), ada.job()
    world.move(processing, "processing", progress=40)
    for job in (queued, processing):
        answer = ada.post(f"/renders/{job}/cancel")
        assert answer.status_code == 200
        assert answer.json() == {"jobId": job, "status": "cancelled"}
        assert ada.get(f"/renders/{job}").json()["status"] == "cancelled"
    assert ada.usage()["reservedRenderMinutes"] == 0


@pytest.mark.parametrize(
    ("status", "columns"),
    [("completed", {"video_key": "v/a.mp4", "progress": 100}), ("failed", {"error": "It broke."}), ("cancelled", {})],
)
def test_cancelling_a_job_that_has_ended_changes_nothing(world: World, status: str, columns: dict[str, Any]) -> None:
    ada = world.account()
    job = ada.job()
    world.move(job, status, **columns)
    before = ada.get(f"/renders/{job}").json()
    assert ada.post(f"/renders/{job}/cancel").json() == {"jobId": job, "status": status}
    assert ada.get(f"/renders/{job}").json() == before


def test_cancelling_sends_one_webhook_and_records_the_event(own_world: World) -> None:
    ada = own_world.account()
    job = ada.job(callbackUrl="https://hooks.example.com/done")
    for _ in range(3):
        ada.post(f"/renders/{job}/cancel")
    rows = own_world.database.execute("SELECT url, body, status FROM deliveries").fetchall()
    body = {"jobId": job, "status": "cancelled", "videoUrl": None, "error": None, "renderDurationMs": None}
    assert rows == [("https://hooks.example.com/done", body, "due")]
    events = own_world.database.execute("SELECT event FROM job_events WHERE job_id = %s ORDER BY id", (job,)).fetchall()
    assert [event for (event,) in events] == ["create", "cancel"]


@pytest.mark.parametrize("color", ["red", "#f00", "#FF0000", "#ff000080", "rgb(1, 2, 3)", "hsl(120deg 50% 50% / 0.5)"])
def test_a_colour_may_have_any_form_of_css(world: World, color: str) -> None:
    ada = world.account()
    assert ada.render(ada.template(), inputs={**PHOTO, "tint": color}).status_code == 201


@pytest.mark.parametrize("color", ["", "reddish", "#ff", "ff0000", "rgb(1,2)", "url(#a)"])
def test_an_invalid_colour_is_refused_with_the_valid_forms(world: World, color: str) -> None:
    ada = world.account()
    answer = ada.render(ada.template(), inputs={**PHOTO, "tint": color})
    assert "#rrggbb" in errors(answer)["tint"]


def test_metadata_comes_back_with_the_job_and_is_bounded(world: World) -> None:
    ada = world.account()
    template, held = ada.template(), {"order": 17, "tags": ["a"]}
    job = ada.render(template, metadata=held).json()["jobId"]
    assert ada.get(f"/renders/{job}").json()["metadata"] == held
    assert ada.get("/renders").json()["items"][0]["metadata"] == held
    assert set(errors(ada.render(template, metadata=["a"]))) == {"metadata"}
    assert set(errors(ada.render(template, metadata={"a": "x" * 5000}))) == {"metadata"}


def test_a_job_names_what_its_video_leaves_out(own_world: World) -> None:
    ada = own_world.account()
    job = ada.job()
    notice = {"code": "sound_not_rendered", "message": "The sound of layer “Music” is not rendered.", "layer": "Music"}
    own_world.move(job, "completed", video_key="results/x.mp4", warnings=json.dumps([notice]))
    assert ada.get(f"/renders/{job}").json()["warnings"] == [notice]
