"""Pages while the farm does not answer, and pages that answer forms, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Request, expect

from tests.api.world import text_template
from tests.console.changes import asks
from tests.console.held import HeldAnswers
from tests.console.people import Person
from tests.console.test_late_answers import LOOK_AWAY_AND_BACK

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]


def is_search(request: Request) -> bool:
    return "hx-request" in request.headers


@pytest.mark.parametrize(
    ("path", "field", "shown"), [("templates", "[name=text]", "#gallery"), ("renders", "#text", "#results")]
)
def test_a_search_without_an_answer_says_so_and_is_repeated(
    designer: Person, window: Window, path: str, field: str, shown: str
) -> None:
    template = text_template(designer.api)
    designer.api.render(template, inputs={"headline": "Hello"})
    page = window(designer)
    page.goto(f"{designer.origin}/console/{path}")
    page.route(f"**/console/{path}?*", lambda route: route.abort() if is_search(route.request) else route.continue_())
    page.fill(field, "matches nothing")
    expect(page.locator("#notices")).to_contain_text("The farm does not answer")
    expect(page.locator(shown)).to_have_css("opacity", "0.45")
    page.unroute(f"**/console/{path}?*")
    expect(page.locator(shown)).to_contain_text("matches")
    expect(page.locator("#notices")).to_be_empty()
    expect(page.locator(shown)).to_have_css("opacity", "1")


def test_a_search_is_not_repeated_after_another_one_was_answered(designer: Person, window: Window) -> None:
    designer.api.render(text_template(designer.api), inputs={"headline": "Answered later"})
    page = window(designer)
    page.goto(f"{designer.origin}/console/renders")
    page.route("**/console/renders?*", lambda route: route.abort() if is_search(route.request) else route.continue_())
    page.fill("#text", "answered")
    expect(page.locator("#notices")).to_contain_text("The farm does not answer")
    page.unroute("**/console/renders?*")
    page.fill("#text", "answered later")
    expect(page.locator("#results")).to_contain_text("1 render matches")
    page.locator("tbody input").first.click()
    page.wait_for_timeout(3500)  # a repeat would come after 3 s
    expect(page.locator("tbody input").first).to_be_checked()


@pytest.mark.parametrize(
    ("path", "field", "shown"), [("templates", "[name=text]", "#gallery"), ("renders", "#text", "#results")]
)
def test_a_list_is_dimmed_while_a_search_is_under_way(
    designer: Person, window: Window, path: str, field: str, shown: str
) -> None:
    designer.api.render(text_template(designer.api), inputs={"headline": "Hello"})
    page = window(designer)
    page.goto(f"{designer.origin}/console/{path}")
    answers = HeldAnswers(page, f"**/console/{path}?*", is_search)
    page.fill(field, "matches nothing")
    answers.wait()
    expect(page.locator(shown)).to_have_css("opacity", "0.45")
    answers.arrive()
    expect(page.locator(shown)).to_have_css("opacity", "1")


def test_a_page_says_that_live_updates_are_interrupted_while_every_attempt_fails(
    designer: Person, window: Window
) -> None:
    page = window(designer)
    page.clock.install()
    with page.expect_response(lambda answer: asks(answer.request)):
        page.goto(f"{designer.origin}/console/renders")
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.route("**/console/events*", lambda route: route.abort())
    page.evaluate(LOOK_AWAY_AND_BACK)
    for _ in range(2):
        for _ in range(2):  # the browser's next attempt: the page has heard that the one before failed
            page.wait_for_event("requestfailed", lambda request: "/events" in request.url)
        page.clock.run_for(3500)
    expect(page.locator("#notices")).to_contain_text("Live updates are interrupted")


def test_a_preview_is_drawn_once_the_farm_answers_again(designer: Person, window: Window) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{text_template(designer.api)}/playground")
    for path in ("preview", "check"):
        page.route(f"**/{path}", lambda route: route.abort())
    page.fill("#in-headline", "Typed during a restart")
    expect(page.locator("#preview-note")).to_have_text("The farm does not answer. Check the connection.")
    page.unroute("**/preview")
    page.unroute("**/check")
    expect(page.locator("#preview-note")).not_to_contain_text("does not answer")
    expect(page.locator("#code-curl")).to_contain_text("Typed during a restart")


REFUSALS = [
    (503, "text/plain", "Previews are not available.", "Previews are not available."),
    (429, "text/plain", "Too many requests.", "Too many requests."),
    (502, "text/html", "<h1>Bad Gateway</h1>", "The farm does not answer."),
]


@pytest.mark.parametrize(("status", "kind", "body", "shown"), REFUSALS)
def test_a_preview_that_is_refused_for_a_while_is_drawn_later_by_itself(
    designer: Person, window: Window, status: int, kind: str, body: str, shown: str
) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{text_template(designer.api)}/playground")
    for path in ("preview", "check"):
        page.route(f"**/{path}", lambda route: route.fulfill(status=status, content_type=kind, body=body))
    page.fill("#in-headline", "Typed during an outage")
    note = page.locator("#preview-note")
    expect(note).to_contain_text(shown)
    expect(note).to_contain_text("The page tries again by itself.")
    for path in ("preview", "check"):
        page.unroute(f"**/{path}")
    expect(note).not_to_contain_text("by itself")
    expect(page.locator("#code-curl")).to_contain_text("Typed during an outage")


def test_a_form_that_the_farm_does_not_answer_stays_with_its_values(designer: Person, window: Window) -> None:
    template = text_template(designer.api)
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{template}")
    page.get_by_text("Rename", exact=True).click()
    page.fill("#name", "Entered while away")
    page.context.set_offline(True)
    page.get_by_role("button", name="Save the name").press("Enter")
    expect(page.locator("#notices")).to_contain_text("You are offline. What you entered is still here")
    expect(page.locator("#name")).to_have_value("Entered while away")
    page.context.set_offline(False)
    expect(page.locator("#notices")).to_contain_text("You are online again. What you entered is still here")
    page.get_by_role("button", name="Save the name").press("Enter")
    expect(page.locator("h1")).to_have_text("Entered while away")


def test_a_search_beyond_the_rate_limit_says_how_long_to_wait(designer: Person, window: Window) -> None:
    refused = {"status": 429, "headers": {"Retry-After": "40"}, "body": "Too many requests."}
    page = window(designer)
    text_template(designer.api)
    page.goto(f"{designer.origin}/console/templates")
    page.route("**/console/templates?*", lambda route: route.fulfill(**refused))
    page.fill("[name=text]", "card")
    expect(page.locator("#notices")).to_contain_text("Too many requests from this address. Wait 40 s")


def test_a_page_beyond_the_rate_limit_is_a_page(designer: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.guard.REQUESTS_PER_MINUTE", 0)
    opened = designer.get("/templates", headers={"Sec-Fetch-Mode": "navigate"})
    assert (opened.status_code, opened.headers["content-type"]) == (429, "text/html; charset=utf-8")
    assert "Too many requests from this address" in opened.text and int(opened.headers["retry-after"]) > 0
    assert designer.get("/templates").headers["content-type"].startswith("text/plain")


def test_back_after_an_import_leads_to_the_gallery(designer: Person, window: Window, project: Path) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates")
    page.set_input_files("#file", project)
    page.click("button:has-text('Import the template')")
    page.wait_for_url("**/templates/tpl_*")
    page.go_back()
    expect(page).to_have_url(f"{designer.origin}/console/templates")
    expect(page.locator("#gallery .template-card").first).to_be_visible()


def test_back_after_the_render_of_a_table_shows_the_table(designer: Person, window: Window) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{text_template(designer.api)}/batch")
    page.fill("#table", "headline\none\ntwo")
    page.click("button:has-text('Check the rows')")
    page.click("button:has-text('Render 2 videos')")
    page.wait_for_url("**/renders?batch=*")
    page.go_back()
    expect(page.locator("#table")).to_have_value("headline\none\ntwo")


def test_a_page_that_shows_a_new_key_changes_its_colours_and_is_left_without_another_key(
    designer: Person, window: Window
) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/account")
    page.fill("[name=name]", "left by reload")
    page.click("button:has-text('Create the key')")
    expect(page.locator(".secret")).to_be_visible()
    page.wait_for_load_state()  # a person sees the page once its scripts have run
    page.click(".side:visible >> text=Dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator(".secret")).to_be_visible()
    page.reload()
    expect(page).to_have_url(f"{designer.origin}/console/account")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("tbody tr", has_text="left by reload")).to_have_count(1)


def test_a_render_of_a_deleted_template_has_its_name_and_no_dead_link(designer: Person) -> None:
    template = text_template(designer.api)
    job = str(designer.api.render(template, inputs={"headline": "Hello"}).json()["jobId"])
    designer.post(f"/templates/{template}/delete")
    shown = designer.text(f"/renders/{job}")
    assert f"/console/templates/{template}" not in shown
    assert "(deleted)" in shown
    assert f'<option value="{template}" selected>Card</option>' in designer.text(f"/renders?template={template}")


def test_a_search_is_sent_once_and_what_is_ticked_after_it_stays(designer: Person, window: Window) -> None:
    template = text_template(designer.api)
    for _ in range(2):
        designer.api.render(template, inputs={"headline": "Searched"})
    page = window(designer)
    page.goto(f"{designer.origin}/console/renders")
    expect(page.get_by_role("link", name="Clear")).to_be_hidden()
    entries = page.evaluate("history.length")
    page.click("#text")
    for typed, searched in (("Sear", "Sear"), ("ched", "Searched")):  # typed slowly, other parts are searched, too
        with page.expect_response(re.compile(f"text={searched}&")):
            page.keyboard.type(typed)
    expect(page.locator("#results")).to_contain_text("2 renders match")
    again: list[str] = []
    page.on("request", lambda request: again.append(request.url) if is_search(request) else None)
    page.locator("tbody input").first.click()
    page.wait_for_timeout(1000)  # a request would begin at once
    assert again == []
    expect(page.locator("tbody input").first).to_be_checked()
    assert page.evaluate("history.length") == entries
    page.get_by_role("link", name="Clear").click()
    expect(page).to_have_url(f"{designer.origin}/console/renders")


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("/templates/tpl_a/versions/1/restore", "/templates/tpl_a"),
        ("/templates/tpl_a/name", "/templates/tpl_a"),
        ("/renders/job_a/segments/0/requeue", "/renders/job_a"),
        ("/renders/selection/compare", "/renders"),
        ("/accounts/acc_a/act/rename", "/accounts/acc_a"),
        ("/account/keys/key_a/revoke", "/account"),
        ("/queue/pause", "/"),
    ],
)
def test_the_address_of_a_form_leads_to_the_page_above_it(designer: Person, form: str, shown: str) -> None:
    answer = designer.get(form)
    assert (answer.status_code, answer.headers.get("location")) == (303, f"/console{shown}")


def test_a_page_is_printed_without_its_navigation(designer: Person, window: Window) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{text_template(designer.api)}")
    page.emulate_media(media="print")
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".side:visible, .button:visible")).to_have_count(0)
    assert page.locator("main").bounding_box()["x"] == 0
