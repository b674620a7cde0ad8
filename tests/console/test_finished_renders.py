"""Finished renders in a real browser: shown in lists, downloaded, compared and shared."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.api.world import World, picture
from tests.console.people import Person, signed_in
from tests.patience import HANG_SECONDS

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]


def finished(designer: Person, headline: str, **changes: Any) -> str:
    """Complete a render with this text; return its id. Its file contains the text."""
    world = designer.api.world
    inputs = {"photo": "https://media.example.com/a.png", "headline": headline}
    job = str(designer.api.render(designer.api.template(**changes), inputs=inputs).json()["jobId"])
    key = f"results/{job}.mp4"
    path = world.settings.data_folder / "storage" / "objects" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(headline.encode())
    world.move(job, "completed", video_key=key)
    return job


def test_a_list_shows_each_render_by_its_own_picture_and_texts(designer: Person, window: Window) -> None:
    autumn, winter = finished(designer, "Autumn bargains"), finished(designer, "Winter bargains")
    page = window(designer)
    page.goto(f"{designer.origin}/console/renders")
    for job, words in ((autumn, "Autumn bargains"), (winter, "Winter bargains")):
        expect(page.locator(f"#row-{job} .what")).to_contain_text(words)
        assert job in (page.locator(f"#row-{job} .poster").get_attribute("src") or "")
    page.fill("#text", "autumn barg")
    page.wait_for_url("**text=autumn*")
    expect(page.locator("tr[data-job]")).to_have_count(1)
    expect(page.locator(f"#row-{autumn}")).to_be_visible()


def test_the_selected_renders_are_downloaded_as_one_zip(designer: Person, window: Window, tmp_path: Path) -> None:
    jobs = [finished(designer, f"Zipped {number}", name="Sale: 50 %/day") for number in (1, 2)]
    waiting = designer.api.job()
    page = window(designer)
    page.goto(f"{designer.origin}/console/renders")
    for job in (*jobs, waiting):
        page.check(f"#row-{job} input[name=job]")
    download = page.locator("[data-download]")
    expect(download).to_have_text("Download 2 of 3")
    for _ in range(2):  # the page stays, so the user can download again at once
        with page.expect_download() as saved:
            download.click()
    saved.value.save_as(tmp_path / "renders.zip")
    with zipfile.ZipFile(tmp_path / "renders.zip") as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    left_out = found.pop("Not in this zip.txt")
    assert f"({waiting}): queued" in left_out
    assert not any(job in left_out for job in jobs)
    assert found == {
        f"Sale- 50 %-day {job[-6:]}.mp4": f"Zipped {number}" for number, job in zip((1, 2), jobs, strict=True)
    }


def test_unfinished_renders_alone_are_no_download(designer: Person, window: Window) -> None:
    job, page = designer.api.job(), window(designer)
    page.goto(f"{designer.origin}/console/renders")
    page.check(f"#row-{job} input[name=job]")
    expect(page.locator("[data-download]")).to_be_disabled()
    expect(page.locator("[data-download]")).to_have_text("Download 0 of 1")


def test_a_zip_names_a_file_that_is_gone(designer: Person) -> None:
    kept, gone = finished(designer, "Kept", name="Sale"), finished(designer, "Gone", name="Sale")
    (designer.api.world.settings.data_folder / "storage" / "objects" / f"results/{gone}.mp4").unlink()
    answer = designer.post("/renders/selection/download", job=[kept, gone])
    with zipfile.ZipFile(io.BytesIO(designer.client.get(answer.headers["location"]).content)) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == {f"Sale {kept[-6:]}.mp4", f"Sale {gone[-6:]}.mp4 is gone.txt"}


def test_a_zip_needs_a_finished_file_of_the_account(designer: Person, world: World) -> None:
    with signed_in(world, "another") as other:
        job = finished(designer, "Secret")
        sent, fetched = (
            other.post("/renders/selection/download", job=job),
            other.get(f"/renders/selection.zip?job={job}"),
        )
    for answer in (sent, fetched):
        assert answer.status_code == 400
        assert "None of the selected renders has a finished file" in answer.text


def test_two_renders_are_compared_side_by_side(designer: Person, window: Window) -> None:
    first, second = finished(designer, "Version one"), finished(designer, "Version two")
    page = window(designer)
    page.goto(f"{designer.origin}/console/renders")
    page.check(f"#row-{first} input[name=job]")
    compare = page.locator("[data-compare]")
    expect(compare).to_be_disabled()
    page.check(f"#row-{second} input[name=job]")
    compare.click()
    table = page.get_by_label("What differs")
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table.locator("tbody tr")).to_have_text("Headline Version one Version two", use_inner_text=True)
    expect(page.locator("video")).to_have_count(2)
    page.goto(f"{designer.origin}/console/renders/compare?left={first}&right={first}")
    expect(page.locator("main")).to_contain_text("Nothing: both were rendered with the same inputs")


def test_a_comparison_names_uploads_by_their_files(designer: Person) -> None:
    jobs, template = [], designer.api.template()
    for name in ("before.png", "after.png"):
        url = designer.api.upload(picture(), name).json()["url"]
        jobs.append(designer.api.render(template, inputs={"photo": url}).json()["jobId"])
    shown = designer.text(f"/renders/compare?left={jobs[0]}&right={jobs[1]}")
    assert "before.png" in shown
    assert "after.png" in shown
    assert "/files/assets/" not in shown


def test_a_finished_render_is_shared_by_a_link_that_needs_no_session(designer: Person, window: Window) -> None:
    page = window(designer)
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")  # as over plain HTTP
    page.goto(f"{designer.origin}/console/renders/{finished(designer, 'Shared')}")
    page.click("text=Copy link")
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.inner_text("#share")
    assert httpx.get(link, timeout=HANG_SECONDS).text == "Shared"


def test_advanced_sections_are_folded_and_remember_their_state(designer: Person, window: Window) -> None:
    job = designer.api.job()
    page = window(designer)
    page.goto(f"{designer.origin}/console/renders/{job}")
    expect(page.get_by_role("heading", name="Events")).to_be_hidden()
    page.click("text=How it was rendered")
    expect(page.get_by_role("heading", name="Events")).to_be_visible()
    with page.expect_response(f"**/renders/{job}"):
        page.evaluate(
            "Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'));"
            "Object.defineProperty(document, 'hidden', { value: false }); document.dispatchEvent(new Event('visibilitychange'))"
        )
    page.wait_for_timeout(300)
    expect(page.get_by_role("heading", name="Events")).to_be_visible()
