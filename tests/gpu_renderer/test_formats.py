"""Every format is read by an independent decoder, and each frame is compared with a still."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from farm_core.__main__ import main
from gpu_renderer.commands.options import FONTS, default_session_options
from gpu_renderer.encode.finish import finish
from gpu_renderer.encode.formats import FORMATS, FileFormat, FilePlan
from gpu_renderer.progress import OnProgress
from gpu_renderer.session import H264, OpenDocument, Output, RenderSession
from tests.gpu_renderer import decoding
from tests.gpu_renderer.decoding import Frames
from tests.gpu_renderer.documents import Record, document, layer, track, write_document

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]

WIDTH, HEIGHT = 160, 90
CUTS = (0, 7, 15, 24)
"""First frames of the segments, and the end of the last one."""
OPAQUE = ("mp4", "mp4-h265", "mp4-av1", "webm", "mov")
LOSSY = 6.0
"""Maximum mean difference of 8-bit colours by an encoder at high quality with subsampled chroma."""


@pytest.fixture(scope="module")
def session() -> Iterator[RenderSession]:
    with RenderSession(default_session_options()) as render_file:
        yield render_file


def moving(*, opacity: float = 50) -> Record:
    """Return a square that moves over a half-transparent bar, which fades."""
    square = layer("square", width=60, height=40)
    bar = layer("bar", y=70, width=140, height=24, fill="#00ff00")
    fades = track("opacity", (0.0, opacity), (0.8, 100.0))
    return document(bar, square, square=track("x", (0.0, 30.0), (0.8, 130.0)), bar=fades, seconds=0.8)


def render_file(
    session: RenderSession, opened: OpenDocument, folder: Path, cuts: Sequence[int] = CUTS,
    on_progress: OnProgress = lambda _frames: None,
) -> Path:  # fmt: skip
    """Render the document in its format, in one segment per cut."""
    segments, made_of = [], opened.output.format
    for first, end in pairwise(cuts):
        path = folder / f"{first}{made_of.segment_ending}"
        session.render_segment(opened, first, end - first, path)
        segments.append(path)
    keeps_alpha = opened.output.is_transparent and made_of.has_alpha
    output = folder / f"finished{made_of.ending}"
    plan = FilePlan(made_of, opened.width, opened.height, opened.fps, cuts[-1] - cuts[0], keeps_alpha)
    finish(segments, output, plan, on_progress=on_progress)
    return output


def stills(session: RenderSession, opened: OpenDocument, count: int = CUTS[-1]) -> Frames:
    return np.stack([session.still(opened, index) for index in range(count)])


def opened(
    session: RenderSession, *, transparent: bool, format: FileFormat = H264, held: Record | None = None
) -> OpenDocument:
    return session.open(held or moving(), Output(is_transparent=transparent, format=format), lambda _src: None)


def difference(a: Frames, b: Frames) -> float:
    """Return the mean colour difference where `b` is visible."""
    shown = b[..., 3] > 0
    return float(np.abs(a[..., :3].astype(int) - b[..., :3].astype(int))[shown].mean())


def test_a_transparent_frame_has_straight_colours_and_the_layers_alpha(session: RenderSession) -> None:
    with opened(session, transparent=True) as job:
        frame = session.still(job, 0)
    assert tuple(frame[5, 5]) == (0, 0, 0, 0)
    assert tuple(frame[45, 30]) == (255, 0, 0, 255)
    assert tuple(frame[75, 100][:3]) == (0, 255, 0)
    assert abs(int(frame[75, 100][3]) - 128) <= 1


def test_a_frame_without_transparency_is_as_before(session: RenderSession) -> None:
    with opened(session, transparent=False) as job:
        frame = session.still(job, 0)
    assert (frame[..., 3] == 255).all()
    assert tuple(frame[5, 5][:3]) == (0, 0, 255)


@pytest.mark.parametrize("name", OPAQUE)
def test_a_video_shows_the_stills(session: RenderSession, tmp_path: Path, name: str) -> None:
    with opened(session, transparent=False, format=FORMATS[name]) as job:
        path = render_file(session, job, tmp_path)
        expected = stills(session, job)
    shown = decoding.video(path, WIDTH, HEIGHT)
    assert len(shown) == len(expected)
    assert max(difference(a, b) for a, b in zip(shown, expected, strict=True)) < LOSSY


@pytest.mark.parametrize(("name", "tolerance"), [("webm", 24), ("mov", 1)])
def test_alpha_holds_across_the_borders_of_segments(
    session: RenderSession, tmp_path: Path, name: str, tolerance: int
) -> None:
    with opened(session, transparent=True, format=FORMATS[name]) as job:
        path = render_file(session, job, tmp_path)
        expected = stills(session, job)
    shown = decoding.video(path, WIDTH, HEIGHT)
    assert len(shown) == len(expected)
    for index, (a, b) in enumerate(zip(shown, expected, strict=True)):
        wrong = np.abs(a[..., 3].astype(int) - b[..., 3])
        assert wrong.max() <= tolerance, f"alpha of frame {index}"
        assert wrong.mean() < 0.5, f"alpha of frame {index}"
        assert difference(a, b) < LOSSY
        assert (a[:10, :10, 3] == 0).all(), f"frame {index} is not clear where nothing is drawn"


def test_key_frames_of_a_long_segment_keep_alpha(session: RenderSession, tmp_path: Path) -> None:
    """Seeking goes to a key frame of the colours, so alpha must have a key frame there too."""
    with opened(session, transparent=True, held=document(layer("square"), seconds=3.0), format=FORMATS["webm"]) as job:
        path = render_file(session, job, tmp_path, (0, 80))
    words = [
        "-c:v",
        "libvpx-vp9",
        "-ss",
        "2.1",
        "-i",
        str(path),
        "-frames:v",
        "1",
        "-vf",
        "format=rgba",
        "-f",
        "rawvideo",
    ]
    frame = np.frombuffer(decoding.ffmpeg(*words, "-"), np.uint8).reshape(HEIGHT, WIDTH, 4)
    assert frame[45, 80, 3] >= 253
    assert frame[5, 5, 3] <= 2


def test_a_gif_has_a_good_palette_and_clear_pixels(session: RenderSession, tmp_path: Path) -> None:
    with opened(session, transparent=True, format=FORMATS["gif"]) as job:
        path = render_file(session, job, tmp_path)
        expected = stills(session, job)
    shown = decoding.animation(path)
    assert len(shown) == len(expected)
    for a, b in zip(shown, expected, strict=True):
        assert np.array_equal(a[..., 3] == 255, b[..., 3] >= 128)
        assert difference(a, np.where(b[..., 3:] >= 128, b, 0).astype(np.uint8)) < 4.0


def test_a_gif_lasts_as_long_as_the_composition(session: RenderSession, tmp_path: Path) -> None:
    with opened(session, transparent=False, format=FORMATS["gif"]) as job:
        reported: list[int] = []
        path = render_file(session, job, tmp_path, on_progress=reported.append)
    found = decoding.delays(path)
    assert set(found) == {30, 40}
    assert abs(sum(found) - 800) <= 10
    with Image.open(path) as file:
        assert file.info["loop"] == 0
    count = CUTS[-1]
    assert reported[-count:] == list(range(1, count + 1))
    assert reported[:-count] == [0] * (len(reported) - count), "the palette"
    assert len(reported) >= 2 * count, "a worker can pause at each frame"


def test_a_plain_background_stays_plain_in_a_gif(session: RenderSession, tmp_path: Path) -> None:
    doc = document(layer("square"), square=track("x", (0, 30), (0.5, 130)), seconds=0.5)
    doc["comps"]["comp_root"]["background"] = "#1e1b4b"
    with opened(session, transparent=False, held=doc, format=FORMATS["gif"]) as job:
        path = render_file(session, job, tmp_path, (0, 15))
    corner = decoding.animation(path)[:, :20, :, :3].reshape(-1, 3)
    assert len(np.unique(corner, axis=0)) == 1
    assert np.abs(corner[0].astype(int) - (0x1E, 0x1B, 0x4B)).max() <= 2


def test_a_gif_of_a_gradient_is_dithered(session: RenderSession, tmp_path: Path) -> None:
    stops = [{"offset": 0, "color": "#102040"}, {"offset": 1, "color": "#f0c090"}]
    ramp = {"type": "linear", "angle": 90, "stops": stops}
    doc = document(layer("ramp", width=160, height=90, fill=ramp), seconds=0.2)
    with opened(session, transparent=False, held=doc, format=FORMATS["gif"]) as job:
        path = render_file(session, job, tmp_path, (0, 3))
        expected = stills(session, job, 3)
    shown = decoding.animation(path)
    blurred = [
        np.asarray(Image.fromarray(one[..., :3]).resize((20, 11), Image.Resampling.BOX))
        for one in (shown[0], expected[0])
    ]
    assert np.abs(blurred[0].astype(int) - blurred[1]).max() <= 6


@pytest.mark.parametrize("transparent", [True, False])
def test_an_animated_webp_shows_the_stills(session: RenderSession, tmp_path: Path, transparent: bool) -> None:
    with opened(session, transparent=transparent, format=FORMATS["webp"]) as job:
        reported: list[int] = []
        path = render_file(session, job, tmp_path, on_progress=reported.append)
        expected = stills(session, job)
    assert reported == list(range(1, CUTS[-1] + 1))
    with Image.open(path) as file:
        assert file.info["loop"] == 0
    shown = decoding.animation(path)
    assert len(shown) == len(expected)
    assert max(difference(a, b) for a, b in zip(shown, expected, strict=True)) < LOSSY
    assert np.abs(shown[..., 3].astype(int) - expected[..., 3]).max() <= 2
    assert sum(decoding.delays(path)) == 800


def test_a_slow_fade_in_a_webp_stays_near_its_stills(session: RenderSession, tmp_path: Path) -> None:
    fading = document(
        layer("square", width=60, height=40), square=track("opacity", (0.0, 30.0), (0.8, 45.0)), seconds=0.8
    )
    with opened(session, transparent=False, held=fading, format=FORMATS["webp"]) as job:
        path = render_file(session, job, tmp_path)
        expected = stills(session, job)
    inside = [
        abs(int(a[45, 80, 0]) - int(b[45, 80, 0])) for a, b in zip(decoding.animation(path), expected, strict=True)
    ]
    assert max(inside) <= 3


@pytest.mark.parametrize(("name", "ending"), [("png-sequence", "png"), ("jpg-sequence", "jpg")])
def test_a_sequence_holds_numbered_pictures(session: RenderSession, tmp_path: Path, name: str, ending: str) -> None:
    with opened(session, transparent=ending == "png", format=FORMATS[name]) as job:
        path = render_file(session, job, tmp_path)
        expected = stills(session, job)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [f"frame_{index:04d}.{ending}" for index in range(24)]
        assert all(held.compress_type == zipfile.ZIP_STORED for held in archive.infolist())
        pictures = [Image.open(io.BytesIO(archive.read(one))) for one in archive.namelist()]
    assert {picture.mode for picture in pictures} == {"RGBA" if ending == "png" else "RGB"}
    for picture, still in zip(pictures, expected, strict=True):
        shown = np.asarray(picture.convert("RGBA"))
        assert np.array_equal(shown, still) if ending == "png" else difference(shown, still) < 2.0


def test_the_same_pictures_give_the_same_bytes(session: RenderSession, tmp_path: Path) -> None:
    for name in ("webm", "mov", "gif", "webp", "png-sequence", "mp4-h265", "mp4-av1"):
        files = []
        for folder in (tmp_path / name / "a", tmp_path / name / "b"):
            folder.mkdir(parents=True)
            with opened(session, transparent=FORMATS[name].has_alpha, format=FORMATS[name]) as job:
                files.append(render_file(session, job, folder).read_bytes())
        assert files[0] == files[1], name


def test_odd_sizes_grow_only_where_chroma_is_halved(tmp_path: Path) -> None:
    path = str(write_document(tmp_path, document(layer("square"), seconds=0.1)))
    for ending, size in ((".webm", (66, 46)), (".mov", (65, 45))):
        assert main(["render", path, "--size", "65x45", "-o", str(tmp_path / f"a{ending}")]) == 0
        assert f"{size[0]}x{size[1]}" in decoding.streams(tmp_path / f"a{ending}")
