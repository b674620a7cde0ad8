"""Video that fills the frame: its own samples are encoded wherever nothing covers it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.media.video import Videos
from gpu_renderer.encode.planes import encoder_frame, layout
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.region import Region
from gpu_renderer.pipeline import PipelineOptions, ring_to_memory
from gpu_renderer.session import OpenDocument, Output, RenderSession
from motion.bundle import read_document
from tests.gpu_renderer.content.media.video_files import make_noise_video, make_video
from tests.gpu_renderer.documents import Record, document, layer, track

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]

SIZE = (256, 144)
Samples = npt.NDArray[np.uint8]


def footage(*above: Record, size: tuple[int, int] = SIZE, **tracks: Any) -> Record:
    """Return a document with a video that fills the composition, and layers over it."""
    box = {"x": SIZE[0] / 2, "y": SIZE[1] / 2, "width": size[0], "height": size[1]}
    video = layer("video", __kind="video", src="clip.mp4", **box)
    return document(video, *above, size=SIZE, **tracks)


def with_fx(doc: Record, **props: Any) -> Record:
    """Return a layer with properties that the editor stores apart from its placement: blend mode, effects and so on."""
    return {**doc, "components": [*doc["components"], {"id": f"{doc['id']}-fx", "type": "fx", "props": props}]}


def opened(session: RenderSession, doc: Record, media: Path, output: Output | None = None) -> OpenDocument:
    parsed = read_document(json.dumps(doc).encode())
    return session.open(parsed, output or Output(), lambda src: media / src if src else None)


def planes(frame: av.VideoFrame) -> tuple[Samples, Samples]:
    """Return Y and CbCr planes as in an encoder's frame of SIZE."""
    luma, chroma = (np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size) for plane in frame.planes)
    return luma[: SIZE[1], : SIZE[0]].copy(), chroma[: SIZE[1] // 2, : SIZE[0]].copy()


def encoded(session: RenderSession, job: OpenDocument, frame_index: int) -> tuple[Samples, Samples]:
    """Return the planes that the encoder gets for a frame."""
    picture = job.draw(job.evaluate(frame_index))
    of = layout(*SIZE)
    ring = ring_to_memory(session.painter, job, of, PipelineOptions(readback_depth=1))
    ring.put(picture.frame, damage.whole(picture.frame.region), encoder_frame(of), picture.passthrough)
    found = planes(ring.collect())
    ring.close()
    return found


def decoded(path: Path) -> list[tuple[Samples, Samples]]:
    with av.open(str(path)) as container:
        return [planes(frame.reformat(format="nv12")) for frame in container.decode(video=0)]


def test_bare_footage_is_encoded_sample_by_sample(session: RenderSession, tmp_path: Path) -> None:
    make_noise_video(tmp_path / "clip.mp4", SIZE, 4)
    with opened(session, footage(), tmp_path) as job:
        for index, source in enumerate(decoded(tmp_path / "clip.mp4")):
            for ours, theirs in zip(encoded(session, job, index), source, strict=True):
                assert np.array_equal(ours, theirs)


def test_only_the_samples_around_a_layer_over_footage_are_drawn(session: RenderSession, tmp_path: Path) -> None:
    make_noise_video(tmp_path / "clip.mp4", SIZE, 2)
    card = layer("card", x=60, y=50, width=40, height=20, fill="#00ff00")
    with opened(session, footage(card), tmp_path) as job:
        ours, source = encoded(session, job, 1)[0], decoded(tmp_path / "clip.mp4")[1][0]
        draw = np.zeros_like(ours, bool)
        draw[36:64, 32:88] = True
        assert np.array_equal(ours[~draw], source[~draw])
        assert np.all(ours[45:55, 45:75] == 173)  # pure green in BT.709


def test_a_still_shows_footage_whole_before_and_after_a_segment(session: RenderSession, tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4", size=SIZE)
    card = layer("card", x=60, y=50, width=40, height=20, fill="#00ff00")
    with opened(session, footage(card), tmp_path) as job:
        before = session.still(job, 3)
        session.render_segment(job, 0, 4, tmp_path / "a.mp4")
        after = session.still(job, 3)
        session.render_segment(job, 3, 4, tmp_path / "b.mp4")
    with opened(session, footage(card), tmp_path) as job:
        session.render_segment(job, 3, 4, tmp_path / "c.mp4")
    assert np.array_equal(before, after)
    assert tuple(before[50, 60]) == (0, 255, 0, 255)
    assert (tmp_path / "b.mp4").read_bytes() == (tmp_path / "c.mp4").read_bytes()


SHADOW = [{"id": "s", "type": "drop-shadow", "params": {"distance": 4, "softness": 20}}]
BLUR = [{"id": "b", "type": "gaussian-blur", "params": {"blurriness": 6, "repeatEdge": False}}]
CUT = [{"id": "c", "type": "set-matte", "params": {"matteLayerId": "video", "useLuminance": True}}]
SEPIA = [{"id": "g", "type": "sepia", "params": {"amount": 80}}]
SCENES = {
    "a panel that slides over it": footage(
        layer("panel", x=-60, y=100, width=90, height=30, opacity=80, cornerRadius=6),
        panel=track("x", (0.0, -60.0), (0.3, 70.0)),
    ),
    "layers that stand still over it": footage(
        layer("panel", x=71, y=101, width=121, height=43, opacity=80, cornerRadius=9, fill="#102040"),
        layer("dot", x=99.3, y=94.6, width=33, height=31, shape="ellipse", fill="#ffc857cc", rotation=20),
        layer("name", __kind="text", content="Ada Lovelace", x=80, y=104, fontSize=13, fill="#ffffff"),
        layer("far", x=221, y=24, width=40, height=30, opacity=35, fill="#ffffff"),
    ),
    "layers with light that stand still over it": footage(
        with_fx(layer("name", __kind="text", content="Ada", x=80, y=104, fontSize=40, fill="#ffffff"), effects=SHADOW),
        with_fx(layer("faded", x=180, y=60, width=40, height=30, opacity=60, cornerRadius=6), effects=SHADOW),
        with_fx(layer("soft", x=60, y=50, width=40, height=30, fill="#2040ff"), effects=BLUR),
        with_fx(layer("graded", x=200, y=110, width=30, height=30, fill="#80c0ff"), effects=SEPIA),
    ),
    "a layer cut by the light of it": footage(
        with_fx(layer("cut", x=90, y=70, width=60, height=50, fill="#ffffff"), effects=CUT),
    ),
    "a layer that adds to it": footage(with_fx(layer("light", x=90, y=70, width=60, height=50), blendMode="add")),
    "a panel that waits on its way, and changes colour": footage(
        layer("panel", x=60, y=100, width=90, height=30, opacity=80, cornerRadius=6),
        panel={
            **track("x", (0.0, 60.0), (0.25, 60.0), (0.4, 80.0)),
            **track("fill_r", (0.2, 0.1), (0.201, 0.9)),
        },
    ),
    "a layer that covers most of it": footage(layer("wide", x=128, y=70, width=250, height=120, opacity=50)),
    "a layer that blends with all of it": footage(
        with_fx(layer("light", x=90, y=70, width=60, height=50), blendMode="screen")
    ),
    "a layer that comes to cover it": footage(
        layer("grey", __kind="shape", x=128, y=72, width=256, height=144, opacity=0),
        grey=track("opacity", (0.2, 0.0), (0.3, 60.0)),
    ),
    "footage of another size": footage(size=(128, 72)),
    "footage that fades": footage(video=track("opacity", (0.2, 100.0), (0.5, 0.0))),
}


@pytest.mark.parametrize("scene", SCENES)
def test_a_segment_over_footage_has_the_same_bytes_with_every_lever_off(
    session: RenderSession, tmp_path: Path, scene: str
) -> None:
    make_noise_video(tmp_path / "clip.mp4", SIZE, 20)
    assert is_same_without_optimisations(session, SCENES[scene], tmp_path, Output())


@pytest.mark.thorough
@pytest.mark.parametrize("file_size", [(384, 216), (192, 108), SIZE], ids=["larger", "smaller", "its size"])
@pytest.mark.parametrize("output", [SIZE, (384, 216), (128, 72)], ids=["as composed", "enlarged", "reduced"])
@pytest.mark.parametrize("scene", ["a panel that slides over it", "layers that stand still over it"])
def test_stretched_footage_has_the_same_bytes_with_every_lever_off(
    session: RenderSession, tmp_path: Path, scene: str, output: tuple[int, int], file_size: tuple[int, int]
) -> None:
    make_noise_video(tmp_path / "clip.mp4", file_size, 20)
    assert is_same_without_optimisations(session, SCENES[scene], tmp_path, Output(*output))


STRETCHED: dict[str, dict[str, Any]] = {
    "wider than the frame": {"width": 301.5, "height": 170},
    "cut to its box": {"width": SIZE[0], "height": SIZE[1], "slotFit": "cover"},
    "beyond two edges": {"x": 140, "y": 80, "width": 290, "height": 170},
    "turned around": {"width": SIZE[0], "height": SIZE[1], "scaleX": -1},
}


@pytest.mark.parametrize("box", STRETCHED)
def test_footage_placed_differently_has_the_same_bytes_with_every_optimisation_off(
    session: RenderSession, tmp_path: Path, box: str
) -> None:
    make_noise_video(tmp_path / "clip.mp4", (200, 160), 20)
    placed = {"x": SIZE[0] / 2, "y": SIZE[1] / 2, **STRETCHED[box]}
    dot = layer("dot", x=99, y=94, width=33, height=31, shape="ellipse", opacity=60)
    doc = document(layer("video", __kind="video", src="clip.mp4", **placed), dot, size=SIZE)
    assert is_same_without_optimisations(session, doc, tmp_path, Output())


@pytest.mark.parametrize("file_size", [SIZE, (192, 108)], ids=["its size", "smaller"])
def test_footage_of_fewer_frames_is_converted_once_a_frame_of_its_own(
    session: RenderSession, tmp_path: Path, file_size: tuple[int, int]
) -> None:
    make_noise_video(tmp_path / "clip.mp4", file_size, 10, fps=10)
    held = footage(layer("panel", x=71, y=101, width=121, height=43, opacity=80))
    with opened(session, held, tmp_path) as job:
        report = session.render_segment(job, 0, 18, tmp_path / "once.mp4")
    assert report.converted_frames <= 7  # and again once its stretch is known
    assert is_same_without_optimisations(session, held, tmp_path, Output())


def test_footage_of_one_column_fills_the_frame(session: RenderSession, tmp_path: Path) -> None:
    rows = np.repeat(np.linspace(0, 240, SIZE[1]).astype(np.uint8)[:, None, None], 3, axis=2)
    with av.open(str(tmp_path / "clip.mp4"), "w", format="mov") as container:
        stream = container.add_stream("png", rate=25)
        stream.width, stream.height, stream.pix_fmt = 1, SIZE[1], "rgb24"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(rows, format="rgb24")))
        container.mux(stream.encode(None))
    with opened(session, footage(), tmp_path) as job:
        luma, _ = encoded(session, job, 0)
    assert np.all(luma == luma[:, :1])
    assert luma[0, 0] == 16 and luma[-1, 0] > 210 and np.all(np.diff(luma[:, 0].astype(int)) >= 0)


def is_same_without_optimisations(session: RenderSession, doc: Record, media: Path, output: Output) -> bool:
    """Return True if a segment of a document has the same bytes with every flag on and off."""
    off = Optimisations(damage=False, layer_cache=False, static_prefix=False)
    drawing = session.options.drawing
    for name, flags in (("on", drawing), ("off", off)):
        session.options = replace(session.options, drawing=flags)
        with opened(session, doc, media, output) as job:
            session.render_segment(job, 0, 18, media / f"{name}.mp4")
    session.options = replace(session.options, drawing=drawing)
    return (media / "on.mp4").read_bytes() == (media / "off.mp4").read_bytes()


@pytest.mark.parametrize("tags", [(5, 1), (1, 2)], ids=["BT.601", "full range"])
def test_footage_of_another_colour_is_converted(session: RenderSession, tmp_path: Path, tags: tuple[int, int]) -> None:
    make_video(tmp_path / "clip.mp4", size=SIZE, tags=tags)
    with opened(session, footage(), tmp_path) as job:
        assert job.draw(job.evaluate(0)).passthrough is None


def test_a_part_of_a_frame_is_the_very_pixels_of_the_whole(tmp_path: Path) -> None:
    make_noise_video(tmp_path / "clip.mp4", SIZE, 2)
    videos = [Videos(lambda src: tmp_path / src) for _ in range(2)]
    parted, whole = (found.frame("clip.mp4", 0.0) for found in videos)
    assert parted is not None
    assert whole is not None
    for part in (Region(0, 0, 40, 30), Region(37, 21, 101, 63), Region(200, 100, 56, 44), Region(0, 0, *SIZE)):
        expected = whole.pixels[part.y : part.bottom, part.x : part.right]
        assert np.array_equal(parted.pixels_of(part), expected), part
    for found in videos:
        found.close()
