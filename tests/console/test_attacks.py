"""Attacks on the console: access to other accounts, forged requests, scripts in other people's texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier
from typing import Any

import pytest

from console.app import ROUTERS
from tests.api.world import World
from tests.console.people import Person, signed_in

SCRIPT = "<script>alert('in')</script><img src=x onerror=alert(1)>"
OPEN = {"/sign-in", "/enter", "/theme"}
"""Routes that need no session: they sign in, or change only this browser."""
DRAWING = {f"/templates/{{template_id}}/{one}" for one in ("preview", "playground", "check")}
"""Routes that use POST because their forms are long. They change nothing."""
CHANGES = sorted(
    getattr(route, "path", "")
    for router in ROUTERS
    for route in router.routes
    if "POST" in getattr(route, "methods", ()) and getattr(route, "path", "") not in OPEN | DRAWING
)
OPERATOR_PAGES = ("/workers", "/accounts", "/accounts/{account}", "/accounts/{account}/delete", "/audit")
OPERATOR_CHANGES = (
    "/queue/pause", "/workers/drain", "/accounts", "/accounts/{account}/limits", "/accounts/{account}/priority",
    "/accounts/{account}/act/suspend", "/accounts/{account}/act/make-operator", "/accounts/{account}/sign-in-as",
    "/accounts/{account}/delete", "/renders/{job}/webhook", "/renders/{job}/segments/0/requeue",
)  # fmt: skip


@pytest.fixture
def thief(own_world: World) -> Iterator[Person]:
    with signed_in(own_world, "mallory") as person:
        yield person


def own_job(person: Person, status: str = "completed") -> tuple[str, str]:
    template = person.api.template()
    job = str(person.api.render(template).json()["jobId"])
    columns: dict[str, Any] = {"video_key": "results/secret.mp4"} if status == "completed" else {}
    if status != "queued":
        person.api.world.move(job, status, **columns)
    return template, job


def test_the_routes_that_change_things_are_known() -> None:
    assert len(CHANGES) > 15


def test_another_accounts_things_do_not_exist(member: Person, thief: Person) -> None:
    template, job = own_job(member)
    for path in ("", "/row", "/video.mp4", "/receipt.json", "/poster.jpg", "/frame.jpg", "/verify"):
        assert thief.get(f"/renders/{job}{path}").status_code == 404, path
    for path in ("", "/poster.jpg", "/playground", "/preview.jpg"):
        assert thief.get(f"/templates/{template}{path}").status_code == 404, path
    for path in ("/preview", "/check", "/render", "/delete"):
        assert thief.post(f"/templates/{template}{path}").status_code == 404, path
    assert member.get(f"/templates/{template}").status_code == 200


def test_lists_hold_nothing_of_other_accounts(member: Person, thief: Person) -> None:
    template, job = own_job(member, "queued")
    shown = thief.text(f"/renders?account={member.api.account_id}") + thief.text(f"/renders?template={template}")
    shown += thief.text(f"/renders?template={member.api.template(name='Unreleased')}")
    assert job not in shown
    assert "Unreleased" not in shown
    assert job not in thief.text(f"/renders?text={job}")[shown.find("<tbody") :].replace(f'value="{job}"', "")
    assert template not in thief.text("/templates")


@pytest.mark.parametrize("action", ["cancel", "retry"])
def test_actions_reach_the_own_accounts_renders_only(member: Person, thief: Person, action: str) -> None:
    _, job = own_job(member, "queued")
    for form in ({"job": job}, {"scope": "matching"}):
        assert thief.post(f"/renders/actions/{action}?account={member.api.account_id}", **form).status_code == 303
    assert member.api.get(f"/renders/{job}").json()["status"] == "queued"
    assert member.api.get("/renders").json()["total"] == 1


def test_accounts_have_no_pages_and_controls_of_operators(member: Person, operator: Person) -> None:
    _, job = own_job(member, "queued")
    names = {"account": operator.api.account_id, "job": job}
    for path in OPERATOR_PAGES:
        assert member.get(path.format(**names)).status_code == 404, path
        assert operator.get(path.format(**names)).status_code == 200, path
    for path in OPERATOR_CHANGES:
        assert member.post(path.format(**names), worker="w", name="x").status_code == 404, path
    assert member.post("/renders/actions/raise", job=job).status_code == 403


@pytest.mark.parametrize("path", CHANGES)
def test_no_change_is_made_without_the_sessions_own_token(
    shared_operator: Person, shared_member: Person, path: str
) -> None:
    filled = re.sub(r"\{\w+\}", "0", path)
    for given in ({}, {"csrf": "0" * 64}, {"csrf": shared_member.csrf()}):
        kind: dict[str, Any] = {"data": given}
        if filled in ("/templates/import", "/templates/0/replace", "/uploads"):
            kind["files"] = {"file": ("a.png", b"x")}
        assert shared_operator.client.post(f"/console{filled}", **kind).status_code == 403, given
        kind["files"] = {"file": ("a.png", b"x")}  # a form with the content type of uploads, on a route without uploads
        assert shared_operator.client.post(f"/console{filled}", **kind).status_code == 403, given


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}]
)
@pytest.mark.parametrize("path", ["/sign-in", "/enter", "/account/keys", "/renders/actions/cancel"])
def test_requests_of_other_sites_change_nothing(shared_member: Person, path: str, headers: dict[str, str]) -> None:
    form = {"csrf": shared_member.csrf()}
    answer = shared_member.client.post(f"/console{path}", data=form, headers=headers)
    assert answer.status_code == 403


def test_a_read_only_operator_sees_all_and_changes_nothing(own_world: World, member: Person) -> None:
    _, job = own_job(member, "queued")
    with signed_in(own_world, "auditor", operator=True, read_only=True) as reader:
        assert job in reader.text("/renders")
        names = {"account": member.api.account_id, "job": job}
        for path in (*OPERATOR_CHANGES, "/account/keys", "/renders/actions/cancel", "/renders/actions/raise"):
            assert reader.post(path.format(**names), job=job, worker="w", scope="usage:read").status_code == 403, path
        assert reader.post("/sign-out").status_code == 303
    assert member.api.get(f"/renders/{job}").json()["status"] == "queued"


def test_scripts_of_others_are_shown_as_text(operator: Person, member: Person) -> None:
    template = member.api.template(name=SCRIPT, description=SCRIPT)
    job = str(member.api.render(template, callbackUrl="https://hooks.example.com/x").json()["jobId"])
    world = member.api.world
    values = json.dumps({"headline": SCRIPT, "photo": "https://x.example/" + SCRIPT})
    world.database.execute("UPDATE jobs SET inputs = %s WHERE id = %s", (values, job))
    world.move(job, "failed", error=SCRIPT)
    answer = json.dumps([{"at": "2026-01-01T00:00:00+00:00", "status": None, "error": SCRIPT, "ms": 5}])
    world.database.execute(
        "INSERT INTO deliveries (id, job_id, url, body, status, attempt, due_at, attempts, created_at)"
        " VALUES ('dlv_1', %s, %s, %s, 'dropped', 1, now(), %s, now())",
        (job, "https://x.example/" + SCRIPT, json.dumps({"error": SCRIPT}), answer),
    )
    world.database.execute(
        "INSERT INTO workers (id, node, renderer, device, encoder, seen_at) VALUES (%s, %s, 'r', %s, 'e', now())",
        (SCRIPT, SCRIPT, SCRIPT),
    )
    pages = (
        "/", f"/renders?text={SCRIPT}&account={SCRIPT}&after={SCRIPT}", "/renders", f"/renders/{job}", "/templates", f"/templates/{template}",
        "/workers", "/account/webhooks", f"/audit?who={SCRIPT}", f"/accounts?text={SCRIPT}", f"/renders?done={SCRIPT}",
    )  # fmt: skip
    for page in pages:
        text = operator.text(page)
        assert "<script>alert" not in text, page
        assert "<img src=x" not in text, page
    assert "&lt;script&gt;alert" in operator.text(f"/renders/{job}")
    assert "<script>alert" not in member.text(f"/templates/{template}/playground")
    assert "<script>alert" not in member.get(f"/templates/{template}/playground?input.headline={SCRIPT}").text


def test_an_operator_who_visits_an_account_gets_no_key_of_it(operator: Person, member: Person) -> None:
    assert operator.post(f"/accounts/{member.api.account_id}/sign-in-as").status_code == 303
    assert "You are signed in as" in operator.text("/renders")
    with signed_in(member.api.world, "second", operator=True) as second:
        assert second.get("/accounts").status_code == 200, "the visit is of one session"
    assert operator.get("/accounts").status_code == 404
    assert operator.post("/account/keys", name="k", scope="usage:read").status_code == 403
    assert operator.post("/accounts/return").status_code == 303
    log = operator.text("/audit")
    assert "sign in as" in log
    assert "return from account" in log


def test_a_former_operator_cannot_act_as_another_account(operator: Person, member: Person) -> None:
    operator.post(f"/accounts/{member.api.account_id}/sign-in-as")
    world = operator.api.world
    world.database.execute("UPDATE accounts SET operator = false WHERE id = %s", (operator.api.account_id,))
    assert operator.get("/renders").status_code == 303


def test_an_operator_sees_a_suspended_account_until_it_is_suspended_too(operator: Person, member: Person) -> None:
    operator.post(f"/accounts/{member.api.account_id}/sign-in-as")
    suspend = "UPDATE accounts SET suspended_at = now() WHERE id = %s"
    for person, status in ((member, 200), (operator, 303)):
        operator.api.world.database.execute(suspend, (person.api.account_id,))
        assert operator.get("/renders").status_code == status


def test_retrying_keeps_to_the_quota(own_world: World) -> None:
    with signed_in(own_world, "small") as person:
        _, job = own_job(person, "queued")
        own_world.move(job, "failed", error="x")
        own_world.limit(person.api.account_id, monthlyRenderMinutes=0.01)
        answer = person.post("/renders/actions/retry", job=job)
        assert answer.status_code == 403
        assert person.api.get("/renders").json()["total"] == 1


def test_the_open_pages_of_an_account_are_limited_and_others_open_theirs(
    member: Person, operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.live.endpoints.STREAMS_PER_ACCOUNT", 2)
    with ExitStack() as opened:

        def status(person: Person) -> int:
            return opened.enter_context(person.client.stream("GET", "/console/events")).status_code

        streams = [opened.enter_context(member.client.stream("GET", "/console/events")) for _ in range(2)]
        texts = [stream.iter_text() for stream in streams]
        assert [next(text) for text in texts] == ["retry: 2000\n\n"] * 2
        assert status(member) == 429
        assert [status(operator) for _ in range(3)] == [200] * 3


def test_a_burst_of_pages_does_not_pass_the_limit(member: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.live.endpoints.STREAMS_PER_ACCOUNT", 2)
    together = Barrier(16)
    with ExitStack() as opened, ThreadPoolExecutor(16) as pool:
        client = opened.enter_context(member.api.world.new_client(cookies=member.client.cookies))

        def status(_: int) -> int:
            together.wait()
            return opened.enter_context(client.stream("GET", "/console/events")).status_code

        assert sorted(pool.map(status, range(16))) == [200] * 2 + [429] * 14
