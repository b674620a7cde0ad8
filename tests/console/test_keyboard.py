"""The console by keyboard alone, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default")]

UNCOVERED = """() => {
    const box = document.activeElement.getBoundingClientRect();
    return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === document.activeElement;
}"""


def test_the_bar_of_the_selection_does_not_cover_what_has_the_focus(member: Person, window: Callable[..., Any]) -> None:
    template = member.api.template()
    for _ in range(12):
        member.api.render(template)
    page = window(member)
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(f"{member.origin}/console/renders")
    boxes = page.locator("input[name=job]")
    boxes.first.focus()
    page.keyboard.press("Space")
    covered = []
    for number in range(1, 12):
        while not boxes.nth(number).evaluate("(box) => box === document.activeElement"):
            page.keyboard.press("Tab")
        if not page.evaluate(UNCOVERED):
            covered.append(number)
    assert covered == []


def test_a_template_is_renamed_by_keyboard_and_escape_closes(member: Person, window: Callable[..., Any]) -> None:
    page = window(member)
    page.goto(f"{member.origin}/console/templates/{member.api.template()}")
    opener = page.locator("summary", has_text="Rename")
    opener.press("Enter")
    expect(page.locator("#name")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#name")).to_be_hidden()
    expect(opener).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#name")).to_be_focused()
    page.keyboard.type("Another name")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Another name")
