"""A render thread draws stills between the frames of a segment, and the segment's bytes stay the same."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from cluster.worker.render_thread import RenderThread
from cluster.worker.segment_maker import task_runner
from cluster.worker.task_runner import TaskRunner
from farm_core.progress.writer import ProgressWriter
from farm_core.settings import ROOT, Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.ports import Finished, SegmentAssignment, StillAssignment, VideoFormat
from tests.gpu_renderer.documents import document, layer, track
from tests.patience import HANG_SECONDS

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not (ROOT / ".fonts").is_dir(), reason="no font folder")]

Farm = tuple[RenderThread[TaskRunner], LocalStorage]
TEXT = {"__kind": "text", "content": "Still", "fontSize": 30, "color": "#ffffff"}
DOCUMENT = document(
    layer("square"), layer("title", **TEXT), seconds=4.0, size=(320, 180), square=track("x", (0, 30), (4, 290))
)
VIDEO = VideoFormat(320, 180, 30, 120, None, 4.0)


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    settings = Settings(data_folder=tmp_path, encoder="libx264", jwt_secret="s" * 32)
    storage = LocalStorage(tmp_path / "storage", Links(b"s" * 32))
    storage.put_bytes("frozen/a.json", json.dumps(DOCUMENT).encode())
    thread = RenderThread(
        lambda: task_runner("w0", settings, tmp_path / "scratch", raster_threads=0), ProgressWriter(None)
    )
    yield thread, storage
    thread.close()


def segment(token: str, first_frame: int = 0) -> SegmentAssignment:
    return SegmentAssignment("task", token, "job", "frozen/a.json", {}, VIDEO, first_frame, 120 - first_frame)


def still(frame: int, width: int = 160, format: str = "png") -> StillAssignment:
    size = VideoFormat(width, width * 9 // 16, 30, 120, None, 4.0)
    return StillAssignment(f"still-{frame}", "frozen/a.json", {}, size, (frame,), 1, format)  # type: ignore[arg-type]


def test_stills_amid_a_segment_leave_its_bytes_alone(farm: Farm) -> None:
    thread, storage = farm
    thread.runner()
    alone = thread.submit(segment("one")).result()
    assert isinstance(alone, Finished)
    expected = storage.get_bytes(alone.key)
    pictures = [thread.still(still(frame, width)).picture for frame, width in ((10, 160), (60, 320), (10, 160))]

    amid: list[tuple[int, bytes]] = []
    overtook = 0
    while overtook < 3:  # on a busy machine, a segment can end before the request for a still
        storage.delete(alone.key)
        rendering = thread.submit(segment("two"))
        while not rendering.done() and len(amid) < 60:
            frame, width = ((10, 160), (60, 320), (10, 160))[len(amid) % 3]
            amid.append((len(amid) % 3, thread.still(still(frame, width)).picture))
            overtook += not rendering.done()
        again = rendering.result()
        assert isinstance(again, Finished) and not again.cached
        assert storage.get_bytes(again.key) == expected
        assert len(amid) < 60 or overtook >= 3, "stills came back while the segment was rendered"

    assert all(picture == pictures[number] for number, picture in amid)


def test_stills_that_arrive_together_at_an_idle_worker_are_all_drawn(farm: Farm) -> None:
    farm[0].runner()
    together, drawn = threading.Barrier(6), []

    def ask(frame: int) -> None:
        together.wait()
        drawn.append(farm[0].still(still(frame)).failure)

    asking = [threading.Thread(target=ask, args=(frame,), daemon=True) for frame in range(6)]
    for one in asking:
        one.start()
    for one in asking:
        one.join(HANG_SECONDS)
    assert drawn == [None] * 6


@pytest.mark.parametrize("format", ["png", "jpeg", "webp"])
def test_a_still_is_a_picture_file(farm: Farm, format: str) -> None:
    drawn = farm[0].still(still(0, format=format))
    assert drawn.failure is None
    image = Image.open(io.BytesIO(drawn.picture))
    assert (image.format, image.size, image.mode) == (format.upper(), (160, 90), "RGB")
    blue = image.getpixel((150, 80))
    assert isinstance(blue, tuple) and blue[2] > 245 and blue[0] < 10


def test_a_worker_draws_a_small_still_with_the_effects_of_its_video(farm: Farm) -> None:
    thread, storage = farm
    soft = layer("soft", x=160, y=90, width=160, height=90)
    blur = {"effects": [{"id": "e", "type": "blur", "params": {"amount": 8}}]}
    soft["components"].append({"id": "fx", "type": "fx", "props": blur})
    storage.put_bytes("frozen/a.json", json.dumps(document(soft, size=(320, 180))).encode())

    def reds(width: int, still_scale: float) -> int:
        size = VideoFormat(width, width * 9 // 16, 30, 30, None, 1.0, still_scale=still_scale)
        drawn = thread.still(StillAssignment("small", "frozen/a.json", {}, size, (0,), 1, "png"))
        red = Image.open(io.BytesIO(drawn.picture)).resize((80, 45), Image.Resampling.BOX).getchannel("R")
        return sum(red.histogram()[20:])

    assert reds(80, 0.25) == pytest.approx(reds(320, 1.0), rel=0.1)
    assert reds(80, 1.0) > 1.5 * reds(320, 1.0)


def test_a_still_of_a_missing_document_is_a_failure_and_the_worker_goes_on(
    farm: Farm,
) -> None:
    missing = StillAssignment("x", "frozen/none.json", {}, VIDEO, (0,), 1, "png")
    assert farm[0].still(missing).failure is not None
    assert farm[0].still(still(0)).failure is None
