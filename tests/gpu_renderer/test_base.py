"""Moving layers over static ones, or over images that hide everything below, are drawn faster with the same pixels."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.commands.options import FONTS
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.session import Output, RenderSession
from motion.bundle import read_document
from tests.gpu_renderer.content.media.video_files import make_noise_video
from tests.gpu_renderer.documents import Record, document, layer, track

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]

WIDTH, HEIGHT = 192, 108
ALL_OFF = replace(Optimisations(**{field.name: False for field in fields(Optimisations)}), native_kernels=True)


def frames(session: RenderSession, doc: Record, flags: Optimisations, media: Path) -> list[npt.NDArray[np.uint8]]:
    session.options = replace(session.options, drawing=flags)
    with session.open(read_document(json.dumps(doc).encode()), Output(), lambda src: media / src) as job:
        return [session.still(job, index) for index in range(job.frame_count)]


def video(**more: object) -> Record:
    return layer("clip", __kind="video", x=WIDTH / 2, y=HEIGHT / 2, width=WIDTH, height=HEIGHT, src="clip.mp4", **more)


def over_video(*layers: Record, **tracks: Record) -> Record:
    return document(video(), *layers, seconds=0.4, size=(WIDTH, HEIGHT), **tracks)


SLIDING = track("x", (0.1, 20.0), (0.3, 150.0))
SCENES = {
    "a video alone": over_video(),
    "a square that slides over a video": over_video(layer("square", opacity=60), square=SLIDING),
    "a glow over a video": over_video(layer("square", x=100, y=50)),
    "a translucent video": document(video(opacity=50), layer("square"), seconds=0.3, size=(WIDTH, HEIGHT)),
    "a moved video": document(video(rotation=3), layer("square"), seconds=0.3, size=(WIDTH, HEIGHT)),
    "a square that slides over many that stand": document(
        *(layer(f"s{i}", x=20 * i, y=50, rotation=10 * i, opacity=70, fill=f"#{i}0{i}0ff") for i in range(1, 9)),
        layer("square"),
        seconds=0.5,
        size=(WIDTH, HEIGHT),
        square=SLIDING,
    ),
}


@pytest.mark.parametrize("name", SCENES)
def test_each_flag_leaves_the_pixels_as_they_are(session: RenderSession, tmp_path: Path, name: str) -> None:
    make_noise_video(tmp_path / "clip.mp4", (WIDTH, HEIGHT), frame_count=14)
    plain = frames(session, SCENES[name], ALL_OFF, tmp_path)
    for flags in (
        Optimisations(),
        replace(Optimisations(), video_passthrough=False),
        replace(Optimisations(), static_prefix=False),
    ):
        quick = frames(session, SCENES[name], flags, tmp_path)
        assert [int(np.abs(a.astype(int) - b).max()) for a, b in zip(plain, quick, strict=True)] == [0] * len(plain)
