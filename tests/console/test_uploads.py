"""Uploads in the playground and beside a table: their progress, how they are cancelled, and how they are tried again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.api.media import files
from tests.api.workers import drawing
from tests.console.held import HeldAnswers
from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]
UPLOADS = "**/console/uploads"
IMPORTS = "**/console/templates/import"


def test_an_upload_shows_its_progress_and_is_cancelled(page: Any, photo: Path) -> None:
    uploads = HeldAnswers(page, UPLOADS)
    page.set_input_files("[data-upload=in-photo]", photo)
    uploads.wait()
    expect(page.get_by_role("progressbar", name="Upload of photo.png")).to_be_visible()
    page.get_by_role("button", name="Cancel the upload of photo.png").click()
    expect(page.get_by_role("progressbar")).to_be_hidden()
    expect(page.locator("[data-upload-label]")).to_have_text("Upload")
    uploads.arrive()
    expect(page.locator("#in-photo")).to_have_value("")


def test_a_render_that_waits_for_an_upload_is_not_sent_without_it(page: Any, photo: Path) -> None:
    uploads = HeldAnswers(page, UPLOADS)
    page.set_input_files("[data-upload=in-photo]", photo)
    uploads.wait()
    send = page.get_by_role("button", name="Render", exact=True)
    send.click()
    expect(send).to_have_attribute("aria-busy", "true")
    renders: list[str] = []
    page.on("request", lambda request: renders.append(request.url) if request.url.endswith("/render") else None)
    page.get_by_role("button", name="Cancel the upload of photo.png").click()
    expect(send).not_to_have_attribute("aria-busy", "true")
    page.wait_for_timeout(1000)  # a request would begin at once
    assert renders == []
    send.click()
    expect(page.locator(".notice.bad")).to_contain_text("Nothing was rendered.")


def test_an_upload_without_an_answer_is_tried_again(page: Any, photo: Path) -> None:
    page.route(UPLOADS, lambda route: route.abort())
    page.set_input_files("[data-upload=in-photo]", photo)
    expect(page.locator("#fault-photo")).to_have_text(
        "Not uploaded: photo.png. The farm does not answer. Check the connection."
    )
    page.unroute(UPLOADS)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("[data-field=photo] [data-name]")).to_have_text("photo.png")
    expect(page.locator("#fault-photo")).to_be_hidden()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_a_refused_file_is_named_and_not_tried_again(page: Any, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("no picture")
    page.set_input_files("[data-upload=in-photo]", notes)
    expect(page.locator("#fault-photo")).to_contain_text(
        "Not uploaded: notes.txt. The farm cannot draw or play this file"
    )
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_a_sound_for_a_picture_is_named_with_the_types_that_an_input_takes(page: Any, tmp_path: Path) -> None:
    sound = tmp_path / "music.mp3"
    sound.write_bytes(files()["audio/mpeg"])
    page.set_input_files("[data-upload=in-photo]", sound)
    expect(page.locator("#fault-photo")).to_have_text(
        "Not uploaded: music.mp3. The file is a sound (MP3). Accepted are PNG, JPEG, WebP, GIF, SVG, MP4, WebM and QuickTime."
        " Choose another file."
    )
    expect(page.locator("#spoken")).to_contain_text("The file is a sound (MP3).")


def test_a_picture_whose_name_has_the_wrong_ending_is_taken(page: Any, photo: Path) -> None:
    page.set_input_files("[data-upload=in-photo]", photo.rename(photo.with_suffix(".jpg")))
    expect(page.locator("[data-field=photo] [data-name]")).to_have_text("photo.jpg")
    expect(page.locator("#spoken")).to_have_text("photo.jpg is uploaded.")


def test_files_of_a_table_are_tried_again_and_its_rows_checked(designer: Person, window: Window, photo: Path) -> None:
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{designer.api.template()}/batch")
    page.fill("#table", "headline,photo\nHello,photo.png")
    page.route(UPLOADS, lambda route: route.abort())
    page.set_input_files("[data-media-files]", photo)
    expect(page.locator("[data-uploads]")).to_contain_text("photo.png: The farm does not answer.")
    page.unroute(UPLOADS)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name="Render 1 video")).to_be_visible()


def test_an_import_shows_its_progress_and_is_cancelled_or_tried_again(
    member: Person, window: Window, project: Path
) -> None:
    template = member.api.template()
    for path, chooser in (("templates", "#file"), (f"templates/{template}", "#replacement")):
        page = window(member)
        page.goto(f"{member.origin}/console/{path}")
        imports = HeldAnswers(page, "**/console/templates/*/replace" if chooser == "#replacement" else IMPORTS)
        page.set_input_files(chooser, project)
        imports.wait()
        expect(page.get_by_role("progressbar", name=f"Upload of {project.name}")).to_be_visible()
        page.get_by_role("button", name=f"Cancel the upload of {project.name}").click()
        expect(page.get_by_role("progressbar")).to_be_hidden()
        imports.arrive()
        page.unroute_all()
        page.context.set_offline(True)
        page.set_input_files(chooser, project)
        expect(page.get_by_role("alert")).to_have_text(f"{project.name}: You are offline. Check the connection.")
        page.context.set_offline(False)
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("main")).to_contain_text("Nothing is stored yet.")
        page.context.close()


def test_a_project_that_cannot_be_imported_is_named(designer: Person, window: Window, tmp_path: Path) -> None:
    (tmp_path / "broken.motion").write_bytes(b"no project")
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates")
    page.set_input_files("#file", tmp_path / "broken.motion")
    expect(page.get_by_role("alert")).to_contain_text("broken.motion: This project cannot be imported. ")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_a_reload_and_back_send_no_project_again(member: Person, window: Window, project: Path) -> None:
    page = window(member)
    page.goto(f"{member.origin}/console/templates")
    page.set_input_files("#file", project)
    page.fill("#name", "Greeting")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.reload()
    expect(page.locator("main")).to_contain_text("Nothing is stored yet.")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Templates")
    page.go_forward()
    page.get_by_role("button", name="Import the template").click()
    page.wait_for_url("**/templates/tpl_*")
    assert len(sent) == 1


def test_a_preview_says_what_does_not_look_as_designed(member: Person, window: Window, tmp_path: Path) -> None:
    with drawing(member.api.world, tmp_path) as worker:
        page = window(member)
        page.goto(f"{member.origin}/console/templates/{member.api.template()}/playground")
        worker.warnings = ("Layer “Photo”: A video holds no pictures.",)
        page.fill("#in-headline", "Drawn with a warning")
        expect(page.locator("#warnings")).to_contain_text("Layer “Photo”: A video holds no pictures.")
        worker.warnings = ()
        page.fill("#in-headline", "Drawn without one")
        expect(page.locator("#warnings")).to_be_hidden()


def test_a_refused_file_leads_to_another_one_of_the_types_that_the_farm_draws(page: Any, tmp_path: Path) -> None:
    (tmp_path / "photo.heic").write_bytes(b"")
    page.set_input_files("[data-upload=in-photo]", tmp_path / "photo.heic")
    expect(page.locator("#fault-photo")).to_have_text(re.compile(r"the file is empty\. .* Choose another file\.$"))
    accepted = page.get_attribute("[data-upload=in-photo]", "accept").split(",")
    assert "image/jpeg" in accepted and "image/heic" not in accepted and "video/mp4" not in accepted
    assert not [one for one in accepted if one.endswith("*")]  # such as image/*, with HEIC among them
