"""Pages of renders, the overview and the workers in a real browser, with late, reordered or missing answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.api.world import World
from tests.console.changes import asks, copy_unheard, publish, show
from tests.console.held import HeldAnswers
from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]
LOOK_AWAY_AND_BACK = """() => { for (const hidden of [true, false]) {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
} }"""
WORKER = """
    INSERT INTO workers (id, node, renderer, device, encoder, seen_at) VALUES ('w', 'node-a', 'r', 'llvmpipe', 'libx264', %s)
"""


def processing(person: Person, count: int = 1) -> list[str]:
    """Create running renders."""
    template = person.api.template()
    jobs = [str(person.api.render(template).json()["jobId"]) for _ in range(count)]
    for job in jobs:
        person.api.world.move(job, "processing")
    return jobs


def end(person: Person, job: str) -> None:
    """Complete a render and notify the open pages."""
    person.api.world.move(job, "completed", video_key="results/x.mp4")
    publish(person.api.world, {"job_id": job, "account_id": person.api.account_id, "status": "completed"})


def test_a_render_that_is_ticked_while_its_row_is_renewed_stays_ticked_and_focused(
    member: Person, window: Window
) -> None:
    (job,) = processing(member)
    page = show(member, window, "renders", job)
    rows = HeldAnswers(page, f"**/{job}/row")
    end(member, job)
    rows.wait()
    box = page.locator(f"#row-{job} input[name=job]")
    box.focus()
    page.keyboard.press("Space")
    rows.arrive()
    expect(page.locator(f"#row-{job} .state.completed")).to_be_visible()
    expect(box).to_be_checked()
    expect(box).to_be_focused()
    expect(page.locator("[data-download]")).to_have_text("Download")


def test_a_list_that_comes_late_leaves_the_ticked_renders_alone(member: Person, window: Window) -> None:
    (job,) = processing(member)
    page = show(member, window, "renders", job)
    lists = HeldAnswers(page, "**/console/renders", asks)
    new = copy_unheard(member, job, "queued")
    publish(member.api.world, {"job_id": new, "account_id": member.api.account_id, "status": "queued"})
    lists.wait()
    page.check(f"#row-{job} input[name=job]")
    lists.arrive()
    expect(page.locator("#arrived")).to_be_visible()
    expect(page.locator(f"#row-{new}")).to_have_count(0)
    expect(page.locator(f"#row-{job} input[name=job]")).to_be_checked()
    lists.pass_on()
    page.click("#arrived")
    expect(page.locator("#arrived")).to_be_hidden()
    expect(page.locator(f"#row-{job} input[name=job]")).not_to_be_checked()
    expect(page.locator(f"#row-{new}")).to_be_visible()


def test_ticked_renders_are_brought_up_to_date_and_news_announced_only_if_there_are_any(
    member: Person, window: Window
) -> None:
    first, second = processing(member, 2)
    page = show(member, window, "renders", first)
    page.check(f"#row-{first} input[name=job]")
    member.api.world.move(first, "completed", video_key="results/x.mp4")
    page.evaluate(LOOK_AWAY_AND_BACK)
    expect(page.locator(f"#row-{first} .state.completed")).to_be_visible()
    expect(page.locator("#arrived")).to_be_hidden()
    new = copy_unheard(member, second, "queued")
    member.api.world.move(second, "completed", video_key="results/x.mp4")
    page.evaluate(LOOK_AWAY_AND_BACK)
    expect(page.locator("#arrived")).to_be_visible()
    expect(page.locator(f"#row-{second} .state.completed")).to_be_visible()
    expect(page.locator(f"#row-{new}")).to_have_count(0)
    expect(page.locator(f"#row-{first} input[name=job]")).to_be_checked()


def test_a_list_that_was_asked_for_before_a_render_ended_does_not_bring_it_back(member: Person, window: Window) -> None:
    (job,) = processing(member)
    page = show(member, window, "renders", job)
    lists = HeldAnswers(page, "**/console/renders", asks)
    publish(member.api.world, {"job_id": "job_new", "account_id": member.api.account_id, "status": "queued"})
    lists.wait()
    end(member, job)
    expect(page.locator(f"#row-{job} .state.completed")).to_be_visible()
    lists.arrive()
    expect(page.locator(f"#row-{job} .state.completed")).to_be_visible()


def test_a_row_that_the_farm_does_not_give_at_once_is_asked_for_again(member: Person, window: Window) -> None:
    (job,) = processing(member)
    page = show(member, window, "renders", job)
    refusals = iter([503, 429])

    def refuse(route: Any) -> None:
        status = next(refusals, None)
        route.fulfill(status=status, body="busy") if status else route.fallback()

    page.route("**/row", refuse)
    end(member, job)
    expect(page.locator(f"#row-{job} .state.completed")).to_be_visible()
    expect(page.locator("#notices")).to_be_empty()


def test_going_back_from_a_filter_shows_the_whole_page(member: Person, window: Window) -> None:
    (job,) = processing(member)
    page = show(member, window, "renders", job)
    page.select_option("select[name=status]", "failed")
    page.wait_for_url("**status=failed*")
    page.go_back()
    expect(page.locator(f"#row-{job}")).to_be_visible()
    expect(page.get_by_role("navigation")).to_have_count(1)
    expect(page.locator("select[name=status]")).to_have_value("")


@pytest.mark.parametrize("path", ["renders", "templates/{template}"])
def test_automatic_updates_do_not_change_the_address_or_the_history(member: Person, window: Window, path: str) -> None:
    (job,) = processing(member)
    ((template,),) = member.api.world.database.execute("SELECT template_id FROM jobs WHERE id = %s", (job,)).fetchall()
    page = show(member, window, path.format(template=template), job)
    address, entries = page.url, page.evaluate("history.length")
    for _ in range(2):
        with page.expect_response(lambda answer: asks(answer.request)):
            page.evaluate(LOOK_AWAY_AND_BACK)
    member.api.world.move(job, "completed", video_key="results/x.mp4")
    with page.expect_response(lambda answer: asks(answer.request)):
        page.evaluate(LOOK_AWAY_AND_BACK)
    expect(page.locator(f"#row-{job} .state.completed")).to_be_visible()
    assert (page.url, page.evaluate("history.length")) == (address, entries)


def test_selected_renders_that_ended_unseen_show_it(member: Person, window: Window) -> None:
    job, other = processing(member, 2)
    page = show(member, window, "renders", job)
    page.check(f"#row-{other} input[name=job]")
    member.api.world.move(job, "completed", video_key="results/x.mp4")
    page.evaluate(LOOK_AWAY_AND_BACK)
    expect(page.locator(f"#row-{job} .state.completed")).to_be_visible()
    expect(page.locator(f"#row-{other} input[name=job]")).to_be_checked()


def test_the_end_of_a_render_keeps_the_selection_and_does_not_reload_the_page(member: Person, window: Window) -> None:
    (job,) = processing(member)
    page = show(member, window, f"renders/{job}", job)
    page.click("text=How it was rendered")
    page.evaluate(
        "getSelection().selectAllChildren(document.querySelector('#live .under strong')); window.stayed = true"
    )
    selected = page.evaluate("getSelection().toString()")
    with page.expect_response(lambda answer: asks(answer.request)):
        publish(member.api.world, {"job_id": job, "account_id": member.api.account_id, "segment": 1})
    page.wait_for_timeout(300)
    assert selected == page.evaluate("getSelection().toString()") == "Rendering"
    end(member, job)
    expect(page.locator("#live video")).to_be_visible()
    expect(page.locator(".head .state")).to_have_text("completed")
    expect(page.locator(".head >> text=Cancel")).to_have_count(0)
    expect(page.get_by_role("heading", name="Events")).to_be_visible()
    assert page.evaluate("window.stayed")


def test_the_page_of_a_render_shows_the_end_though_an_older_answer_comes_after_it(
    member: Person, window: Window
) -> None:
    (job,) = processing(member)
    page = show(member, window, f"renders/{job}", job)
    answers = HeldAnswers(page, f"**/renders/{job}", asks)
    publish(member.api.world, {"job_id": job, "account_id": member.api.account_id, "segment": 1})
    answers.wait()
    answers.pass_on()
    end(member, job)
    expect(page.locator(".head .state.completed")).to_be_visible()
    answers.arrive()
    expect(page.locator("#live[data-status=completed] video")).to_be_visible()


def test_a_button_that_is_pressed_while_the_workers_are_renewed_acts(operator: Person, window: Window) -> None:
    world = operator.api.world
    world.database.execute(WORKER, (world.clock.now(),))
    page = window(operator)
    workers = HeldAnswers(page, "**/console/workers", asks)
    page.goto(f"{operator.origin}/console/workers")
    workers.wait()
    page.get_by_role("button", name="Drain w", exact=True).hover()
    page.mouse.down()
    workers.arrive()
    page.mouse.up()
    expect(page.locator("article .state.drained")).to_be_visible()


def test_the_overview_goes_on_while_a_part_of_it_has_the_focus(operator: Person, window: Window) -> None:
    page = window(operator)
    page.goto(f"{operator.origin}/console/")
    card = page.locator("a.figure-card[href='/console/renders?status=queued']")
    card.focus()
    operator.api.job()
    expect(card.locator(".figure")).to_have_text("1")
    expect(card).to_be_focused()


def test_a_stream_that_is_refused_is_opened_again_and_what_was_missed_is_shown(member: Person, window: Window) -> None:
    (job,) = processing(member)
    page = show(member, window, "renders", job)
    refused = page.expect_response("**/console/events*")
    page.route("**/console/events*", lambda route: route.fulfill(status=503, body="busy"))
    with refused:
        page.evaluate(LOOK_AWAY_AND_BACK)
    expect(page.locator("#notices")).to_contain_text("Live updates are interrupted")
    member.api.world.move(job, "completed", video_key="results/x.mp4")
    page.unroute("**/console/events*")
    expect(page.locator(f"#row-{job} .state.completed")).to_be_visible()
    expect(page.locator("#notices")).to_be_empty()


def test_a_stream_from_which_nothing_comes_is_opened_again(member: Person, window: Window) -> None:
    (job,) = processing(member)
    page = window(member)
    page.clock.install()
    with page.expect_response("**/console/events*"):
        page.goto(f"{member.origin}/console/renders")
    page.clock.run_for(5_000)
    with page.expect_request("**/console/events*"):
        page.clock.run_for(60_000)
    expect(page.locator(f"#row-{job}")).to_be_visible()


def test_a_page_that_is_online_again_shows_what_it_has_missed(member: Person, window: Window) -> None:
    (job,) = processing(member)
    page = show(member, window, "renders", job)
    page.context.set_offline(True)
    expect(page.locator("#notices")).to_contain_text("Live updates are interrupted")
    member.api.world.move(job, "completed", video_key="results/x.mp4")
    page.context.set_offline(False)
    expect(page.locator(f"#row-{job} .state.completed")).to_be_visible()
    expect(page.locator("#notices")).to_be_empty()


def test_a_session_that_ends_in_another_tab_leaves_the_page_and_says_so(member: Person, window: Window) -> None:
    (job,) = processing(member)
    page = show(member, window, "renders?period=24h", job)
    page.context.clear_cookies()
    end(member, job)
    link = page.locator("#notices").get_by_role("link", name="Sign in again")
    expect(link).to_have_attribute("href", "/console/sign-in?next=%2Fconsole%2Frenders%3Fperiod%3D24h")
    expect(page.locator(f"#row-{job}")).to_be_visible()


def test_a_filter_without_a_session_leads_to_the_sign_in_and_back(world: World, shared_member: Person) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": f"{world.origin}/console/renders?period=24h"}
    shared_member.client.cookies.clear()
    answer = shared_member.get("/renders?status=failed", headers=headers)
    assert answer.headers["hx-redirect"] == "/console/sign-in?next=%2Fconsole%2Frenders%3Fperiod%3D24h"
