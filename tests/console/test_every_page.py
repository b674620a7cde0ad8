"""Looks of pages in a real browser: accessibility, phones, dark mode, zoom, forced colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

from farm_core.ids import new_id
from tests.console.filled import farm
from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("worker")]

Window = Callable[..., Any]
PAGES = (
    "/", "/renders", "/renders?status=failed", "/renders/{queued}", "/renders/{failed}", "/renders/actions/cancel",
    "/renders/compare?left={queued}&right={failed}", "/templates", "/templates?text=none", "/templates?order=name",
    "/templates/{template}", "/templates/{template}/playground", "/templates/{template}/batch", "/renders?batch={batch}", "/uploads", "/workers", "/account", "/account/webhooks",
    "/accounts", "/accounts/{account}", "/accounts/{account}/delete", "/audit", "/sign-in", "/nowhere",
)  # fmt: skip
WIDER = """[...document.querySelectorAll('.scroll, pre')].filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.getAttribute('aria-label') || one.id)"""
"""Names of tables and code that only sideways scrolling shows as a whole."""
COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""Rules of axe whose result depends on the colour scheme."""


def watched(page: Any) -> tuple[list[str], list[str]]:
    """Collect the page's console messages and requested addresses."""
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    return messages, requests


@pytest.mark.parametrize("pages", [PAGES[::2], PAGES[1::2]], ids=["even", "odd"])
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_every_page_is_accessible_fits_and_stays_on_its_origin(
    operator: Person, window: Window, phone: bool, pages: tuple[str, ...]
) -> None:
    names, page = farm(operator), window(operator, phone=phone)
    messages, requests = watched(page)
    for path in pages:
        page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        page.goto(f"{operator.origin}/console{path.format(**names)}")
        assert grave_faults(page) == [], path
        page.emulate_media(
            color_scheme="dark", reduced_motion="reduce"
        )  # no transitions: axe would read colours halfway
        assert grave_faults(page, *COLOUR_RULES) == [], f"{path} in the dark"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is wider than the window"
        assert not phone or page.evaluate(WIDER) == [], f"{path} scrolls sideways"
    assert {urlsplit(url).netloc for url in requests if not url.startswith(("blob:", "data:"))} == {
        urlsplit(operator.origin).netloc
    }
    assert [line for line in messages if "404" not in line] == []  # the browser logs the 404 of /nowhere itself


def grave_faults(page: Any, *rules: str) -> list[tuple[str, list[str]]]:
    """Return the axe rules that the page breaks, with their elements. A second check can be limited to some rules."""
    only = {"runOnly": list(rules)} if rules else {}
    axe = Axe("axe.version") if rules else Axe()  # the first check has loaded axe
    results = axe.run(page, options={"resultTypes": ["violations"], **only}).response["violations"]
    return [
        (one["id"], [node["html"][:150] for node in one["nodes"]])
        for one in results
        if one["impact"] in ("serious", "critical") or one["id"] == "region"
    ]


def test_every_page_fits_a_window_of_1280_pixels_at_400_percent(operator: Person, window: Window) -> None:
    names, page = farm(operator), window(operator)
    page.set_viewport_size({"width": 320, "height": 256})
    for path in PAGES:
        page.goto(f"{operator.origin}/console{path.format(**names)}")
        assert page.evaluate("document.documentElement.scrollWidth") == 320, path


def test_the_selection_is_visible_with_forced_colours(operator: Person, window: Window) -> None:
    page = window(operator, forced_colors="active")
    page.goto(f"{operator.origin}/console/templates/{farm(operator)['template']}/playground")
    fill = "(one, part) => getComputedStyle(one, part).backgroundColor"
    for chosen in (".side nav a[aria-current=page]", ".themes [aria-pressed=true]", "[role=tab][aria-selected=true]"):
        marked = page.locator(chosen).last.evaluate(fill)  # the first one is for phones
        assert marked not in ("rgba(0, 0, 0, 0)", page.locator("body").evaluate(fill)), chosen
    page.goto(f"{operator.origin}/console/")
    assert len({page.locator(".legend span").nth(index).evaluate(fill, "::before") for index in range(3)}) == 3


def test_a_finished_video_has_no_bars_above_and_below(member: Person, window: Window) -> None:
    job = farm(member)["queued"]
    member.api.world.move(job, "completed", video_key="results/x.mp4")
    page = window(member)
    page.goto(f"{member.origin}/console/renders/{job}")
    box = page.locator("video").bounding_box()
    assert box["width"] / box["height"] == pytest.approx(16 / 9, rel=0.02)


def test_a_phone_shows_the_status_of_renders_without_scrolling_sideways(member: Person, window: Window) -> None:
    names, page = farm(member), window(member, phone=True)
    page.goto(f"{member.origin}/console/renders")
    for job in (names["queued"], names["failed"]):
        box = page.locator(f"#row-{job} .state").bounding_box()
        assert box["x"] + box["width"] < 350


def test_a_phone_shows_the_lines_of_a_tables_renders(member: Person, window: Window) -> None:
    batch, page = farm(member)["batch"], window(member, phone=True)
    page.set_viewport_size({"width": 320, "height": 740})
    page.goto(f"{member.origin}/console/renders?batch={batch}")
    line = page.locator(".what .clip:has(> a)").first
    assert line.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert line.locator("a").evaluate("link => link.getBoundingClientRect().right <= innerWidth")


def test_long_webhook_addresses_leave_room_for_what_became_of_them(member: Person, window: Window) -> None:
    world, job = member.api.world, farm(member)["queued"]
    world.database.execute("UPDATE jobs SET callback_url = 'https://example.com/' WHERE id = %s", (job,))
    world.database.execute(
        "INSERT INTO deliveries (id, job_id, url, body, status, attempt, attempts, due_at, created_at)"
        " VALUES (%s, %s, %s, '{}', 'delivered', 1, '[]', now(), now())",
        (new_id("d"), job, "https://example.com/" + "long/" * 60),
    )
    page = window(member)
    page.goto(f"{member.origin}/console/account/webhooks")
    table = page.locator("[aria-label=Webhooks]")
    assert table.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_the_keyboard_shows_where_it_is_on_the_upload(member: Person, window: Window) -> None:
    page = window(member)
    page.goto(f"{member.origin}/console/templates/{member.api.template()}/playground")
    page.focus("#in-photo")
    page.keyboard.press("Tab")
    upload = page.get_by_label("Upload a file for Photo")
    assert upload.evaluate("input => input === document.activeElement")
    assert page.locator("[data-upload-label]").evaluate("label => getComputedStyle(label).outlineStyle") == "solid"


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_nothing_moves_while_a_page_loads(operator: Person, window: Window, phone: bool) -> None:
    names, page = farm(operator), window(operator, phone=phone)
    operator.api.world.move(names["queued"], "completed", video_key="results/x.mp4")
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver(list => { for (const one of list.getEntries()) window.moved += one.value; })"
        ".observe({ type: 'layout-shift', buffered: true })"
    )
    for path in (
        "renders",
        f"renders/{names['queued']}",
        f"templates/{names['template']}",
        f"templates/{names['template']}/playground",
    ):
        page.goto(f"{operator.origin}/console/{path}", wait_until="networkidle" if "renders" not in path else "load")
        page.wait_for_timeout(500)
        assert page.evaluate("window.moved") < 0.02, path
