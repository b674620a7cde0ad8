"""A farm whose operator allows more formats than MP4, and `./farm batch` against it."""

from __future__ import annotations

import json
from pathlib import Path

import av
import pytest
from PIL import Image

from tests.acceptance.farm import ROOT, imported, process_farm, run_farm

pytestmark = pytest.mark.acceptance


def test_a_batch_gets_each_format_that_the_farm_allows(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("headline,logo\nAda,logo.png\nBob,logo.png\n")
    with process_farm(tmp_path / "farm", "--workers", "1", settings={"OUTPUT_FORMATS": "mp4,webm,gif"}) as farm:
        template = imported(farm, (ROOT / "examples" / "title-card.motion").read_bytes())
        shared = (
            "--server",
            farm.origin,
            "--key",
            farm.token,
            "--media",
            str(ROOT / "examples" / "media"),
            "--size",
            "160x90",
        )

        def batch(ending: str, *options: str) -> tuple[int, str]:
            words = (template, str(rows), "--out", f"{tmp_path}/{{headline}}{ending}", *shared, *options)
            done = run_farm("batch", *words)
            return done.returncode, done.stderr

        assert batch(".webm", "--transparent")[0] == 0
        assert batch(".gif", "--format", "gif")[0] == 0
        status, message = batch(".mov")
    for name in ("Ada", "Bob"):
        with av.open(str(tmp_path / f"{name}.webm")) as video:
            assert video.streams.video[0].codec_context.name == "vp9"
            assert video.streams.video[0].metadata["ALPHA_MODE"] == "1"
        with Image.open(tmp_path / f"{name}.gif") as picture:
            assert picture.size == (160, 90)
            assert getattr(picture, "n_frames", 1) > 1
    assert status == 1
    assert "output.format: must be mp4 or webm or gif" in message
    held = json.loads((tmp_path / "manifest.json").read_text())["videos"]
    assert {one["status"] for one in held.values()} == {"done"}
