"""A whole farm seen through the console: the preview changes, a render progresses, and its video plays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from farm_core.settings import ROOT
from tests.acceptance.farm import process_farm
from tests.console.conftest import ARGUMENTS, CHROMIUM, environment, require_browser

pytestmark = [pytest.mark.acceptance, pytest.mark.filterwarnings("default")]

PIXELS = """async () => {
    const frame = document.getElementById('frame'), canvas = document.createElement('canvas');
    await frame.decode();
    canvas.width = frame.naturalWidth; canvas.height = frame.naturalHeight;
    const pen = canvas.getContext('2d');
    pen.drawImage(frame, 0, 0);
    return [canvas.width, ...pen.getImageData(0, 0, canvas.width, canvas.height).data].join().length + ':' +
        Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', pen.getImageData(0, 0, canvas.width, canvas.height).data))).join();
}"""


def test_a_template_is_tried_rendered_watched_and_played(tmp_path: Path) -> None:
    require_browser()
    # Use another thread, because Playwright and the farm's commands each run an event loop.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_story, tmp_path / "data").result()


def _story(data: Path) -> None:
    expect.set_options(timeout=90_000)
    with process_farm(data) as farm, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, env=environment(), timeout=90_000
        )
        link = farm.command("console-link", "operator").splitlines()[-1]
        page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(90_000)
        page.goto(link)
        page.click("text=Sign in as operator")
        page.wait_for_selector("h1:has-text('Overview')")

        page.goto(f"{farm.origin}/console/templates")
        page.set_input_files("input#file", ROOT / "examples" / "title-card.motion")
        page.click("text=Import the template")
        page.click("text=Open the playground")
        page.wait_for_selector("#frame")
        before = page.evaluate(PIXELS)
        page.fill("textarea >> nth=0", "Changed in the playground")
        # The frame of the previous text can be drawn first.
        page.wait_for_function(f"(before) => ({PIXELS})().then((drawn) => drawn !== before, () => false)", arg=before)
        page.click("#play")
        page.wait_for_selector("#draft:visible")
        page.click("#play")

        page.set_input_files("input[data-upload]", ROOT / "examples" / "media" / "logo.png")
        expect(page.locator("#in-logo")).not_to_have_value("")
        page.click("button:has-text('Render')")
        page.wait_for_url("**/console/renders/job_*", wait_until="commit")
        page.wait_for_selector("video")
        seconds = page.evaluate(
            "async () => { const video = document.querySelector('video'); video.muted = true; video.currentTime = 0.5; await video.play(); "
            "await new Promise(done => video.addEventListener('timeupdate', () => video.currentTime > 0.6 && done())); return video.duration; }"
        )
        assert seconds > 1
        page.click("text=Verify")
        page.wait_for_selector("text=The stored file is the one that was rendered")
        chromium.close()
