"""The playground in a real browser, with late, reordered or missing answers for previews, drafts and uploads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.console.held import HeldAnswers
from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]


def is_draft(request: Any) -> bool:
    return "draft=1" in (request.post_data or "")


def is_frame(request: Any) -> bool:
    return not is_draft(request) and "width=" not in (request.post_data or "")  # not the one that follows at rest


def test_of_two_uploads_the_newer_one_counts(page: Any, photo: Path) -> None:
    newer = photo.with_name("newer.png")
    newer.write_bytes(photo.read_bytes())
    uploads = HeldAnswers(page, "**/console/uploads")
    page.set_input_files("[data-upload=in-photo]", photo)
    uploads.wait()
    label = page.locator("[data-upload-label]")
    expect(label).to_have_text("Uploading…")
    page.set_input_files("[data-upload=in-photo]", newer)
    uploads.wait(2)
    uploads.arrive(newest_first=True)
    page.wait_for_timeout(1000)  # a cancelled upload has no answer to wait for
    expect(page.locator("[data-field=photo] [data-name]")).to_have_text("newer.png")
    expect(label).to_have_text("Replace")


def test_an_address_that_is_typed_during_an_upload_stays(page: Any, photo: Path) -> None:
    uploads = HeldAnswers(page, "**/console/uploads")
    page.set_input_files("[data-upload=in-photo]", photo)
    uploads.wait()
    page.fill("#in-photo", "https://media.example.com/a.png")
    uploads.arrive()
    expect(page.locator("#in-photo")).to_have_value("https://media.example.com/a.png")
    expect(page.locator("[data-upload-label]")).to_have_text("Upload")


def test_a_render_waits_for_the_upload_that_is_under_way(designer: Person, page: Any, photo: Path) -> None:
    uploads = HeldAnswers(page, "**/console/uploads")
    page.set_input_files("[data-upload=in-photo]", photo)
    uploads.wait()
    page.click("button:has-text('Render')")
    uploads.arrive()
    page.wait_for_url("**/console/renders/job_*", wait_until="commit")
    job = page.url.rpartition("/")[2]
    ((inputs,),) = designer.api.world.database.execute("SELECT inputs FROM jobs WHERE id = %s", (job,)).fetchall()
    assert "/ast_" in inputs["photo"]


def test_the_first_frame_shows_that_it_is_being_drawn_and_says_so_when_it_takes_long(page: Any) -> None:
    frames = HeldAnswers(page, "**/preview.jpg*")
    page.reload(wait_until="domcontentloaded")
    frames.wait()
    expect(page.locator("#busy")).to_be_visible()
    expect(page.locator("#preview-note")).to_contain_text("Still drawing.")
    frames.arrive()
    expect(page.locator("#busy")).to_be_hidden()
    expect(page.locator("#preview-note")).to_have_text("")


def test_a_draft_of_former_inputs_is_not_played(page: Any) -> None:
    drafts = HeldAnswers(page, "**/preview", is_draft)
    page.click("#play")
    drafts.wait()
    page.fill("#in-headline", "Typed while the draft was drawn")
    drafts.arrive()
    expect(page.locator("#play")).to_have_text("Play draft")
    expect(page.locator("#draft")).to_be_hidden()
    drafts.pass_on()
    with page.expect_request(lambda request: is_draft(request) and "Typed+while" in (request.post_data or "")):
        page.click("#play")
    expect(page.locator("#draft")).to_be_visible()
    assert page.locator("#clock").get_attribute("aria-live") == "off", "a screen reader would speak each frame"


def test_a_draft_that_is_stopped_before_it_is_drawn_does_not_begin(page: Any) -> None:
    drafts = HeldAnswers(page, "**/preview", is_draft)
    page.click("#play")
    drafts.wait()
    page.click("#play")
    drafts.arrive()
    expect(page.locator("#draft")).to_be_hidden()
    expect(page.locator("#play")).to_have_text("Play draft")


def test_a_frame_that_comes_late_does_not_cover_the_draft(page: Any) -> None:
    frames = HeldAnswers(page, "**/preview", is_frame)
    page.fill("#in-headline", "Drawn slowly")
    frames.wait()
    page.click("#play")
    expect(page.locator("#draft")).to_be_visible()
    frames.arrive()
    expect(page.locator("#latency")).to_contain_text("drawn in")
    expect(page.locator("#draft")).to_be_visible()
    expect(page.locator("#frame")).to_be_hidden()


def test_a_frame_that_is_being_saved_is_not_saved_twice(page: Any) -> None:
    saved: list[Any] = []
    page.on("request", lambda request: saved.append(request) if "save=1" in (request.post_data or "") else None)
    saves = HeldAnswers(page, "**/preview", lambda request: "save=1" in (request.post_data or ""))
    for _ in range(2):
        page.dispatch_event("#save-frame", "click")
    saves.wait()
    saves.pass_on()
    with page.expect_download():
        saves.arrive()
    with page.expect_download():
        page.click("#save-frame")
    assert len(saved) == 2


def test_the_preview_goes_on_where_the_browser_limits_changes_of_the_address(designer: Person, window: Window) -> None:
    page = window(designer)
    page.add_init_script("""
        const replace = history.replaceState.bind(history);
        let limit = 4;
        history.replaceState = (...given) => { if (limit-- > 0) throw new DOMException("too often", "SecurityError"); replace(...given); };
    """)
    page.goto(f"{designer.origin}/console/templates/{designer.api.template()}/playground")
    page.locator("#in-headline").press_sequentially("!")
    for letter in "abc":
        page.locator("#in-headline").press_sequentially(letter)
    expect(page.locator("#code-curl")).to_contain_text("abc")
    expect(page.locator("#latency")).to_contain_text("drawn in")
    page.wait_for_url("**input.headline=*abc*")


def test_a_preview_is_drawn_once_the_network_is_back(page: Any) -> None:
    page.context.set_offline(True)
    page.fill("#in-headline", "Typed on a train")
    expect(page.locator("#preview-note")).to_have_text("You are offline. Check the connection.")
    page.context.set_offline(False)
    expect(page.locator("#preview-note")).not_to_contain_text("offline")
    expect(page.locator("#code-curl")).to_contain_text("Typed on a train")


def test_a_form_that_is_sent_again_without_an_answer_creates_no_second_render(designer: Person) -> None:
    template = designer.api.template()
    given = {"once": "a-page", "input.photo": "https://media.example.com/a.png"}
    first, again = (designer.post(f"/templates/{template}/render", **given) for _ in range(2))
    other = designer.post(f"/templates/{template}/render", **given, **{"input.headline": "Another"})
    new_page = designer.post(f"/templates/{template}/render", **{**given, "once": "another-page"})
    assert first.status_code == 303
    assert first.headers["location"] == again.headers["location"]
    assert len({answer.headers["location"] for answer in (first, other, new_page)}) == 3
    job = first.headers["location"].rsplit("/", 1)[-1]
    entries = designer.api.world.database.execute("SELECT action FROM audit_log WHERE target = %s", (f"job {job}",))
    assert entries.fetchall() == [("render",)], "one render, one entry"
    assert 'name="once"' in designer.text(f"/templates/{template}/playground")
