"""Templates that were deleted by mistake."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from farm_core.templates.repository import UNDELETE_TIME
from tests.api.world import text_template
from tests.console.people import Person

pytestmark = [pytest.mark.service, pytest.mark.filterwarnings("default")]


def test_a_deleted_template_comes_back_with_its_versions_and_can_be_rendered(
    member: Person, window: Callable[..., Any]
) -> None:
    template = text_template(member.api)
    page = window(member)
    page.goto(f"{member.origin}/console/templates/{template}")
    page.get_by_text("Delete", exact=True).click()
    page.get_by_role("button", name="Delete the template").click()
    expect(page.get_by_role("status")).to_contain_text("“Card” is deleted. It can be restored until")
    assert member.api.get(f"/templates/{template}").status_code == 404
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(f"**/templates/{template}")
    expect(page.locator("h1")).to_have_text("Card")
    assert member.api.render(template, inputs={"headline": "Hello"}).status_code in (200, 201, 202)


def test_a_template_is_restored_only_by_its_account_and_only_for_a_time(member: Person, operator: Person) -> None:
    template = text_template(member.api)
    shown = member.post(f"/templates/{template}/delete").headers["location"].removeprefix("/console")
    assert "Undo" in member.text(shown)
    member.api.world.database.execute(
        "UPDATE templates SET deleted_at = deleted_at - %s WHERE id = %s",
        (UNDELETE_TIME - timedelta(minutes=1), template),
    )
    assert "Undo" in member.text(shown)
    member.api.world.database.execute(
        "UPDATE templates SET deleted_at = deleted_at - interval '1 minute' WHERE id = %s", (template,)
    )
    assert "Undo" not in member.text(shown)
    assert member.post(f"/templates/{template}/undelete").status_code == 404
    other = text_template(operator.api)
    found = operator.post(f"/templates/{other}/delete").headers["location"].removeprefix("/console")
    assert re.search(r"/undelete", operator.text(found))
    assert "/undelete" not in member.text(found)
    assert member.post(f"/templates/{other}/undelete").status_code == 404
    assert operator.post(f"/templates/{other}/undelete").status_code == 303
    assert "undelete template" in operator.text("/audit")
