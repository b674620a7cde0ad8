"""Pictures that are not drawn yet appear by themselves, in a real browser."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from motion.errors import PropertyRefused
from scheduler.ports import StillAssignment
from tests.api.workers import drawing
from tests.api.world import document, field, layer, template_body, text_template
from tests.console.people import Person
from tests.patience import HANG_SECONDS

pytestmark = [pytest.mark.filterwarnings("default")]

DRAWN = """() => {
    const pictures = [...document.querySelectorAll("img.poster")];
    return pictures.length === 2 && pictures.every((one) => one.naturalWidth >= 64 && one.complete);
}"""

SHAPE = """(shape) => {
    const picture = document.querySelector(".screen img");
    return picture.complete && picture.naturalWidth > 16 && Math.abs(picture.naturalWidth / picture.naturalHeight - shape) < 0.1;
}"""


@pytest.fixture
def patience_for_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pictures be drawn slowly, as on a busy machine: the farm shows a placeholder after 5 s."""
    monkeypatch.setattr("console.pictures.WAIT_SECONDS", HANG_SECONDS)


@pytest.mark.parametrize("path", ["renders", "templates"])
def test_pictures_that_were_not_drawn_in_time_appear_without_a_reload(
    member: Person, window: Callable[..., Any], tmp_path: Path, path: str
) -> None:
    for _ in range(2):
        member.api.job()
    page = window(member)
    page.goto(f"{member.origin}/console/{path}")
    expect(page.locator("img.poster").first).to_have_js_property("naturalWidth", 16)
    page.evaluate("window.stayed = true")
    with drawing(member.api.world, tmp_path):
        page.wait_for_function(DRAWN)
    assert page.evaluate("window.stayed")


def test_a_poster_that_cannot_be_drawn_is_explained(member: Person, window: Callable[..., Any], tmp_path: Path) -> None:
    def refuse(_: StillAssignment) -> None:
        raise PropertyRefused("The media of input 'photo' could not be fetched.")

    page = window(member)
    page.goto(f"{member.origin}/console/templates/{member.api.template()}")
    expect(page.locator(".screen img")).to_have_js_property("naturalWidth", 16)
    explanation = page.get_by_text("This frame cannot be drawn")
    expect(explanation).to_be_hidden()
    with drawing(member.api.world, tmp_path) as worker:
        worker.before_still = refuse
        expect(explanation).to_be_visible()


def test_a_placeholder_has_the_shape_of_its_picture(member: Person, window: Callable[..., Any]) -> None:
    upright = member.api.template(width=1080, height=1920)
    page = window(member)
    page.goto(f"{member.origin}/console/templates/{upright}")
    expect(page.locator(".screen img")).to_have_js_property("naturalWidth", 16)
    screen = page.locator(".screen").bounding_box()
    assert screen["width"] == pytest.approx(screen["height"] * 9 / 16, abs=2)


def replaced(member: Person, template: str, **changes: Any) -> None:
    member.api.world.clock.advance(1)
    assert member.api.ask("PUT", f"/templates/{template}", json=template_body(**changes)).status_code == 200


def test_a_replaced_template_shows_its_new_picture(member: Person, window: Callable[..., Any], tmp_path: Path) -> None:
    template = member.api.template(width=640, height=360)
    page = window(member)
    with drawing(member.api.world, tmp_path):
        for width, height in ((640, 360), (360, 640)):
            replaced(member, template, width=width, height=height)
            page.goto(f"{member.origin}/console/templates/{template}")
            page.wait_for_function(SHAPE, arg=width / height)


@pytest.mark.usefixtures("patience_for_pictures")
def test_a_waiting_render_shows_the_version_of_its_creation(member: Person, tmp_path: Path) -> None:
    template = text_template(member.api)
    job = member.api.render(template, inputs={"headline": "Hi"}).json()["jobId"]
    longer = document(layer("n1", "Headline", "text"), fields=[field("title", "text", "n1", "Text", "content")])
    longer["comps"]["comp_root"]["durationSeconds"] = 9
    title = {"id": "title", "label": "Title", "kind": "text"}
    replaced(member, template, document=longer, durationSeconds=9, inputs=[title])
    assert f'src="/console/templates/{template}/poster.jpg?version=1"' in member.text("/renders")
    text = member.text(f"/renders/{job}")
    assert "Headline" in text and "Title" not in text.split("Inputs")[1]
    with drawing(member.api.world, tmp_path) as worker:
        for path in ("poster.jpg", "frame.jpg"):
            assert member.get(f"/renders/{job}/{path}").headers["cache-control"] == "private, no-cache"
    assert {(one.video_format.duration_seconds, frame) for one, frame in worker.stills} == {(3, 45)}


@pytest.mark.usefixtures("patience_for_pictures")
def test_a_former_version_has_a_picture_of_its_own_size(member: Person, tmp_path: Path) -> None:
    template = member.api.template(width=640, height=360)
    replaced(member, template, width=360, height=640)
    with drawing(member.api.world, tmp_path):
        sizes = [
            Image.open(io.BytesIO(member.get(f"/templates/{template}/poster.jpg?version={version}").content)).size
            for version in (1, 2)
        ]
    assert sizes[0][0] > sizes[0][1] and sizes[1][0] < sizes[1][1]
    assert member.get(f"/templates/{template}/poster.jpg?version=0").status_code == 400


@pytest.mark.parametrize(("width", "height"), [(120, 3840), (3840, 60)])
def test_very_tall_and_very_wide_templates_have_a_poster_a_preview_and_a_draft(
    designer: Person, window: Callable[..., Any], width: int, height: int
) -> None:
    template = designer.api.template(width=width, height=height)
    for path in ("poster.jpg", "draft.jpg"):
        answer = designer.get(f"/templates/{template}/{path}")
        assert answer.headers["content-type"] == "image/jpeg", path
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{template}/playground")
    page.fill("#in-headline", "Shown")
    expect(page.locator("#latency")).to_contain_text("drawn in")
    page.click("#play")
    expect(page.locator("#draft")).to_be_visible()
    shape = page.evaluate(
        "() => { const draft = document.getElementById('draft'); return draft.width / draft.height; }"
    )
    assert shape == pytest.approx(width / height, rel=0.15)
