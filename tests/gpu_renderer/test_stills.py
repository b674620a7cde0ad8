"""Cases of `./farm stills`: valid lines, and the messages for invalid ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.commands.stills import CaseRefused, read_case, results
from gpu_renderer.display_list.space.camera import blur_px
from gpu_renderer.errors import TargetTooLarge
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.session import Output, RenderSession
from motion.snapshot import Camera
from motion.stored import Document
from tests.gpu_renderer.documents import Record, document, layer

NO_TURN = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def test_a_case_says_what_to_draw_and_where_it_goes() -> None:
    case = read_case(
        json.dumps({"document": "a.motion", "frame": 3, "output": "b.png", "width": 320, "inputs": {"n": 5}})
    )
    assert (case.document, case.frame, case.output) == (Path("a.motion"), 3, Path("b.png"))
    assert (case.width, case.height, case.inputs) == (320, None, {"n": "5"})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "JSON"),
        ("[]", "object"),
        ('{"output": "b.png"}', "document"),
        ('{"document": "a"}', "output"),
        ('{"document": "a", "output": "b", "frame": -1}', "frame"),
        ('{"document": "a", "output": "b", "width": 0}', "width"),
        ('{"document": "a", "output": "b", "height": "x"}', "height"),
        ('{"document": "a", "output": "b", "inputs": [1]}', "inputs"),
    ],
)
def test_a_line_that_is_no_case_is_refused_by_the_key_that_is_wrong(line: str, reason: str) -> None:
    with pytest.raises(CaseRefused, match=reason):
        read_case(line)


@pytest.mark.gl
def test_the_result_of_a_refused_line_names_its_output(session: RenderSession) -> None:
    lines = ['{"document": "a", "output": "out/b.png", "frame": -1}', '{"output": 5}', "[]", "["]
    refused = list(results(session, lines))
    assert [result["output"] for result in refused] == ["out/b.png", "", "", ""]
    assert all(result["error"] for result in refused)


@pytest.mark.gl
def test_a_picture_that_no_gpu_can_hold_is_refused(painter: Painter) -> None:
    with pytest.raises(TargetTooLarge):
        painter.pool.take(Region(0, 0, 10_000_000, 10))


@pytest.mark.parametrize(("depth", "expected"), [(1000.0, 0.0), (1500.0, 5.0), (9000.0, 12.0)])
def test_a_plane_blurs_with_its_distance_from_the_focus(depth: float, expected: float) -> None:
    camera = Camera(NO_TURN, 1000.0, (0.0, 0.0, 0.0), True, 1000.0, 10.0, 12.0)
    assert blur_px(camera, depth) == expected


def test_a_lens_blurs_by_its_circle_of_confusion() -> None:
    camera = Camera(NO_TURN, 100.0, (0.0, 0.0, 0.0), True, 1000.0, 0.0, 40.0, f_stop=2.0, lens_px=100.0)
    assert blur_px(camera, 2000.0) == pytest.approx(2.8)
    assert blur_px(camera, 0.0) == 40.0


def effect(type: str, **parameters: float | str) -> Record:
    return {"effects": [{"id": "e", "type": type, "params": parameters}]}


CORNERS = [{"x": x, "y": y, "inX": x, "inY": y, "outX": x, "outY": y} for x, y in ((-60, -40), (60, -40), (60, 40))]
LOOKS: dict[str, Record] = {
    "glow": effect("glow", radius=12, color="#ffffff"),
    "blur": effect("blur", amount=16),
    "shadow": effect("drop-shadow", softness=14, distance=12),
    "stroke": effect("stroke", width=12, color="#ffffff"),
    "adjustment": {"isAdjustment": True, **effect("blur", amount=16)},
    "glass": {"layerStyles": {"glass": {"enabled": True, "blur": 24, "edgeWidth": 24, "rimWidth": 12}}},
    "mask": {  # a layer with raster effects, larger than its raster
        "mask": {"paths": [{"id": "m", "mode": "add", "closed": True, "points": CORNERS}]},
        **effect("median", radius=1),
    },
}


@pytest.mark.gl
@pytest.mark.parametrize("look", LOOKS)
def test_a_small_still_looks_like_its_video(session: RenderSession, look: str) -> None:
    shown = layer("shown", x=320, y=180, width=200, height=130, scaleX=1.2, scaleY=1.2)
    shown["components"].append({"id": "fx", "type": "fx", "props": LOOKS[look]})
    project = document(layer("bar", x=320, y=180, width=80, height=300, fill="#ffff00"), shown, size=(640, 360))
    video = frame_of(session, project, Output()).reshape(90, 4, 160, 4, 3).mean(axis=(1, 3))
    still = frame_of(session, project, Output(160, 90, still_scale=0.25))
    unscaled = frame_of(session, project, Output(160, 90))
    assert difference(still, video) < min(2.0, 0.4 * difference(unscaled, video))


def frame_of(session: RenderSession, project: dict[str, Any], output: Output) -> npt.NDArray[np.float64]:
    with session.open(Document(project), output, lambda source: None) as opened:
        return session.still(opened, 0)[..., :3].astype(np.float64)


def difference(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    return float(np.abs(one - other).mean())
