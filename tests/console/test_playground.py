"""The playground's form without a browser's scripts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from console.playground.endpoints import WARNINGS
from tests.api.workers import drawing
from tests.api.world import document, field, layer, picture, template_body, text_template
from tests.console.people import Person

pytestmark = pytest.mark.service


def test_the_form_shows_what_the_document_shows_by_itself(member: Person) -> None:
    template = member.api.template()
    assert "Hello" in member.text(f"/templates/{template}/playground")


def test_the_form_keeps_every_digit_of_a_number_because_it_is_sent_back(member: Person) -> None:
    template = member.api.template()
    shown = member.text(f"/templates/{template}/playground?input.size=1234567.25")
    assert 'value="1234567.25"' in shown


def test_a_document_that_cannot_be_read_leaves_the_form_empty(member: Person) -> None:
    template, world = member.api.template(), member.api.world
    ((key,),) = world.database.execute("SELECT document_key FROM templates WHERE id = %s", (template,)).fetchall()
    path = world.settings.data_folder / "storage" / "objects" / key
    for content in (b"[" * 100_000, b'{"scene": 7}', b""):
        path.write_bytes(content)
        assert "Hello" not in member.text(f"/templates/{template}/playground")
    path.unlink()
    assert "headline" in member.text(f"/templates/{template}/playground")


def test_a_frame_from_the_cache_names_what_it_leaves_out_as_the_first_one_does(member: Person, tmp_path: Path) -> None:
    template = text_template(member.api)
    with drawing(member.api.world, tmp_path) as worker:
        answers = [member.post(f"/templates/{template}/preview") for _ in range(2)]
        assert len(worker.stills) == 1
    assert [json.loads(unquote(answer.headers[WARNINGS])) for answer in answers] == [["a font is missing"]] * 2


def test_a_render_with_an_upload_can_be_repeated_from_its_page(member: Person) -> None:
    template = member.api.template()
    url = member.api.post("/assets", files={"file": ("a.png", picture())}).json()["url"]
    job = member.api.render(template, inputs={"photo": url}).json()["jobId"]
    shown = html.unescape(member.text(f"/renders/{job}"))
    (query,) = re.findall(r"/playground\?(\S+)\"", shown)
    assert "must be" not in member.text(f"/templates/{template}/playground?{query}")
    (body,) = re.findall(r"  -d '(.*?)'\n?<", shown, re.DOTALL)
    repeated = json.loads(body)
    assert repeated["inputs"]["photo"].startswith(member.origin)
    assert member.api.post("/renders", json=repeated).status_code == 201


def test_a_reached_quota_keeps_the_values_in_the_form(member: Person) -> None:
    template = member.api.template()
    member.api.world.limit(member.api.account_id, monthlyRenderMinutes=0)
    given = {"input.headline": "Entered with care", "input.photo": "https://media.example.com/photo.png"}
    answer = member.post(f"/templates/{template}/render", **given)
    assert answer.status_code == 403
    assert "of this month's 0 are used or reserved" in html.unescape(answer.text)
    assert "Entered with care" in answer.text


def test_a_page_that_is_older_than_its_template_renders_nothing(member: Person) -> None:
    template = text_template(member.api)
    playground, batch = f"/templates/{template}/playground", f"/templates/{template}/batch"
    table = "headline,title\nEntered with care,kept\n"
    forms: list[tuple[str, dict[str, str]]] = [
        (f"/templates/{template}/render", {"input.title": "kept", "version": version_on(member.text(playground))}),
        (f"{batch}/render", {"table": table, "version": version_on(member.post(batch, table=table).text)}),
    ]
    other = document(layer("n1", "Title", "text"), fields=[field("title", "text", "n1", "Text", "content")])
    body = template_body(document=other, inputs=[{"id": "title", "label": "Title", "kind": "text"}])
    assert member.api.ask("PUT", f"/templates/{template}", json=body).status_code == 200
    for address, form in forms:
        answer = member.post(address, **form)
        assert answer.status_code == 409
        assert "The template was replaced after you opened this page" in answer.text and "kept" in answer.text
        assert member.api.get("/renders").json()["total"] == 0
        form["version"] = version_on(answer.text)
    assert [member.post(address, **form).status_code for address, form in forms] == [303, 303]


def version_on(text: str) -> str:
    (version,) = re.findall(r'name="version" value="(\d+)"', text)
    return str(version)


def test_the_preview_is_a_frame_of_a_video_of_the_chosen_size(member: Person, tmp_path: Path) -> None:
    template = member.api.template(width=1280, height=720)
    with drawing(member.api.world, tmp_path) as worker:
        for size in ("1280x720", "320x180"):
            assert member.post(f"/templates/{template}/preview", **{"output.size": size}).status_code == 200
        member.post(f"/templates/{template}/preview", **{"output.size": "320x180", "save": "1"})
    drawn = [assignment.video_format for assignment, _ in worker.stills]
    assert [(one.width, one.still_scale) for one in drawn] == [(640, 0.5), (640, 2.0), (320, 1.0)]


def test_without_scripts_the_code_is_headed_and_a_preview_has_no_secret_in_its_address(
    designer: Person, window: Callable[..., Any]
) -> None:
    page = window(designer, java_script_enabled=False)
    page.goto(f"{designer.origin}/console/templates/{designer.api.template()}/playground")
    expect(page.get_by_role("heading", name="Python")).to_be_visible()
    page.fill("#in-headline", "Shown without scripts")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#in-headline")).to_have_value("Shown without scripts")
    assert "input.headline=Shown+without+scripts" in page.url
    assert "csrf" not in page.url and "once" not in page.url
    expect(page.locator("#frame")).to_have_attribute("src", re.compile("Shown\\+without|Shown%20without"))


def test_an_action_that_changed_nothing_says_which_renders_it_is_for(member: Person) -> None:
    job = member.api.render(member.api.template()).json()["jobId"]
    answer = member.post("/renders/actions/retry", job=job)
    shown = member.text(answer.headers["location"].removeprefix("/console"))
    assert "Nothing was created again: only failed and cancelled renders can be, each once." in shown


IN_BUNDLE = "There is nothing at assets/photo.png: its layer is not drawn."


def test_a_preview_names_the_inputs_without_a_file_instead_of_paths_in_the_bundle(
    member: Person, tmp_path: Path
) -> None:
    template = member.api.template()
    with drawing(member.api.world, tmp_path) as worker:
        worker.warnings = (IN_BUNDLE, "a font is missing")
        answer = member.post(f"/templates/{template}/preview")
    assert json.loads(unquote(answer.headers[WARNINGS])) == ["No file is chosen yet for “Photo”.", "a font is missing"]


def test_warnings_about_the_first_picture_are_shown(page: Any) -> None:
    expect(page.locator("#warnings")).to_contain_text("a font is missing")


def test_once_nothing_changes_the_frame_has_the_pixels_of_the_screen(
    designer: Person, window: Callable[..., Any]
) -> None:
    template = designer.api.template(width=1280, height=720)
    page = window(designer, device_scale_factor=2)
    page.goto(f"{designer.origin}/console/templates/{template}/playground")
    frame = page.locator("#frame")
    expect(frame).to_have_js_property("naturalWidth", 1280)
    page.fill("#in-headline", "Sharp")
    expect(page.locator("#latency")).to_contain_text("drawn in")  # the quick frame
    expect(frame).to_have_js_property("naturalWidth", 1280)


def test_media_that_cannot_be_fetched_are_a_fault_of_their_input(page: Any) -> None:
    fault = re.compile(r"^could not be fetched: .* Check the address, or upload a file\.$")
    page.fill("#in-photo", "https://media.example.com/gone.png")
    expect(page.locator("#fault-photo")).to_have_text(fault)
    page.fill("#in-headline", "Changed meanwhile")
    expect(page.locator("#code-curl")).to_contain_text("Changed meanwhile")
    expect(page.locator("#fault-photo")).to_have_text(fault)
    page.get_by_role("button", name="Remove Photo").click()
    expect(page.locator("#latency")).to_contain_text("drawn in")
    expect(page.locator("#fault-photo")).to_be_hidden()


def test_a_change_that_the_frame_does_not_show_is_told(page: Any) -> None:
    expect(page.locator("#warnings")).to_be_visible()  # the first frame is there
    page.fill("#in-headline", "In a scene that comes later")
    expect(page.locator("#preview-note")).to_have_text("This change does not show at 1.50 s. Move the time to see it.")
    page.locator("#time").press("ArrowRight")  # the worker draws another picture for each time
    expect(page.locator("#preview-note")).to_have_text("")


def test_another_size_of_the_video_is_no_change_that_does_not_show(page: Any) -> None:
    expect(page.locator("#warnings")).to_be_visible()  # the first frame is there
    drawn = int(page.locator("#frame").get_attribute("data-drawn") or 0)
    page.select_option("#size", index=1)
    expect(page.locator("#frame")).to_have_attribute("data-drawn", str(drawn + 1))
    expect(page.locator("#preview-note")).to_have_text("")
