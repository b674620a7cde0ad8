"""Dropped files, animated posters, and pages with many inputs or long names, in a real browser."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.api.world import World, document, field, layer, picture
from tests.console.people import Person, signed_in

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]

_DROP = """([selector, name, content]) => {
  const carried = new DataTransfer(), place = document.querySelector(selector);
  carried.items.add(new File([Uint8Array.from(atob(content), (one) => one.charCodeAt(0))], name, { type: "image/png" }));
  const event = (kind) => new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true });
  place.dispatchEvent(event("dragover"));
  const marked = document.querySelectorAll(".over").length;
  return [!place.dispatchEvent(event("drop")), marked];
}"""


def drop(page: Any, selector: str, name: str, content: bytes) -> Any:
    """Drop a file. Return True if the browser does not open it, and the number of marked drop targets."""
    return page.evaluate(_DROP, [selector, name, base64.b64encode(content).decode()])


def playground(designer: Person, window: Window, template: str, **options: Any) -> Any:
    page = window(designer, **options)
    page.goto(f"{designer.origin}/console/templates/{template}/playground")
    return page


def test_the_only_file_of_a_template_is_dropped_anywhere(designer: Person, window: Window) -> None:
    page = playground(designer, window, designer.api.template())
    for place in ("[data-field=photo] input[name]", "#screen"):
        expect(page.locator("[data-field=photo] [data-file]")).to_be_hidden()
        assert drop(page, place, "Dropped.png", picture()) == [True, 1]
        expect(page.locator("[data-field=photo] [data-name]")).to_have_text("Dropped.png")
        page.click("[data-field=photo] >> text=Remove")


def test_a_file_goes_to_the_input_on_which_it_is_dropped(designer: Person, window: Window) -> None:
    layers = [layer(f"n{index}", f"Photo {index}", "image", src="") for index in range(2)]
    fields = [field(f"photo{index}", "image", f"n{index}", "Image", "src") for index in range(2)]
    inputs = [{"id": one["id"], "label": one["label"], "kind": one["kind"]} for one in fields]
    page = playground(designer, window, designer.api.template(document=document(*layers, fields=fields), inputs=inputs))
    assert drop(page, "#screen", "Nowhere.png", picture()) == [True, 0]  # the page also stays
    assert drop(page, "[data-field=photo1] input[name]", "Second.png", picture()) == [True, 1]
    expect(page.locator("[data-field=photo1] [data-name]")).to_have_text("Second.png")
    expect(page.locator("[data-field=photo0] [data-file]")).to_be_hidden()


def test_a_project_is_dropped_anywhere_on_the_gallery(designer: Person, window: Window, project: Path) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates")
    drop(page, "h1", "greeting.motion", project.read_bytes())
    expect(page.locator("main")).to_contain_text("Nothing is stored yet")


def test_posters_move_while_the_pointer_or_the_focus_rests_on_them(designer: Person, window: Window) -> None:
    template = designer.api.template(name="Moving", width=1080, height=1920)
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates?text=Moving")
    card, moving = page.locator(f"[href$='{template}']"), page.locator(".moving > canvas")
    card.hover()
    expect(moving).to_be_visible()
    assert moving.evaluate("one => [one.width, one.height]") == [320, 569]
    page.mouse.move(0, 0)
    expect(moving).to_have_count(0)
    page.locator("#file").focus()
    page.keyboard.press("Tab")  # the button, files, the button of the import, the card
    while not card.evaluate("one => one === document.activeElement"):
        page.keyboard.press("Tab")
    expect(moving).to_be_visible()
    page.keyboard.press("Shift+Tab")
    expect(moving).to_have_count(0)


def test_posters_are_static_with_reduced_motion(designer: Person, window: Window) -> None:
    designer.api.template(name="Calm")
    page = window(designer, reduced_motion="reduce")
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto(f"{designer.origin}/console/templates?text=Calm")
    page.locator(".template-card").first.hover()
    page.wait_for_timeout(1000)
    assert not [one for one in asked if "draft.jpg" in one]


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_the_render_button_stays_in_sight_of_many_inputs(designer: Person, window: Window, phone: bool) -> None:
    layers = [layer(f"n{index}", f"Text {index}", "text") for index in range(60)]
    fields = [field(f"text{index}", "text", f"n{index}", "Text", "content") for index in range(60)]
    inputs = [{"id": one["id"], "label": one["label"], "kind": one["kind"]} for one in fields]
    template = designer.api.template(document=document(*layers, fields=fields), inputs=inputs)
    page = playground(designer, window, template, phone=phone)
    button = page.get_by_role("button", name="Render", exact=True)
    for index in (0, 30, 59, 31):
        page.focus(f"#in-text{index}")
        expect(button).to_be_in_viewport(ratio=1)
        entered, shown = page.locator(f"#in-text{index}").bounding_box(), button.bounding_box()
        assert entered["y"] + entered["height"] <= shown["y"], index


def test_a_text_is_as_high_as_its_lines(designer: Person, window: Window) -> None:
    page = playground(designer, window, designer.api.template())
    text = page.locator("#in-headline")
    text.fill("One")
    before = text.bounding_box()["height"]
    text.fill("One\nTwo\nThree")
    assert text.bounding_box()["height"] > before * 1.5


def test_accounts_with_long_names_leave_their_figures_in_sight(own_world: World, window: Window) -> None:
    own_world.account("W" * 120)
    with signed_in(own_world, "boss", operator=True) as boss:
        page = window(boss)
        page.goto(f"{boss.origin}/console/accounts")
        table = page.locator("[aria-label=Accounts]")
        assert table.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_a_long_name_of_a_key_leaves_the_page_as_wide_as_a_phone(designer: Person, window: Window) -> None:
    assert designer.post("/account/keys", name="W" * 80, scope="renders:read").status_code == 200
    page = window(designer, phone=True)
    page.goto(f"{designer.origin}/console/account")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_gallery_shows_templates_as_their_name_is_typed(designer: Person, window: Window) -> None:
    for name in ("Alpha reel", "Beta card"):
        designer.api.template(name=name)
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates")
    page.get_by_role("searchbox").press_sequentially("alpha")
    expect(page.locator(".template-card h2")).to_have_text(["Alpha reel"])
    page.get_by_role("searchbox").press_sequentially(" none")
    expect(page.locator("#gallery")).to_contain_text("No name contains alpha none.")
    page.reload()
    expect(page.get_by_role("searchbox")).to_have_value("alpha none")


def test_pages_fit_a_phone_with_text_of_twice_the_size(designer: Person, window: Window) -> None:
    template = designer.api.template()
    address = f"templates/{template}/batch"
    batch = designer.post(f"/{address}/render", table="headline,photo\nAda,https://a.example/b.png").headers["location"]
    page = window(designer, phone=True)
    for path in (
        "templates",
        f"templates/{template}",
        f"templates/{template}/playground",
        address,
        batch[9:],
        "account",
    ):
        page.goto(f"{designer.origin}/console/{path}")
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert page.evaluate("document.documentElement.scrollWidth") == 360, path
