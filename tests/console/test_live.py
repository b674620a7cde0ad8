"""Lists of renders in a real browser while renders change: each row is updated, and a filter overrides late updates."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Error, Route, expect

from console.live import endpoints
from farm_core.progress.changes import JobChange
from tests.console.changes import asks, copy_unheard, publish, publish_until, show
from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]


def test_renders_that_end_at_the_same_moment_all_show_it(member: Person, window: Window) -> None:
    world, template = member.api.world, member.api.template()
    jobs = [str(member.api.render(template).json()["jobId"]) for _ in range(6)]
    for job in jobs:
        world.move(job, "processing")
    page = show(member, window, "renders", jobs[0])
    cancel_all = page.get_by_role("link", name="Cancel all that match")
    expect(cancel_all).to_be_visible()
    for job in jobs:
        world.move(job, "completed", video_key="results/x.mp4")
    changes: list[JobChange] = [
        {"job_id": job, "account_id": member.api.account_id, "status": "completed"} for job in jobs
    ]
    publish(world, *changes)
    expect(page.locator("tr .state.completed")).to_have_count(len(jobs))
    expect(cancel_all).to_be_hidden()


@pytest.mark.parametrize("status", ["queued", "processing"])
def test_a_new_render_appears_however_far_it_is_when_the_page_hears_of_it(
    member: Person, window: Window, status: str
) -> None:
    first = member.api.job()
    page = show(member, window, "renders", first)
    second = copy_unheard(member, first, status)
    publish(member.api.world, {"job_id": second, "account_id": member.api.account_id, "status": status})
    expect(page.locator(f"#row-{second} .state.{status}")).to_be_visible()


def test_a_list_of_failed_renders_grows_as_older_renders_fail(member: Person, window: Window) -> None:
    older, newer = member.api.job(), member.api.job()
    member.api.world.move(newer, "failed", error="The photo is gone.")
    page = window(member)
    with page.expect_response(lambda answer: asks(answer.request)):
        page.goto(f"{member.origin}/console/renders?status=failed")
    page.wait_for_timeout(1500)  # the page has read again what it missed at its start
    member.api.world.move(older, "failed", error="The photo is gone.")
    change: JobChange = {"job_id": older, "account_id": member.api.account_id, "status": "failed"}
    publish_until(page, member.api.world, change, lambda: page.locator(f"#row-{older}").count() == 1)


def test_a_filter_wins_over_a_list_that_is_being_renewed(member: Person, window: Window) -> None:
    world, template = member.api.world, member.api.template()
    processing, failed = (str(member.api.render(template).json()["jobId"]) for _ in range(2))
    world.move(processing, "processing")
    world.move(failed, "failed", error="The photo is gone.")
    page = show(member, window, "renders", processing)
    held: list[Route] = []
    page.route(f"{member.origin}/console/renders", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    page.route("**/console/renders?*status=failed*", lambda route: held.append(route))  # noqa: PLW0108
    with page.expect_request(f"{member.origin}/console/renders"):
        publish(world, {"job_id": "job_new", "account_id": member.api.account_id, "status": "queued"})
    with page.expect_request("**/console/renders?*status=failed*"):
        page.select_option("select[name=status]", "failed")
    for route in held:
        with contextlib.suppress(Error):  # the page has cancelled the request
            route.continue_()
            page.wait_for_timeout(500)
    expect(page.locator("tr[data-job]")).to_have_count(1)
    expect(page.locator(f"#row-{failed}")).to_be_visible()


@pytest.mark.parametrize("ending", ["signed out", "suspended"])
def test_an_open_page_says_that_its_session_has_ended(
    member: Person, window: Window, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(endpoints, "ALIVE_SECONDS", 0.5)
    page = show(member, window, "renders", member.api.job())
    if ending == "signed out":
        assert member.post("/sign-out").status_code == 303
    else:
        member.api.world.database.execute(
            "UPDATE accounts SET suspended_at = now() WHERE id = %s", (member.api.account_id,)
        )
    expect(page.locator("#notice-session")).to_contain_text("You are signed out.")


def test_an_operator_who_acts_as_an_account_no_longer_hears_of_the_others(
    operator: Person, member: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "ALIVE_SECONDS", 0.5)
    with operator.client.stream("GET", "/console/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        assert operator.post(f"/accounts/{member.api.account_id}/sign-in-as").status_code == 303
        for _ in lines:  # fails when the stream ends
            pass


def test_a_retry_leads_to_the_new_render_and_is_not_offered_again(
    member: Person, operator: Person, window: Window
) -> None:
    job = str(member.api.render(member.api.template()).json()["jobId"])
    member.api.world.move(job, "failed", error="The photo could not be fetched.")
    page = window(member)
    page.goto(f"{member.origin}/console/renders/{job}")
    page.get_by_role("button", name="Retry").click()
    expect(page.locator(".head .state.queued")).to_be_visible()
    again = page.url.rpartition("/")[2]
    assert again != job and member.api.get(f"/renders/{again}").json()["status"] == "queued"
    page.goto(f"{member.origin}/console/renders/{job}")
    expect(page.get_by_role("button", name="Retry")).to_have_count(0)
    page.get_by_role("link", name="Open its retry").click()
    expect(page).to_have_url(f"{member.origin}/console/renders/{again}")
    page.goto(f"{member.origin}/console/renders?status=failed")
    expect(page.locator(f"#row-{job}").get_by_role("link", name="Open its retry")).to_be_visible()
    page.get_by_role("link", name="Retry all that match").click()
    expect(page.locator("main")).to_contain_text("Nothing that matches can be changed in this way")
    assert f"[&#34;{job}&#34;]" in operator.text("/audit")
