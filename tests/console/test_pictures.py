"""Pictures that are not drawn yet appear by themselves, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.api.workers import drawing
from tests.console.people import Person

pytestmark = [pytest.mark.filterwarnings("default")]

DRAWN = """() => {
    const pictures = [...document.querySelectorAll("img.poster")];
    return pictures.length === 2 && pictures.every((one) => one.naturalWidth >= 64 && one.complete);
}"""


@pytest.mark.parametrize("path", ["renders", "templates"])
def test_pictures_that_were_not_drawn_in_time_appear_without_a_reload(
    member: Person, window: Callable[..., Any], tmp_path: Path, path: str
) -> None:
    for _ in range(2):
        member.api.job()
    page = window(member)
    page.goto(f"{member.origin}/console/{path}")
    page.wait_for_load_state("networkidle")
    assert page.locator("img.poster").first.evaluate("(picture) => picture.naturalWidth") == 16
    page.evaluate("window.stayed = true")
    with drawing(member.api.world, tmp_path):
        page.wait_for_function(DRAWN, timeout=60_000)
    assert page.evaluate("window.stayed")


def test_a_placeholder_has_the_shape_of_its_picture(member: Person, window: Callable[..., Any]) -> None:
    upright = member.api.template(width=1080, height=1920)
    page = window(member)
    page.goto(f"{member.origin}/console/templates/{upright}")
    page.wait_for_load_state("networkidle")
    screen = page.locator(".screen").bounding_box()
    assert page.locator(".screen img").evaluate("(picture) => picture.naturalWidth") == 16
    assert screen["width"] == pytest.approx(screen["height"] * 9 / 16, abs=2)
