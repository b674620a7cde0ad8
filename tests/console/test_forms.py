"""Forms that a slow farm, a refusal or an impatient person meets, in a real browser. Each is sent once, and nothing entered is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Request, expect

from tests.api.world import text_template
from tests.console.held import HeldAnswers
from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]


def opened(person: Person, window: Window, path: str) -> tuple[Any, list[str]]:
    """Open a page, which is noted to see if it is loaded again. Return it with the addresses that forms are sent to."""
    page, sent = window(person), []
    page.goto(f"{person.origin}/console{path}")
    page.evaluate("window.isTheSame = true")
    page.on("request", lambda request: sent.append(request.url) if is_sent(request) else None)
    return page, sent


def is_sent(request: Request) -> bool:
    return request.method == "POST" and "hx-boosted" in request.headers


def test_a_button_shows_that_it_works_and_is_sent_once_however_often_it_is_pressed(
    operator: Person, window: Window
) -> None:
    page, sent = opened(operator, window, "/account")
    answers = HeldAnswers(page, "**/account/keys")
    page.fill("#key-name", "pressed twice")
    button = page.get_by_role("button", name="Create the key")
    button.click()
    expect(button).to_have_attribute("aria-busy", "true")
    button.click()
    page.locator("#key-name").press("Enter")
    answers.wait()
    answers.arrive()
    expect(page.locator(".secret")).to_be_visible()
    expect(page.locator("[data-outcome]")).to_be_focused()
    expect(page.locator("#key-name")).to_have_value("")
    assert len(sent) == 1
    assert page.evaluate("window.isTheSame") is True
    expect(page).to_have_url(f"{operator.origin}/console/account")


def test_limits_that_are_stored_are_reported_and_shown_on_the_page_that_stays(operator: Person, window: Window) -> None:
    page, sent = opened(operator, window, f"/accounts/{operator.api.account_id}")
    page.fill("#maxUploadBytes", "many")
    page.get_by_role("button", name="Change plan and limits").click()
    expect(page.locator("#notices")).to_contain_text("maxUploadBytes")
    expect(page.locator("#maxUploadBytes")).to_have_value("many")
    page.fill("#maxUploadBytes", " 1000 ")
    page.get_by_role("button", name="Change plan and limits").click()
    expect(page.locator("#notices")).to_have_text("Plan and limits are changed.")
    expect(page.locator("#maxUploadBytes")).to_have_value("1000")
    assert len(sent) == 2
    assert page.evaluate("window.isTheSame") is True


def test_selected_renders_are_cancelled_on_the_list_that_stays(operator: Person, window: Window) -> None:
    template = text_template(operator.api)
    first, second = (str(operator.api.render(template, inputs={"headline": "Hello"}).json()["jobId"]) for _ in range(2))
    page, sent = opened(operator, window, "/renders")
    page.check(f"#row-{first} input[name=job]")
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.locator(f"#row-{first} .state.cancelled")).to_be_visible()
    expect(page.locator(f"#row-{second} .state.queued")).to_be_visible()
    expect(page.locator("[data-outcome]")).to_be_focused()
    expect(page.locator("[data-outcome]")).to_contain_text("1 render")
    expect(page.locator(f"#row-{first} input[name=job]")).not_to_be_checked()
    assert len(sent) == 1
    assert page.evaluate("window.isTheSame") is True


def test_a_render_that_is_refused_is_sent_once_and_its_faulty_input_is_focused(
    operator: Person, window: Window
) -> None:
    page, sent = opened(operator, window, f"/templates/{operator.api.template()}/playground")
    page.get_by_role("button", name="Render", exact=True).click()
    expect(page.locator("#inputs [role=alert]")).to_contain_text("Nothing was rendered.")
    expect(page.locator("#inputs [aria-invalid=true]").first).to_be_focused()
    assert len(sent) == 1
    assert page.evaluate("window.isTheSame") is True


def test_the_page_of_a_cancelled_render_stays(operator: Person, window: Window) -> None:
    job = str(operator.api.render(text_template(operator.api), inputs={"headline": "Hello"}).json()["jobId"])
    page, _ = opened(operator, window, f"/renders/{job}")
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.locator("main")).to_contain_text("The render was cancelled.")
    expect(page.get_by_role("button", name="Retry")).to_be_visible()
    assert page.evaluate("window.isTheSame") is True


def test_a_form_leads_to_another_page_by_a_header_and_stays_on_its_own(operator: Person) -> None:
    template = text_template(operator.api)

    def renamed(shown: str) -> httpx.Response:
        headers = {"HX-Request": "true", "HX-Boosted": "true", "HX-Current-URL": f"{operator.origin}{shown}"}
        form = {"csrf": operator.csrf(), "name": "New name"}
        return operator.client.post(f"/console/templates/{template}/name", data=form, headers=headers)

    page = f"/console/templates/{template}"
    answer = renamed("/console/templates")
    assert (answer.status_code, answer.headers["hx-redirect"]) == (204, page)
    answer = renamed(f"{page}?text=card")
    assert (answer.status_code, answer.headers["location"]) == (303, page)
