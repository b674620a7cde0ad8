"""`./farm render` and `inspect` in daily use: formats, ranges, sizes, presets, processes, watching."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from farm_core.__main__ import main
from gpu_renderer.commands.options import FONTS
from tests.gpu_renderer import decoding
from tests.gpu_renderer.documents import document, layer, moving_square, track, write_document

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]


def render(tmp_path: Path, *words: str, output: str) -> Path:
    """Render the moving square with more arguments."""
    path = str(write_document(tmp_path, moving_square()))
    assert main(["render", path, *words, "-o", str(tmp_path / output)]) == 0
    return tmp_path / output


def test_a_gif_is_written_by_its_ending(tmp_path: Path) -> None:
    frames = decoding.animation(render(tmp_path, output="a.gif"))
    assert frames.shape == (30, 90, 160, 4)
    assert tuple(frames[15, 45, 130]) == (255, 0, 0, 255)


def test_an_unknown_ending_is_refused_and_nothing_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write_document(tmp_path, moving_square()))
    assert main(["render", path, "-o", str(tmp_path / "a.avi")]) == 1
    assert ".avi is not a format" in capsys.readouterr().err
    assert not (tmp_path / "a.avi").exists()


def test_transparency_is_refused_where_the_format_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write_document(tmp_path, moving_square()))
    assert main(["render", path, "--transparent", "-o", str(tmp_path / "a.mp4")]) == 1
    assert "has no transparency" in capsys.readouterr().err


def test_a_range_is_in_seconds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(decoding.video(render(tmp_path, "--range", "0.2:0.5", output="a.mp4"), 160, 90)) == 9
    assert "160x90, 9 frames" in capsys.readouterr().out


def test_a_long_frame_is_not_silent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_renderer.commands.local_files.SILENT_SECONDS", 0.001)
    render(tmp_path, "--frames", "15:16", output="a.mp4")
    assert "drawing: 0/1 frames after" in capsys.readouterr().err


def test_a_draft_is_of_half_size(tmp_path: Path) -> None:
    assert np.asarray(Image.open(render(tmp_path, "--draft", output="a.png"))).shape == (44, 80, 3)


def test_a_scale_gives_even_sides(tmp_path: Path) -> None:
    assert np.asarray(Image.open(render(tmp_path, "--scale", "0.3", output="a.png"))).shape == (28, 48, 3)


def test_the_gif_preset_is_small_and_slow(tmp_path: Path) -> None:
    frames = decoding.animation(render(tmp_path, "--preset", "gif", output="a.gif"))
    assert frames.shape == (15, 44, 80, 4)


def test_a_preset_leaves_the_background_out(tmp_path: Path) -> None:
    folder = render(tmp_path, "--preset", "png-alpha", "--frames", "0:2", output="frames")
    assert sorted(file.name for file in folder.iterdir()) == ["00000.png", "00001.png"]
    assert np.asarray(Image.open(folder / "00000.png"))[5, 5, 3] == 0


def test_an_archive_may_hold_jpegs(tmp_path: Path) -> None:
    path = render(tmp_path, "--format", "jpg-sequence", "--frames", "3:5", output="a.zip")
    assert zipfile.ZipFile(path).namelist() == ["frame_0000.jpg", "frame_0001.jpg"]


@pytest.mark.thorough
def test_several_processes_draw_the_same_video(tmp_path: Path) -> None:
    doc = document(layer("square"), square=track("x", (0.0, 30.0), (2.5, 130.0)), seconds=2.5)
    path = str(write_document(tmp_path, doc))
    for workers in ("2", "3"):
        assert main(["render", path, "--workers", workers, "-o", str(tmp_path / f"{workers}.mp4")]) == 0
    assert (tmp_path / "2.mp4").read_bytes() == (tmp_path / "3.mp4").read_bytes()
    assert main(["render", path, "--workers", "2", "-o", str(tmp_path / "many")]) == 0
    assert main(["render", path, "-o", str(tmp_path / "one")]) == 0
    for name in ("00000.png", "00074.png"):
        assert (tmp_path / "many" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_a_failure_in_another_process_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    video = layer("clip", __kind="video", width=160, height=90, src="https://media.example/broken.mp4")
    path = str(write_document(tmp_path, document(video, seconds=2.0)))
    words = ["--media", str(tmp_path), "--workers", "2", "-o", str(tmp_path / "a.mp4")]
    one = main(["render", path, "--media", str(tmp_path), "-o", str(tmp_path / "one.mp4")])
    assert main(["render", path, *words]) == one
    assert "broken.mp4" in capsys.readouterr().err


def test_watching_renders_again_when_the_file_changes(tmp_path: Path) -> None:
    path, output = write_document(tmp_path, document(layer("square"))), tmp_path / "a.png"
    command = [sys.executable, "-m", "farm_core", "render", str(path), "--watch", "-o", str(output)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            assert "1 frame" in process.stdout.readline()
            assert tuple(np.asarray(Image.open(output))[45, 80]) == (255, 0, 0)
            write_document(tmp_path, document(layer("square", fill="#00ff00")))
            assert "1 frame" in process.stdout.readline()
            assert tuple(np.asarray(Image.open(output))[45, 80]) == (0, 255, 0)
        finally:
            process.terminate()  # otherwise a failing test would wait for ever


def test_inspect_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write_document(tmp_path, moving_square()))
    assert main(["inspect", path, "--json"]) == 0
    held = json.loads(capsys.readouterr().out)
    assert held["compositions"][0] == {
        "id": "comp_root", "name": "Main", "width": 160.0, "height": 90.0, "fps": 30.0, "durationSeconds": 1.0,
        "frames": 30,
    }  # fmt: skip
    assert [one["id"] for one in held["layers"]] == ["square"]
    assert held["warnings"] == []
    assert main(["inspect", path, "--json", "--time", "0.5"]) == 0
    frame = json.loads(capsys.readouterr().out)["frame"]
    assert frame["layers"][0]["transform"]["x"] == 130.0
