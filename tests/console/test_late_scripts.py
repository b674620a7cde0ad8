"""Files that are chosen before the scripts of a page are loaded, as on a slow connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.api.world import picture
from tests.console.held import HeldAnswers
from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default")]

Window = Callable[..., Any]


def choose_early(page: Any, address: str, chooser: str, path: Path) -> None:
    """Choose a file while the page waits for the script that takes it."""
    scripts = HeldAnswers(page, "**/files.js")
    page.goto(address, wait_until="commit")
    page.set_input_files(chooser, path)
    scripts.wait()
    scripts.pass_on()
    scripts.arrive()


def test_a_table_chosen_early_is_checked(designer: Person, window: Window, tmp_path: Path) -> None:
    path = tmp_path / "guests.csv"
    path.write_text("headline\nAda\n")
    page = window(designer)
    address = f"{designer.origin}/console/templates/{designer.api.template()}/batch"
    choose_early(page, address, "[data-table-file]", path)
    expect(page.get_by_role("alert")).to_contain_text("Line 2: Photo is required")


def test_a_project_chosen_early_is_examined(designer: Person, window: Window, project: Path) -> None:
    page = window(designer)
    choose_early(page, f"{designer.origin}/console/templates", "#file", project)
    expect(page.locator(".head")).to_contain_text("greeting.motion")


def test_a_picture_chosen_early_is_uploaded(designer: Person, window: Window, tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(picture())
    page = window(designer)
    address = f"{designer.origin}/console/templates/{designer.api.template()}/playground"
    choose_early(page, address, "[data-upload=in-photo]", path)
    expect(page.locator("bdi", has_text="photo.png")).to_be_visible()
