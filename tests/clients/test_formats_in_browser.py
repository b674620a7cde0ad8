"""Chromium opens every format that it supports, and each frame is compared with a still."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_renderer.encode.formats import FORMATS
from gpu_renderer.session import RenderSession
from tests.console.conftest import SHOWN_SECONDS, chromium
from tests.gpu_renderer.decoding import Frames
from tests.gpu_renderer.documents import Record, document, layer
from tests.gpu_renderer.test_formats import (
    CUTS,
    HEIGHT,
    LOSSY,
    WIDTH,
    difference,
    moving,
    opened,
    render_file,
    session,
    stills,
)
from tests.gpu_renderer.test_formats import pytestmark as needs_drawing

__all__ = ["chromium", "session"]
pytestmark = needs_drawing
FPS = 30
VIDEO_TYPES = {
    "mp4": 'video/mp4; codecs="avc1.640028"',
    "mp4-h265": 'video/mp4; codecs="hvc1.1.6.L93.B0"',
    "mp4-av1": 'video/mp4; codecs="av01.0.04M.08"',
    "webm": 'video/webm; codecs="vp9"',
}
ADDRESS = "https://formats.test/"
"""Secure origin, as `ImageDecoder` requires. The test serves its only page."""
PAGE = """
<canvas></canvas>
<script>
const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d", { willReadFrequently: true });
const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

function pixels(picture, width, height) {
  [canvas.width, canvas.height] = [width, height];
  pen.clearRect(0, 0, width, height);
  pen.drawImage(picture, 0, 0);
  let text = "";
  for (const value of pen.getImageData(0, 0, width, height).data) text += String.fromCharCode(value);
  return btoa(text);
}

const once = (target, event) => new Promise((resolve, reject) => {
  target.addEventListener(event, resolve, { once: true });
  target.addEventListener("error", () => reject(new Error(target.error?.message ?? "not decodable")), { once: true });
});

// "seeked" comes before the new frame is shown, so a canvas could still be given the one before.
async function frameAt(video, seconds, tolerance) {
  for (;;) {
    const frame = await new Promise((resolve) => video.requestVideoFrameCallback((_, metadata) => resolve(metadata)));
    if (Math.abs(frame.mediaTime - seconds) < tolerance) return;
  }
}

async function videoFrames(data, type, count, fps) {
  const video = document.createElement("video");
  video.muted = true;
  video.src = URL.createObjectURL(new Blob([bytes(data)], { type }));
  await once(video, "loadeddata");
  const frames = [];
  for (let index = 0; index < count; index++) {
    const shown = Promise.all([frameAt(video, index / fps, 0.5 / fps), once(video, "seeked")]);
    video.currentTime = (index + 0.5) / fps;
    await shown;
    frames.push(pixels(video, video.videoWidth, video.videoHeight));
  }
  return { frames, seconds: video.duration };
}

async function imageFrames(data, type) {
  const decoder = new ImageDecoder({ data: bytes(data), type });
  await decoder.tracks.ready;
  await decoder.completed;
  const frames = [], durations = [];
  for (let frameIndex = 0; frameIndex < decoder.tracks.selectedTrack.frameCount; frameIndex++) {
    const { image } = await decoder.decode({ frameIndex });
    frames.push(pixels(image, image.displayWidth, image.displayHeight));
    durations.push(image.duration);
    image.close();
  }
  return { frames, seconds: durations.reduce((sum, duration) => sum + duration, 0) / 1e6, durations };
}

async function picture(data, type) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([bytes(data)], { type }));
  await image.decode();
  return { frames: [pixels(image, image.naturalWidth, image.naturalHeight)], seconds: 0 };
}
</script>
"""


def scene() -> Record:
    """A square that moves over a half-transparent bar, without pure blue, which Chromium cannot convert from YUV
    exactly."""
    doc = moving()
    doc["comps"]["comp_root"]["background"] = "#204080"
    return doc


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    opened_page = chromium.new_page()
    opened_page.set_default_timeout(SHOWN_SECONDS * 1000)
    opened_page.route(f"{ADDRESS}**", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    opened_page.goto(ADDRESS)
    yield opened_page
    opened_page.close()


@pytest.mark.parametrize("name", VIDEO_TYPES)
def test_a_video_plays_and_shows_the_stills(session: RenderSession, page: Any, tmp_path: Path, name: str) -> None:
    if not page.evaluate("type => document.createElement('video').canPlayType(type)", VIDEO_TYPES[name]):
        pytest.skip(f"this Chromium has no decoder for {VIDEO_TYPES[name]}")
    with opened(session, transparent=False, held=scene(), format=FORMATS[name]) as job:
        path = render_file(session, job, tmp_path)
        expected = stills(session, job)
    shown, seconds = video_frames(page, path, VIDEO_TYPES[name])
    assert seconds == pytest.approx(len(expected) / FPS, abs=0.02)
    assert max(difference(a, b) for a, b in zip(shown, expected, strict=True)) < LOSSY


def test_a_transparent_webm_keeps_its_alpha_in_every_frame(session: RenderSession, page: Any, tmp_path: Path) -> None:
    with opened(session, transparent=True, format=FORMATS["webm"]) as job:
        path = render_file(session, job, tmp_path)
        expected = stills(session, job)
    shown, _ = video_frames(page, path, VIDEO_TYPES["webm"])
    for actual, still in zip(shown, expected, strict=True):
        assert np.abs(actual[..., 3].astype(int) - still[..., 3]).mean() < 2
        inside = still[..., 3] == 255
        assert np.abs(actual[..., :3].astype(int) - still[..., :3])[inside].mean() < LOSSY


@pytest.mark.parametrize(("name", "tolerance"), [("gif", 12.0), ("webp", 8.0)])
@pytest.mark.parametrize("transparent", [False, True], ids=["opaque", "transparent"])
def test_an_animation_shows_the_stills(
    session: RenderSession, page: Any, tmp_path: Path, name: str, tolerance: float, transparent: bool
) -> None:
    solid = document(layer("square", width=60, height=40), seconds=0.8)
    with opened(session, transparent=transparent, held=solid if transparent else scene(), format=FORMATS[name]) as job:
        path = render_file(session, job, tmp_path)
        expected = stills(session, job)
    media_type = FORMATS[name].media_type
    found = page.evaluate("([data, type]) => imageFrames(data, type)", [encoded(path), media_type])
    shown, seconds = frames_of(found)
    assert seconds == pytest.approx(CUTS[-1] / FPS, abs=0.02)
    first, _ = frames_of(page.evaluate("([data, type]) => picture(data, type)", [encoded(path), media_type]))
    assert difference(first[0], shown[0]) <= 2  # rounding of premultiplied colours
    assert (first[0][..., 3] == shown[0][..., 3]).all()
    for actual, still in zip(at_each_frame(shown, found["durations"], len(expected)), expected, strict=True):
        assert difference(actual, still) < tolerance
        assert ((actual[..., 3] > 127) == (still[..., 3] > 127)).mean() > 0.99


def at_each_frame(shown: Frames, durations_us: list[float], count: int) -> Iterator[Frames]:
    """Return the picture shown at each frame of the render. Equal frames can be one picture with a longer duration."""
    ends = np.cumsum(durations_us) / 1e6
    for index in range(count):
        yield shown[int(np.searchsorted(ends, (index + 0.5) / FPS))]


def video_frames(page: Any, path: Path, media_type: str) -> tuple[Frames, float]:
    """Return every frame of the `<video>` element, uint8 (frames, rows, columns, 4), and its duration in seconds."""
    words = [encoded(path), media_type.partition(";")[0], CUTS[-1], FPS]
    return frames_of(page.evaluate("([data, type, count, fps]) => videoFrames(data, type, count, fps)", words))


def frames_of(found: dict[str, Any]) -> tuple[Frames, float]:
    pictures = [np.frombuffer(base64.b64decode(frame), np.uint8) for frame in found["frames"]]
    return np.stack(pictures).reshape(-1, HEIGHT, WIDTH, 4), found["seconds"]


def encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
