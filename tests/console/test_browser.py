"""Main workflows of the console in a real browser."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from farm_core.progress.changes import JobChange
from tests.console.changes import publish_until
from tests.console.filled import farm
from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("worker")]

Window = Callable[..., Any]


def test_progress_and_the_end_appear_without_reloading(operator: Person, window: Window) -> None:
    world, job = operator.api.world, farm(operator)["queued"]
    world.database.execute("UPDATE jobs SET status = 'processing', started_at = now() WHERE id = %s", (job,))
    page = window(operator)
    page.goto(f"{operator.origin}/console/renders")
    page.evaluate("window.stayed = true")
    page.check(f"#row-{job} input[name=job]")
    bar, percent = page.locator(f"#row-{job} progress"), page.locator(f"#row-{job} [data-percent]")
    publish_until(
        page,
        world,
        {"job_id": job, "account_id": operator.api.account_id, "progress": 42.5},
        lambda: (bar.evaluate("bar => bar.value"), percent.inner_text()) == (42.5, "42.5 %"),
    )
    world.move(job, "completed", video_key="results/x.mp4")
    done = page.locator(f"#row-{job} .state.completed")
    publish_until(
        page,
        world,
        {"job_id": job, "account_id": operator.api.account_id, "status": "completed"},
        lambda: done.count() == 1,
    )
    assert page.evaluate("window.stayed")
    expect(page.locator(f"#row-{job} input[name=job]")).to_be_checked()
    expect(page.locator("[data-download]")).to_have_text("Download")


def test_the_stream_is_closed_while_nobody_looks(operator: Person, window: Window) -> None:
    page = window(operator)
    with page.expect_response("**/console/events*"):
        page.goto(f"{operator.origin}/console/renders")
    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))"
    with page.expect_event("requestfailed", lambda request: "/events" in request.url):
        page.evaluate(hide % "true")
    with page.expect_request("**/console/events*"):
        page.evaluate(hide % "false")


def test_a_project_is_dropped_looked_at_and_imported(member: Person, window: Window, project: Path) -> None:
    page = window(member)
    page.goto(f"{member.origin}/console/templates")
    data = base64.b64encode(project.read_bytes()).decode()
    drop = """data => {
        const bytes = Uint8Array.from(atob(data), one => one.charCodeAt(0)), moved = new DataTransfer();
        moved.items.add(new File([bytes], 'greeting.motion'));
        document.querySelector('[data-import]').dispatchEvent(new DragEvent('drop', {dataTransfer: moved, bubbles: true, cancelable: true}));
    }"""
    with page.expect_navigation():
        page.evaluate(drop, data)
    assert "Nothing is stored yet" in page.inner_text("main")
    assert "headline" in page.inner_text("main")
    assert member.api.get("/templates").json()["total"] == 0
    page.fill("#name", "Greeting")
    page.click("text=Import the template")
    page.wait_for_url("**/console/templates/tpl_*")
    assert member.api.get("/templates").json()["items"][0]["name"] == "Greeting"


def test_content_that_cannot_be_imported_is_shown_before_anything_is_stored(
    member: Person, window: Window, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.motion"
    broken.write_bytes(b"this is no project")
    page = window(member)
    page.goto(f"{member.origin}/console/templates")
    page.set_input_files("#file", broken)
    page.wait_for_selector("text=This project cannot be imported")
    assert member.api.get("/templates").json()["total"] == 0


def test_a_render_is_cancelled_and_a_failed_one_retried(member: Person, window: Window) -> None:
    names, page = farm(member), window(member, phone=True, dark=True)
    renders = member.api.get("/renders").json()["total"]
    page.goto(f"{member.origin}/console/renders/{names['queued']}")
    page.click("main >> text=Cancel")
    page.wait_for_selector("text=The render was cancelled")
    assert member.api.get(f"/renders/{names['queued']}").json()["status"] == "cancelled"
    page.goto(f"{member.origin}/console/renders?status=failed")
    page.check("input[name=job]")
    page.click("[data-bulk] >> text=Retry")
    page.wait_for_selector("text=1 render was created again")
    assert member.api.get("/renders").json()["total"] == renders + 1


def test_an_action_on_all_that_match_says_how_many_first(operator: Person, window: Window) -> None:
    template = operator.api.template()
    jobs = [str(operator.api.render(template).json()["jobId"]) for _ in range(3)]
    page = window(operator)
    page.goto(f"{operator.origin}/console/renders?status=queued")
    page.click("text=Cancel all that match")
    page.wait_for_selector("h1:has-text('Cancel 3 renders?')")
    page.click("button:has-text('Cancel 3 renders')")
    page.wait_for_selector("text=3 renders were cancelled")
    assert {operator.api.get(f"/renders/{job}").json()["status"] for job in jobs} == {"cancelled"}


def test_filters_change_the_list_and_the_address(operator: Person, window: Window) -> None:
    names, page = farm(operator), window(operator)
    page.goto(f"{operator.origin}/console/renders")
    page.select_option("select[name=status]", "failed")
    page.wait_for_url("**status=failed*")
    page.wait_for_selector(f"#row-{names['queued']}", state="detached")
    assert page.locator(f"#row-{names['failed']}").count() == 1
    expect(page.locator("[aria-live=polite]").filter(has_text="1 render matches")).to_have_count(1)
    page.reload()
    assert page.locator("tr[data-job]").count() == 1


def test_a_worker_is_drained_and_resumed(operator: Person, window: Window) -> None:
    farm(operator)
    page = window(operator)
    page.goto(f"{operator.origin}/console/workers")
    page.click("button:has-text('Drain')")
    page.wait_for_selector(".state.drained")
    page.click("button:has-text('Resume')")
    page.wait_for_selector(".state.live")


def test_workers_that_are_gone_do_not_count_as_the_farm(operator: Person, window: Window) -> None:
    farm(operator)
    world = operator.api.world
    world.database.execute(
        "INSERT INTO workers (id, node, renderer, device, encoder, seen_at)"
        " VALUES ('worker-left', 'node-a', 'r', 'llvmpipe', 'libx264', %s)",
        (world.clock.now() - timedelta(minutes=20),),
    )
    page = window(operator)
    page.goto(f"{operator.origin}/console/")
    card = page.locator("a.figure-card[href='/console/workers']")
    expect(card.locator(".figure")).to_have_text("1 of 1")
    expect(card).to_contain_text("1 live · 1 gone")
    page.goto(f"{operator.origin}/console/workers")
    expect(page.get_by_label("Worker worker-left")).to_be_hidden()
    expect(page.get_by_role("button", name="Drain the node")).to_have_count(0)
    page.click("text=1 worker is gone")
    expect(page.get_by_label("Worker worker-left")).to_be_visible()


def test_a_key_is_created_shown_once_and_revoked(member: Person, window: Window) -> None:
    page = window(member)
    page.goto(f"{member.origin}/console/account")
    page.fill("#key-name", "n8n")
    page.click("text=Create the key")
    secret = page.inner_text("#secret")
    answer = member.api.world.client.get("/api/v1/usage", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    page.goto(f"{member.origin}/console/account")
    assert secret not in page.content()
    page.click("summary:has-text('Revoke')")
    page.click("text=Revoke the key")
    page.wait_for_selector("text=revoked")
    answer = member.api.world.client.get("/api/v1/usage", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 401


def test_faults_of_inputs_stand_next_to_their_fields(member: Person, window: Window) -> None:
    template = member.api.template()
    page = window(member)
    page.goto(f"{member.origin}/console/templates/{template}/playground")
    page.fill("#in-tint", "no colour")
    page.fill("#in-photo", "http://private.example.com/a.png")
    page.wait_for_selector("#fault-photo:visible")
    page.click("button:has-text('Render')")
    expect(page.get_by_role("alert").first).to_contain_text("Nothing was rendered.")
    expect(page.locator("#fault-photo")).to_be_visible()
    assert member.api.get("/renders").json()["total"] == 0
    page.fill("#in-photo", "https://media.example.com/a.png")
    page.fill("#in-tint", "#ff8800")
    page.fill("#in-headline", "Hello <b>you</b>")
    page.wait_for_selector("#fault-photo", state="hidden")
    expect(page.locator("#code-curl")).to_contain_text("Hello <b>you</b>")
    page.click("button:has-text('Render')")
    page.wait_for_url("**/console/renders/job_*", wait_until="commit")
    assert member.api.get("/renders").json()["total"] == 1


def test_a_file_that_cannot_be_uploaded_is_refused_next_to_its_field(
    member: Person, window: Window, tmp_path: Path
) -> None:
    page, words = window(member), tmp_path / "words.png"
    words.write_text("this is no picture")
    page.goto(f"{member.origin}/console/templates/{member.api.template()}/playground")
    page.set_input_files("[data-upload=in-photo]", words)
    page.wait_for_selector("#fault-photo:visible")
    fault = page.inner_text("#fault-photo")
    page.fill("#in-headline", "Another text")
    page.wait_for_selector("#code-curl:has-text('Another text')")
    assert page.inner_text("#fault-photo") == fault


@pytest.mark.usefixtures("long_window")
def test_a_first_preview_that_fails_says_why(member: Person, window: Window) -> None:
    template = member.api.template()
    member.api.world.settings.__dict__["stills_per_minute"] = 1
    member.get(f"/templates/{template}/poster.jpg")
    page = window(member)
    page.goto(f"{member.origin}/console/templates/{template}/playground")
    page.wait_for_selector("#preview-note:has-text('stills a minute')")
    assert page.is_hidden("#frame")


def test_the_page_of_a_render_ends_with_it_even_if_the_end_itself_is_missed(member: Person, window: Window) -> None:
    world, job = member.api.world, farm(member)["queued"]
    page = window(member)
    page.goto(f"{member.origin}/console/renders/{job}")
    world.move(job, "failed", error="The photo could not be fetched.")
    retry = page.locator(".head >> text=Retry")
    change: JobChange = {"job_id": job, "account_id": member.api.account_id, "progress": 1.0}
    publish_until(page, world, change, lambda: retry.count() == 1)
    expect(page.locator(".head .state.failed")).to_have_count(1)


def test_the_console_works_without_scripts(operator: Person, window: Window) -> None:
    names, page = farm(operator), window(operator, java_script_enabled=False)
    page.goto(f"{operator.origin}/console/renders")
    page.select_option("select[name=status]", "failed")
    page.click("text=Filter")
    expect(page.locator("tr[data-job]")).to_have_count(1)
    page.check("input[name=job]")
    page.click("[data-bulk] >> text=Retry")
    expect(page.locator("main")).to_contain_text("1 render was created again")
    page.goto(f"{operator.origin}/console/templates/{names['template']}/playground")
    page.fill("#in-headline", "plain")
    page.click("button:has-text('Preview')")
    expect(page.locator("#frame")).to_have_attribute("src", re.compile("input\\.headline=plain"))
