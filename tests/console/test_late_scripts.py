"""Fields that are changed before the scripts of a page are loaded, as on a slow connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.api.world import layer, text_template
from tests.console.held import HeldAnswers
from tests.console.people import Person
from tests.console.test_import import with_teaser
from tests.documents import bundle

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]


def act_early(page: Any, address: str, act: Callable[[], Any]) -> None:
    """Open a page, act while it waits for a script that all others wait for, and let the script arrive."""
    scripts = HeldAnswers(page, "**/entered.js")
    page.goto(address, wait_until="commit")
    scripts.wait()
    act()
    scripts.pass_on()
    scripts.arrive()


def tick_unseen(page: Any) -> None:
    """Tick all renders as browsers do that show a page before its scripts have run."""
    page.evaluate("document.querySelector('[data-select-all]').checked = true")


def test_a_table_chosen_early_is_checked(designer: Person, window: Window, tmp_path: Path) -> None:
    path = tmp_path / "guests.csv"
    path.write_text("headline\nAda\n")
    page = window(designer)
    address = f"{designer.origin}/console/templates/{designer.api.template()}/batch"
    act_early(page, address, lambda: page.set_input_files("[data-table-file]", path))
    expect(page.get_by_role("alert")).to_contain_text("Line 2: Photo is required")


def test_a_project_chosen_early_is_examined(designer: Person, window: Window, project: Path) -> None:
    page = window(designer)
    act_early(page, f"{designer.origin}/console/templates", lambda: page.set_input_files("#file", project))
    expect(page.locator(".head")).to_contain_text("greeting.motion")


def test_a_picture_chosen_early_is_uploaded(designer: Person, window: Window, photo: Path) -> None:
    page = window(designer)
    address = f"{designer.origin}/console/templates/{designer.api.template()}/playground"
    act_early(page, address, lambda: page.set_input_files("[data-upload=in-photo]", photo))
    expect(page.locator("bdi", has_text="photo.png")).to_be_visible()


def test_a_value_entered_early_is_drawn_and_shown_as_code(designer: Person, window: Window) -> None:
    page = window(designer)
    address = f"{designer.origin}/console/templates/{text_template(designer.api)}/playground"
    act_early(page, address, lambda: page.fill("#in-headline", "Typed early"))
    expect(page.locator("#latency")).to_contain_text("drawn in")
    expect(page.locator("#code-curl")).to_contain_text("Typed early")
    expect(page.get_by_role("button", name="Reset Headline")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "field", "shown"), [("templates", "[name=text]", "#gallery"), ("renders", "#text", "#results")]
)
def test_a_search_entered_early_is_sent(designer: Person, window: Window, path: str, field: str, shown: str) -> None:
    designer.api.render(text_template(designer.api), inputs={"headline": "Hello"})
    page = window(designer)
    act_early(page, f"{designer.origin}/console/{path}", lambda: page.fill(field, "matches nothing"))
    expect(page.locator(shown)).to_contain_text("matches")


def findings(designer: Person) -> str:
    """Upload a project of two compositions. Return the address of its findings."""
    files = {"file": ("two.motion", bundle(with_teaser(layer("t1", "Title", "text"))))}
    answer = designer.client.post("/console/templates/import", data={"csrf": designer.csrf()}, files=files)
    return f"{designer.origin}{answer.headers['location']}"


def test_a_composition_chosen_early_is_shown(designer: Person, window: Window) -> None:
    page = window(designer)
    act_early(page, findings(designer), lambda: page.get_by_label("Composition").select_option("Teaser"))
    expect(page.locator(".head")).to_contain_text("two.motion · 320×360")


def test_a_composition_chosen_before_the_picture_is_there_is_shown(designer: Person, window: Window) -> None:
    page = window(designer)
    pictures = HeldAnswers(page, "**/picture.jpg*")
    checks = HeldAnswers(page, "**/import/**", lambda request: "hx-request" in request.headers)
    page.goto(findings(designer), wait_until="domcontentloaded")
    pictures.wait()
    page.get_by_label("Composition").select_option("Teaser")
    checks.wait()
    pictures.pass_on()
    pictures.arrive()
    page.wait_for_load_state("load")
    checks.arrive()
    expect(page.locator(".head")).to_contain_text("two.motion · 320×360")


def test_all_renders_ticked_early_are_selected(designer: Person, window: Window) -> None:
    designer.api.render(text_template(designer.api), inputs={"headline": "Hello"})
    page = window(designer)
    act_early(page, f"{designer.origin}/console/renders", lambda: tick_unseen(page))
    expect(page.locator("tbody input").first).to_be_checked()
    expect(page.locator("[data-selected]")).to_contain_text("selected")


def test_a_page_is_shown_once_its_scripts_have_run(designer: Person, window: Window) -> None:
    page = window(designer)
    # This test is slower than the page, which is shown after 5 s in any case.
    page.add_init_script("const wait = setTimeout; window.setTimeout = (act, ms) => ms === 5000 ? 0 : wait(act, ms)")
    scripts = HeldAnswers(page, "**/console.js")
    page.goto(f"{designer.origin}/console/templates", wait_until="commit")
    scripts.wait()
    painted = "() => performance.getEntriesByName('first-contentful-paint').length"
    page.wait_for_timeout(1000)  # a page that does not wait is painted at once
    assert page.evaluate(painted) == 0
    scripts.pass_on()
    scripts.arrive()
    page.wait_for_function(painted)


@pytest.mark.parametrize("script", ["console.js", "htmx-*.js", "*.js"])
def test_a_page_whose_script_never_arrives_is_shown_and_works_without_it(
    designer: Person, window: Window, script: str
) -> None:
    page = window(designer)
    scripts = HeldAnswers(page, f"**/{script}")
    page.goto(f"{designer.origin}/console/templates", wait_until="commit")
    scripts.wait()
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    scripts.pass_on()
    page.locator(".side:visible").get_by_role("link", name="Renders").click(no_wait_after=True)
    page.wait_for_url("**/renders", wait_until="commit")


def test_a_project_is_checked_without_the_scripts_that_never_arrive(
    designer: Person, window: Window, project: Path
) -> None:
    page = window(designer)
    scripts = HeldAnswers(page, "**/*.js")
    page.goto(f"{designer.origin}/console/templates", wait_until="commit")
    scripts.wait()
    page.set_input_files("#file", project)
    page.get_by_role("button", name="Check the project").click(no_wait_after=True)
    page.wait_for_url("**/import/imp_*", wait_until="commit")
    scripts.pass_on()
    page.wait_for_load_state()
    expect(page.locator(".head")).to_contain_text("greeting.motion")


def test_the_controls_of_pages_without_scripts_go_when_late_scripts_arrive(designer: Person, window: Window) -> None:
    page = window(designer)
    scripts = HeldAnswers(page, "**/console.js")
    page.goto(f"{designer.origin}/console/templates", wait_until="commit")
    without, words = page.get_by_role("button", name="Check the project"), page.get_by_text("Or drop a .motion file")
    expect(without).to_be_visible()
    expect(words).to_be_hidden()
    scripts.pass_on()
    scripts.arrive()
    expect(without).to_be_hidden()
    expect(words).to_be_visible()


@pytest.mark.parametrize("script", ["console.js", "entered.js", "htmx-*.js", "playground.js", "*.js"])
def test_a_page_whose_script_cannot_be_loaded_is_shown(designer: Person, window: Window, script: str) -> None:
    page = window(designer)
    page.route(f"**/{script}", lambda route: route.abort())
    page.goto(f"{designer.origin}/console/templates/{text_template(designer.api)}/playground")
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    expect(page.get_by_role("button", name="Render", exact=True)).to_be_visible()
