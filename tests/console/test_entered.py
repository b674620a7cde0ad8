"""What was entered in a form is there again if the farm did not accept it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.api.world import World, text_template
from tests.console.conftest import SHOWN_SECONDS
from tests.console.people import COOKIE, Person, link_token, signed_in

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]


def sign_in_again(page: Any, person: Person) -> None:
    """Sign in with a one-time link, from the page that says that nothing was changed."""
    expect(page.get_by_text("so nothing was changed")).to_be_visible()
    page.goto(f"{person.origin}/console/enter?token={link_token(person.api.world, person.api.account_id)}")
    page.get_by_role("button", name="Sign in as").click()
    expect(page.locator("#notices")).to_contain_text("What you entered is here again. It has not been sent.")


def test_a_new_name_survives_a_session_that_ends(designer: Person, window: Window) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{text_template(designer.api)}")
    page.get_by_text("Rename", exact=True).click()
    page.fill("#name", "Entered with care")
    page.context.clear_cookies(name=COOKIE)
    page.get_by_role("button", name="Save the name").click()
    sign_in_again(page, designer)
    page.get_by_role("link", name="Go to it").click()
    expect(page.locator("#name")).to_be_focused()
    expect(page.locator("#name")).to_have_value("Entered with care")
    page.get_by_role("button", name="Save the name").click()
    expect(page.locator("h1")).to_have_text("Entered with care")
    expect(page.locator("#notices")).to_have_text("The template is renamed.")
    page.reload()
    expect(page.locator("#name")).to_be_hidden()


def test_the_choices_of_a_new_key_survive_a_session_that_ends(designer: Person, window: Window) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/account")
    page.fill("#key-name", "n8n")
    page.select_option("#lifetime", "30")
    scope = page.get_by_role("group", name="Scopes").get_by_role("checkbox").first
    scope.click()
    ticked = scope.is_checked()
    page.context.clear_cookies(name=COOKIE)
    page.get_by_role("button", name="Create the key").click()
    sign_in_again(page, designer)
    expect(page.locator("#key-name")).to_have_value("n8n")
    expect(page.locator("#lifetime")).to_have_value("30")
    page.get_by_role("link", name="Go to it").click()
    expect(page.locator("#key-name")).to_be_focused()
    expect(scope).to_be_checked(checked=ticked)


def test_the_labels_of_an_import_survive_a_session_that_ends(designer: Person, window: Window, project: Path) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates")
    page.set_input_files("#file", project)
    page.get_by_label("Label of Headline").fill("Name of the guest")
    page.context.clear_cookies(name=COOKIE)
    page.get_by_role("button", name="Import the template").click()
    sign_in_again(page, designer)
    expect(page.get_by_label("Label of Headline")).to_have_value("Name of the guest")
    page.get_by_role("button", name="Import the template").click()
    expect(page.locator("main")).to_contain_text("Name of the guest")


def test_another_account_that_signs_in_does_not_see_it(designer: Person, shared_member: Person, window: Window) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/account")
    page.fill("#key-name", "secret project")
    page.context.clear_cookies(name=COOKIE)
    page.get_by_role("button", name="Create the key").click()
    expect(page.get_by_text("so nothing was changed")).to_be_visible()
    page.context.add_cookies([shared_member.cookie])
    page.goto(f"{designer.origin}/console/account")
    expect(page.locator("h1")).to_contain_text("ada")
    expect(page.locator("#key-name")).to_have_value("")


def test_a_page_of_another_account_changes_nothing_and_says_who_is_signed_in(
    designer: Person, shared_member: Person, window: Window
) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/account")
    page.fill("#key-name", "mine")
    page.context.add_cookies([shared_member.cookie])  # in another tab
    page.get_by_role("button", name="Create the key").click()
    words = r"You have signed in as ada\S* since this page was opened\. Nothing was changed\. Reload .* as before\.$"
    expect(page.locator("#notices")).to_have_text(re.compile(words))
    expect(page.locator("#key-name")).to_have_value("mine")


def test_a_refused_form_stays_with_what_was_entered(designer: Person, window: Window) -> None:
    template = text_template(designer.api)
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{template}")
    page.get_by_text("Rename", exact=True).click()
    page.fill("#name", "Second")
    assert designer.post(f"/templates/{template}/name", name="First").status_code == 303
    page.get_by_role("button", name="Save the name").click()
    expect(page.locator("#notices")).to_contain_text("renamed to “First”")
    expect(page.locator("#name")).to_have_value("Second")
    expect(page.locator("#name")).to_be_visible()


def test_a_form_without_an_answer_stays_with_what_was_entered(designer: Person, window: Window) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/account")
    page.fill("#key-name", "Entered while away")
    page.route("**/account/keys", lambda route: route.abort())
    page.get_by_role("button", name="Create the key").click()
    expect(page.locator("#notices")).to_contain_text("The farm does not answer. What you entered is still here")
    expect(page.locator("#key-name")).to_have_value("Entered while away")
    page.unroute("**/account/keys")
    page.get_by_role("button", name="Create the key").click()
    expect(page.locator(".secret")).to_be_visible()
    expect(page.locator("#key-name")).to_have_value("")
    expect(page.locator("#notices")).to_be_empty()


def test_an_accepted_form_is_not_shown_again_if_the_next_page_fails(designer: Person, window: Window) -> None:
    page = window(designer)
    address = f"{designer.origin}/console/templates/{text_template(designer.api)}/playground"
    page.goto(address)
    page.fill("#in-headline", "Sent once")

    def lead_astray(route: Route) -> None:
        answer = route.fetch(timeout=SHOWN_SECONDS * 1000)
        assert answer.headers["hx-redirect"].startswith("/console/renders/job_")
        route.fulfill(status=204, headers={"HX-Redirect": "/console/renders/job_gone"})

    page.route("**/render", lead_astray)
    page.get_by_role("button", name="Render", exact=True).click()
    expect(page.locator("[data-error]")).to_contain_text("404")
    page.goto(address)
    expect(page.locator("#notices")).to_be_empty()
    expect(page.locator("#in-headline")).not_to_have_value("Sent once")


def test_a_refused_form_outlasts_a_further_page_that_fails(designer: Person, window: Window) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/account")
    page.fill("#key-name", "Entered with care")
    page.context.clear_cookies(name=COOKIE)
    page.get_by_role("button", name="Create the key").click()
    expect(page.get_by_text("so nothing was changed")).to_be_visible()
    page.context.add_cookies([designer.cookie])
    page.goto(f"{designer.origin}/console/renders/job_gone")
    page.goto(f"{designer.origin}/console/account")
    expect(page.locator("#key-name")).to_have_value("Entered with care")


def test_nothing_that_was_entered_stays_in_a_tab_that_signs_out(world: World, window: Window) -> None:
    with signed_in(world, "leaver") as person:
        page = window(person)
        page.goto(f"{person.origin}/console/templates/{text_template(person.api)}/batch")
        page.fill("#table", "headline\nAda Lovelace")
        assert "Ada" in page.evaluate("JSON.stringify(sessionStorage)")
        page.get_by_role("button", name="Sign out").first.click()
        page.wait_for_url("**/sign-in")
        kept = page.evaluate("() => Object.keys(sessionStorage)")
        assert [key for key in kept if not key.startswith("htmx-current-path")] == []


def test_other_colours_beside_a_refused_form_lose_nothing(designer: Person, window: Window) -> None:
    template = text_template(designer.api)
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{template}")
    page.get_by_text("Rename", exact=True).click()
    page.fill("#name", "Second")
    assert designer.post(f"/templates/{template}/name", name="First").status_code == 303
    page.get_by_role("button", name="Save the name").click()
    expect(page.locator("#notices")).not_to_be_empty()
    with page.expect_response("**/theme"):
        page.click(".side:visible >> text=Dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#name")).to_have_value("Second")
