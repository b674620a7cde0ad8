"""Buttons that change the page that they are on, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.api.world import text_template
from tests.console.conftest import SHOWN_SECONDS
from tests.console.people import COOKIE, Person
from tests.scheduler.farm import DummyWork

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]
WORKER = """
    INSERT INTO workers (id, node, renderer, device, encoder, seen_at) VALUES ('w', 'node-a', 'r', 'llvmpipe', 'libx264', %s)
"""


@pytest.fixture
def workers(operator: Person, window: Window) -> Any:
    """Open the page of the workers, which is noted to see if it is loaded again."""
    operator.api.world.database.execute(WORKER, (operator.api.world.clock.now(),))
    page = window(operator)
    page.goto(f"{operator.origin}/console/workers")
    page.evaluate("window.isTheSame = true")
    return page


def test_a_worker_is_drained_and_resumed_on_the_page_that_stays(workers: Any) -> None:
    workers.get_by_role("button", name="Drain w", exact=True).press("Enter")
    expect(workers.locator(".state.drained")).to_be_visible()
    expect(workers.locator("main")).to_be_focused()
    workers.get_by_role("button", name="Resume w", exact=True).click()
    expect(workers.locator(".state.live")).to_be_visible()
    assert workers.evaluate("window.isTheSame") is True


def test_a_button_whose_request_is_lost_says_so_and_works_later(workers: Any) -> None:
    workers.route("**/workers/drain", lambda route: route.abort())
    workers.get_by_role("button", name="Drain w", exact=True).click()
    expect(workers.locator("#notices")).to_contain_text("The farm does not answer.")
    workers.unroute("**/workers/drain")
    workers.get_by_role("button", name="Drain w", exact=True).click()
    expect(workers.locator(".state.drained")).to_be_visible()
    expect(workers.locator("#notices")).to_be_empty()
    assert workers.evaluate("window.isTheSame") is True


def test_after_an_action_on_ticked_renders_nothing_is_ticked(member: Person, window: Window) -> None:
    member.api.job()
    page = window(member)
    page.goto(f"{member.origin}/console/renders")
    every = page.get_by_label("Select all on this page")
    every.check()
    page.locator("[data-bulk]").get_by_role("button", name="Cancel").click()
    expect(page.locator("main")).to_contain_text("1 render was cancelled.")
    expect(page.locator("tbody input:checked")).to_have_count(0)
    expect(every).not_to_be_checked()


def test_a_button_of_an_ended_session_leads_to_the_sign_in(workers: Any) -> None:
    workers.context.clear_cookies(name=COOKIE)
    workers.get_by_role("button", name="Drain w", exact=True).click()
    workers.wait_for_url("**/sign-in?next=*workers&refused=true")
    expect(workers.locator("main")).to_contain_text("You are signed out, so nothing was changed.")


def test_the_queue_is_paused_and_the_question_is_closed(operator: Person, window: Window) -> None:
    page = window(operator)
    page.goto(f"{operator.origin}/console/")
    page.evaluate("window.isTheSame = true")
    page.get_by_text("Pause the queue", exact=True).click()
    page.get_by_role("button", name="Pause the whole queue").click()
    page.get_by_role("button", name="Resume the queue").click()
    expect(page.get_by_role("button", name="Pause the whole queue")).to_be_hidden()
    expect(page.get_by_text("Pause the queue", exact=True)).to_be_visible()
    assert page.evaluate("window.isTheSame") is True


def test_the_newest_of_two_quick_choices_of_colours_is_kept(operator: Person, window: Window) -> None:
    page = window(operator)
    page.goto(f"{operator.origin}/console/workers")
    held: list[Any] = []
    page.route("**/theme", lambda route: held.append(route) if "dark" in route.request.post_data else route.continue_())
    page.click(".side:visible >> text=Dark")
    page.click(".side:visible >> text=Light")
    while not held:
        page.wait_for_timeout(50)
    page.wait_for_timeout(1000)  # the second choice would be stored before the first
    with page.expect_response(lambda answer: "light" in (answer.request.post_data or "")):
        held[0].continue_()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def lose(route: Any) -> None:
    """Let the farm do what the page asks, and lose its answer."""
    route.fetch(max_redirects=0, timeout=SHOWN_SECONDS * 1000)
    route.abort()


def test_a_key_whose_answer_is_lost_is_created_once_and_shown(member: Person, window: Window) -> None:
    page = window(member)
    page.goto(f"{member.origin}/console/account")
    page.fill("#key-name", "n8n")
    page.route("**/account/keys", lose, times=1)
    page.click("text=Create the key")
    expect(page.locator("#notices")).to_contain_text("The farm does not answer. What you entered is still here")
    page.click("text=Create the key")
    secret = page.locator("#secret").inner_text()
    client = member.api.world.client
    assert client.get("/api/v1/usage", headers={"Authorization": f"Bearer {secret}"}).status_code == 200
    assert [one["name"] for one in member.api.get("/keys").json()["items"]] == ["n8n"]


def test_a_key_in_use_is_not_replaced(member: Person) -> None:
    form = {"name": "n8n", "scope": "usage:read", "once": "same"}
    secrets = []
    for _ in range(2):
        shown = re.search('id="secret">([^<]+)', member.post("/account/keys", **form).text)
        assert shown is not None
        secrets.append(shown[1])
        answer = member.api.world.client.get("/api/v1/usage", headers={"Authorization": f"Bearer {secrets[0]}"})
        assert answer.status_code == 200
    assert len(set(secrets)) == 2


def test_a_render_whose_answer_is_lost_leaves_the_page_and_is_created_once(operator: Person, window: Window) -> None:
    """The farm can go away between the short request and the form, or before the answer arrives."""
    template = text_template(operator.api)
    page = window(operator)
    page.goto(f"{operator.origin}/console/templates/{template}/playground")
    page.fill("#in-headline", "Entered with care")

    page.route("**/render", lose, times=1)
    page.get_by_role("button", name="Render", exact=True).click()
    expect(page.locator("#notices")).to_contain_text("The farm does not answer. What you entered is still here")
    expect(page.locator("#in-headline")).to_have_value("Entered with care")
    page.get_by_role("button", name="Render", exact=True).click()
    page.wait_for_url("**/renders/job_*")
    assert operator.api.get("/renders").json()["total"] == 1


def test_a_person_without_templates_renders_an_example(member: Person, worker: DummyWork, window: Window) -> None:
    page = window(member)
    page.goto(f"{member.origin}/console/templates")
    page.get_by_role("button", name="Try an example").click()
    page.get_by_role("button", name="Import the template").click()
    page.wait_for_url("**/templates/tpl_*")
    page.get_by_role("link", name="Open the playground").first.click()
    page.get_by_role("button", name="Render", exact=True).click()
    page.wait_for_url("**/renders/job_*")
    page.goto(f"{member.origin}/console/templates")
    expect(page.locator(".template-card")).to_have_count(1)
    expect(page.get_by_role("button", name="Try an example")).to_have_count(0)
