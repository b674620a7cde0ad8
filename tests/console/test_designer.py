"""Designers' work in the playground and gallery, in a real browser: one farm, and one window per test."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.api.world import World, document, field, layer, picture
from tests.console.people import Person, signed_in

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]
LONG_NAME = "A name that somebody pasted from a whole sentence and never shortened, with_one_part_that_cannot_be_broken_anywhere"


def many_inputs(designer: Person, count: int) -> str:
    """Create a template with a long name and this many texts; return its id. The first text has a long label without
    spaces."""
    layers = [layer(f"n{index}", f"Text {index}", "text") for index in range(count)]
    fields = [field(f"text{index}", "text", f"n{index}", "Text", "content") for index in range(count)]
    inputs = [{"id": one["id"], "label": one["label"], "kind": one["kind"]} for one in fields]
    inputs[0]["label"] = "Label" * 30
    return designer.api.template(name=LONG_NAME, document=document(*layers, fields=fields), inputs=inputs)


def playground(designer: Person, window: Window, template: str | None = None, **options: Any) -> Any:
    """Open the playground of a template, by default one with an input of each kind."""
    page = window(designer, **options)
    page.goto(f"{designer.origin}/console/templates/{template or designer.api.template()}/playground")
    return page


def test_numbers_are_taken_as_they_are_typed_in_any_country(designer: Person, window: Window) -> None:
    page = playground(designer, window, locale="de-DE")
    size, fault, code = page.locator("#in-size"), page.locator("#fault-size"), page.locator("#code-curl")
    for typed, sent in (("1,5", "1.5"), ("-3", "-3"), (".5", "0.5"), ("−2,25", "-2.25"), ("1e3", "1000")):
        size.fill("")
        size.press_sequentially(typed)
        expect(code).to_contain_text(f'"size": {sent}\n')
        expect(fault).to_be_hidden()
    for typed in ("-", "1e", "1,500", "1.500,5", "1e999", "nan", "1_000"):
        size.fill(typed)
        expect(fault).to_contain_text("must be a number, such as 1500 or 0.5")
    size.fill("")
    expect(fault).to_be_hidden()
    expect(code).not_to_contain_text("size")


def test_arrow_keys_step_numbers(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    size = page.locator("#in-size")
    size.fill("1,5")
    for key, value in (("ArrowUp", "2.5"), ("Shift+ArrowUp", "12.5"), ("Alt+ArrowDown", "12.4"), ("ArrowDown", "11.4")):
        size.press(key)
        expect(size).to_have_value(value)
    expect(page.locator("#code-curl")).to_contain_text('"size": 11.4')


def test_the_picker_shows_the_colour_that_is_typed(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    for typed, shown in (("#f00", "#ff0000"), ("#00FF88", "#00ff88"), ("rgb(0, 0, 255)", "#0000ff")):
        page.fill("#in-tint", typed)
        expect(page.locator("[data-colour=in-tint]")).to_have_value(shown)


def test_colours_are_taken_as_design_programs_copy_them(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    for copied, sent in (("FF8800", "#FF8800"), (" 00ff8880 ", "#00ff8880")):
        page.fill("#in-tint", copied)
        expect(page.locator("#code-curl")).to_contain_text(f'"tint": "{sent}"')
        expect(page.locator("#fault-tint")).to_be_hidden()
        expect(page.locator("[data-colour=in-tint]")).to_have_value(sent.lower()[:7])
    page.locator("[data-colour=in-tint]").fill("#0000ff")
    expect(page.locator("#in-tint")).to_have_value("#0000ff80")  # a picker knows no alpha: that of the text stays
    page.fill("#in-tint", "8800")  # a spreadsheet's 008800
    expect(page.locator("#fault-tint")).to_contain_text("must be a colour")


def test_entered_values_survive_a_reload_and_a_change_of_theme(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    page.fill("#in-headline", "Two lines\n& a sign")
    page.fill("#in-size", "41")
    page.reload()
    expect(page.locator("#in-size")).to_have_value("41")
    page.click("button:visible:has-text('Dark')")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#in-headline")).to_have_value("Two lines\n& a sign")
    expect(page.locator("#in-size")).to_have_value("41")


def test_faults_of_addresses_say_what_to_do(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    for typed, said in (
        ("my photo.png", "must be an upload, or an address on the internet that begins with https://"),
        ("http://private.example.com/a.png", "must be an upload, or an address on the internet that begins with https://. The host"),
        (f"{designer.origin}/files/assets/acc_1/ast_1.png", "Upload the file again."),
    ):  # fmt: skip
        page.fill("#in-photo", typed)
        expect(page.locator("#fault-photo")).to_contain_text(said)


def test_a_refused_render_leads_to_the_first_input_that_needs_a_change(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    page.fill("#in-size", "many")
    page.click("button:has-text('Render')")
    expect(page.locator("form [role=alert]").first).to_have_text(
        "Nothing was rendered. These inputs need a change: Size, Photo."
    )
    expect(page.locator("#in-size")).to_be_focused()
    page.reload()
    expect(page.locator("#in-size")).to_have_value("many")


def test_the_notice_of_a_refused_render_goes_when_its_inputs_are_right(
    designer: Person, window: Window, tmp_path: Path
) -> None:
    (tmp_path / "photo.png").write_bytes(picture())
    page = playground(designer, window)
    page.fill("#in-size", "many")
    page.click("button:has-text('Render')")
    notice = page.get_by_text("Nothing was rendered.")
    expect(notice).to_be_visible()
    expect(page.locator("[data-field=size] [data-reset]")).to_be_visible()  # the page's scripts have run
    page.set_input_files("[data-upload=in-photo]", tmp_path / "photo.png")
    expect(page.locator("#fault-photo")).to_be_hidden()
    expect(page.locator("#fault-size")).to_be_visible()
    expect(notice).to_be_visible()
    page.fill("#in-size", "12")
    expect(page.locator("#fault-size")).to_be_hidden()
    expect(notice).to_be_hidden()


def test_a_lost_session_leads_back_to_what_was_entered(designer: Person, window: Window, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(picture())
    page = playground(designer, window)
    page.context.clear_cookies()
    page.fill("#in-headline", "Entered with care")
    expect(page.locator("#preview-note")).to_have_text("You are signed out. Sign in again")
    page.set_input_files("[data-upload=in-photo]", tmp_path / "photo.png")
    expect(page.locator("#fault-photo")).to_have_text("Not uploaded: photo.png. You are signed out. Sign in again")
    page.click("button:has-text('Render')")
    page.fill("#token", designer.api.headers["Authorization"].removeprefix("Bearer "))
    page.click("button:has-text('Sign in')")
    expect(page.locator("#in-headline")).to_have_value("Entered with care")


def test_a_frame_that_no_longer_shows_the_inputs_is_dimmed_and_the_reason_stands_below(
    designer: Person, window: Window
) -> None:
    template = designer.api.template()
    page = playground(designer, window, template)
    page.fill("#in-headline", "Drawn")
    expect(page.locator("#latency")).to_contain_text("drawn in")
    expect(page.locator("#screen.stale")).to_have_count(0)
    designer.api.delete(f"/templates/{template}")
    page.fill("#in-headline", "Not drawn")
    expect(page.locator("#preview-note")).to_contain_text("There is no such template.")
    expect(page.locator("#screen.stale")).to_have_count(1)
    expect(page.locator("#latency")).to_have_text("")


def test_an_impatient_second_click_creates_no_second_render(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    sent: list[str] = []
    page.route("**/render", lambda route: sent.append(route.request.url))  # the farm takes long to answer
    button = page.locator("button:has-text('Render')")
    with page.expect_request("**/render"):
        button.click(no_wait_after=True)
    expect(button).to_have_attribute("aria-busy", "true")
    button.click(no_wait_after=True)
    page.fill("#in-headline", "Entered after both clicks")
    expect(page.locator("#code-curl")).to_contain_text("Entered after both clicks")
    assert len(sent) == 1


def test_the_preview_stays_in_sight_of_the_fortieth_input_on_a_phone(designer: Person, window: Window) -> None:
    page = playground(designer, window, many_inputs(designer, 40), phone=True)
    page.focus("#in-text39")
    frame, entered = page.locator("#screen").bounding_box(), page.locator("#in-text39").bounding_box()
    assert 0 <= frame["y"] < frame["y"] + frame["height"] < entered["y"] < entered["y"] + entered["height"] <= 740
    page.focus("#in-text20")  # scrolled to from below, so the preview could cover it
    assert page.locator("#in-text20").bounding_box()["y"] > frame["y"] + frame["height"]


def test_an_upload_is_shown_by_the_name_of_its_file(designer: Person, window: Window, tmp_path: Path) -> None:
    (tmp_path / "Café photo.png").write_bytes(picture())
    page = playground(designer, window)
    page.set_input_files("[data-upload=in-photo]", tmp_path / "Café photo.png")
    for _ in ("at once", "after a reload"):
        field = page.locator("[data-field=photo]")
        expect(field.locator("[data-name]")).to_have_text("Café photo.png")
        expect(field.locator("#in-photo")).to_be_hidden()
        expect(field.locator("[data-picture]")).to_be_visible()
        expect(field.locator("[data-picture]")).to_have_js_property("naturalWidth", 8)
        page.wait_for_url("**input.photo=**")
        page.reload()
    page.click("[data-field=photo] >> text=Remove")
    expect(page.locator("#in-photo")).to_be_visible()
    expect(page.locator("#in-photo")).to_have_value("")
    expect(page.locator("#code-curl")).not_to_contain_text("photo")


def test_a_missing_value_is_no_fault_before_the_person_has_been_at_its_input(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    page.fill("#in-headline", "Typed first")
    expect(page.locator("#code-curl")).to_contain_text("Typed first")
    page.reload()
    expect(page.locator("#in-headline")).to_have_value("Typed first")
    expect(page.locator("#fault-photo")).to_be_hidden()
    page.fill("#in-photo", "https://media.example.com/a.png")
    page.fill("#in-photo", "")
    expect(page.locator("#fault-photo")).to_have_text("is required")


def test_inputs_that_differ_from_the_template_are_put_back(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    expect(page.get_by_role("button", name="Reset")).to_have_count(0)
    page.fill("#in-headline", "Another")
    expect(page.get_by_role("button", name="Reset")).to_have_count(1)
    page.fill("#in-size", "41")
    page.click("text=Reset all inputs")
    expect(page.locator("#in-headline")).to_have_value("Hello")
    expect(page.locator("#in-size")).to_have_value("")
    expect(page.get_by_role("button", name="Reset")).to_have_count(0)


def test_line_breaks_are_the_same_in_the_preview_and_in_the_render(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    page.fill("#in-photo", "https://media.example.com/a.png")
    page.fill("#in-headline", "\nOne\nTwo")
    page.reload()
    expect(page.locator("#in-headline")).to_have_value("\nOne\nTwo")
    page.click("button:has-text('Render')")
    page.wait_for_url("**/console/renders/job_*", wait_until="commit")
    job = page.url.rpartition("/")[2]
    ((inputs,),) = designer.api.world.database.execute("SELECT inputs FROM jobs WHERE id = %s", (job,)).fetchall()
    assert inputs["headline"] == "\nOne\nTwo"


def test_a_frame_is_saved_in_full_size(designer: Person, window: Window) -> None:
    page = playground(designer, window, designer.api.template(name='Sale: "50 %"', width=1080, height=1920))
    with page.expect_download() as saved, page.expect_request(lambda request: "save=1" in (request.post_data or "")):
        page.click("text=Save frame")
    assert saved.value.suggested_filename == "Sale- -50 %- 1.50 s.png"


def test_size_and_format_are_chosen_with_the_inputs(designer: Person, window: Window) -> None:
    world = designer.api.world
    before = world.settings.output_formats
    world.settings.__dict__["output_formats"] = "mp4,gif,webm"
    try:
        page = playground(designer, window)
        page.fill("#in-photo", "https://media.example.com/a.png")
        page.select_option("#size", label="320×180 (50%)")
        page.select_option("#format", label="WebM, transparent")
        expect(page.locator("#code-curl")).to_contain_text('"format": "webm"')
        page.reload()
        expect(page.locator("#size")).to_have_value("320x180")
        page.click("button:has-text('Render')")
        page.wait_for_url("**/console/renders/job_*", wait_until="commit")
        job = page.url.rpartition("/")[2]
        columns = "width, height, format, transparent"
        row = world.database.execute(f"SELECT {columns} FROM jobs WHERE id = %s", (job,)).fetchone()
        assert row == (320, 180, "webm", True)
        page.click("text=Open in the playground")
        expect(page.locator("#format")).to_have_value("webm+alpha")
    finally:
        world.settings.__dict__["output_formats"] = before


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_frames_of_upright_videos_are_shown_whole(designer: Person, window: Window, phone: bool) -> None:
    template = designer.api.template(width=1080, height=1920)
    job = designer.api.render(template, inputs={"photo": "https://media.example.com/a.png"}).json()["jobId"]
    page = playground(designer, window, template, phone=phone)
    for path in ("", f"{designer.origin}/console/renders/{job}"):
        if path:
            page.goto(path)
        page.wait_for_function("() => document.querySelector('.screen img').naturalWidth")
        screen, frame = (page.locator(one).first.bounding_box() for one in (".screen", ".screen img"))
        assert screen["y"] <= frame["y"] < frame["y"] + frame["height"] <= screen["y"] + screen["height"], path
        assert screen["width"] == pytest.approx(screen["height"] * 9 / 16, abs=2), f"{path}: black beside the frame"
        assert page.locator(".screen img").first.evaluate("one => getComputedStyle(one).objectFit") == "contain"


def test_a_draft_that_is_stopped_leaves_the_frame_of_that_moment(designer: Person, window: Window) -> None:
    page = playground(designer, window)
    page.click("#play")
    expect(page.locator("#draft")).to_be_visible()
    with page.expect_request(lambda one: one.url.endswith("/preview")) as asked:
        page.click("#play")
    assert f"time={page.locator('#time').input_value()}" in (asked.value.post_data or "").split("&")
    expect(page.locator("#frame")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 1280, 820, 390])
def test_long_names_stay_in_their_place(designer: Person, window: Window, width: int) -> None:
    template = many_inputs(designer, 1)
    job = designer.api.render(template, inputs={"text0": "Words " * 40}).json()["jobId"]
    page = window(designer)
    page.set_viewport_size({"width": width, "height": 844})
    for path in ("renders", f"renders/{job}", "templates", f"templates/{template}", f"templates/{template}/playground"):
        page.goto(f"{designer.origin}/console/{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        for table in page.locator(".scroll").all():
            assert table.evaluate("box => box.scrollWidth <= box.clientWidth"), (
                path,
                table.get_attribute("aria-label"),
            )
    page.goto(f"{designer.origin}/console/renders")
    name, state = (page.locator(f"#row-{job} {part}").bounding_box() for part in (".what > a", ".state"))
    assert name["x"] + name["width"] <= state["x"]
    page.goto(f"{designer.origin}/console/renders/{job}")
    if width < 860:
        assert page.locator(".topbar").bounding_box()["height"] < 60


def test_a_phone_on_its_side_shows_the_frame_beside_the_input(designer: Person, window: Window) -> None:
    page = playground(designer, window, many_inputs(designer, 20))
    page.set_viewport_size({"width": 844, "height": 390})
    page.locator("#in-text19").scroll_into_view_if_needed()
    for shown in (".screen", "#in-text19"):
        box = page.locator(shown).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 390, shown


def test_templates_are_found_by_name_over_several_pages(designer: Person, window: Window) -> None:
    for index in range(26):
        designer.api.template(name=f"Spot {index} for 100 % summer")
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates")
    page.keyboard.press("/")
    page.keyboard.type("0 % SUMMER")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("text=0"))
    expect(page.locator(".template-card")).to_have_count(24)
    page.click("text=More templates")
    expect(page.locator(".template-card")).to_have_count(2)
    page.fill("[name=text]", "no such name")
    expect(page.locator("main")).to_contain_text("No template matches")
    expect(page.locator("#spoken")).to_have_text("No template matches")
    page.click("text=Show all templates")
    expect(page.locator(".template-card")).to_have_count(24)


def test_the_gallery_shows_whole_pictures(designer: Person, window: Window) -> None:
    designer.api.template(width=360, height=640)
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates")
    assert page.locator(".template-card .poster").first.evaluate("one => getComputedStyle(one).objectFit") == "contain"


def test_the_address_of_an_import_leads_to_the_gallery(designer: Person) -> None:
    assert designer.get("/templates/import").headers["location"] == "/console/templates"


def test_templates_are_put_in_order_by_name(world: World, window: Window) -> None:
    with signed_in(world, "sorter") as person:
        names = [f"{'eé'[number % 2]} Name {number:02}" for number in range(27)] + ["Zebra", "apple", "Éclair"]
        for name in names:
            person.api.template(name=name)
        page = window(person)
        page.goto(f"{person.origin}/console/templates")
        page.select_option("[name=order]", label="By name")
        page.wait_for_url("**order=name*")
        shown = page.locator(".template-card h2").all_inner_texts()
        page.click("text=More templates")
        page.wait_for_url("**after=*")
        shown += page.locator(".template-card h2").all_inner_texts()
        assert shown[:2] == ["apple", "e Name 00"]
        assert sorted(shown) == sorted(names)
