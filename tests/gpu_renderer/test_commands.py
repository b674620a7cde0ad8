"""`./farm render`, `inspect` and `preview` as a person uses them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from farm_core.__main__ import main
from farm_core.settings import settings
from gpu_renderer.commands.options import FONTS
from gpu_renderer.encode.finish import check
from gpu_renderer.encode.formats import FORMATS, FilePlan
from gpu_renderer.encode.profile import encoder_fault
from tests.gpu_renderer.content.media.video_files import make_video
from tests.gpu_renderer.documents import Record, document, layer, moving_square, write_document

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]


def with_inputs() -> Record:
    """Return a document with a square whose colour is an input, and an image without a source."""
    doc = document(layer("square"), layer("photo", __kind="image", x=20, y=20, width=40, height=40, src=""))
    target = {"nodeId": "square", "componentType": "Transform", "prop": "fill"}
    field = {"id": "tint", "label": "Tint", "kind": "color", "target": target, "default": "#ff0000"}
    doc["scene"]["nodes"][0]["components"][0]["props"]["__templateFields"] = [field]
    return doc


def test_a_video_is_written_and_is_what_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "out.mp4"
    assert main(["render", str(write_document(tmp_path, moving_square())), "--frames", "3:17", "-o", str(out)]) == 0
    check(out, FilePlan(FORMATS["mp4"], 160, 90, 30.0, 14))
    printed = capsys.readouterr()
    assert "160x90, 14 frames" in printed.out
    assert "" not in printed.err.splitlines()
    assert [path.name for path in out.parent.iterdir()] == ["out.mp4"]


def test_a_png_shows_the_first_of_the_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write_document(tmp_path, moving_square()))
    assert main(["render", path, "--frames", "15:", "--size", "80x45", "-o", str(tmp_path / "a.png")]) == 0
    picture = np.asarray(Image.open(tmp_path / "a.png"))
    assert picture.shape == (45, 80, 3)
    assert tuple(picture[22, 65]) == (255, 0, 0)
    assert "80x45, 1 frame in" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["render", "stills"])
def test_local_commands_use_the_farms_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.setenv("ENCODER", "h264_nvenc")
    settings.cache_clear()
    (tmp_path / "none.jsonl").touch()
    words = [str(write_document(tmp_path, moving_square())), "-o", str(tmp_path / "a.mp4")]
    works = encoder_fault("h264_nvenc") is None
    assert main([command, *(words if command == "render" else [str(tmp_path / "none.jsonl")])]) == (0 if works else 1)
    assert works or "h264_nvenc" in capsys.readouterr().err
    settings.cache_clear()


def test_the_ending_of_the_output_may_be_in_capitals(tmp_path: Path) -> None:
    path = str(write_document(tmp_path, moving_square()))
    assert main(["render", path, "-o", str(tmp_path / "A.PNG")]) == 0
    assert np.asarray(Image.open(tmp_path / "A.PNG")).shape == (90, 160, 3)


def test_a_folder_in_place_of_the_video_is_reported_before_a_frame_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.mp4").mkdir()
    path = str(write_document(tmp_path, document(layer("square"), seconds=3600)))
    assert main(["render", path, "-o", str(tmp_path / "a.mp4")]) == 1
    assert "a.mp4 is a folder" in capsys.readouterr().err


def test_a_folder_gets_numbered_pngs(tmp_path: Path) -> None:
    path = str(write_document(tmp_path, moving_square()))
    assert main(["render", path, "--frames", "2:5", "-o", str(tmp_path / "frames")]) == 0
    assert sorted(file.name for file in (tmp_path / "frames").iterdir()) == ["00002.png", "00003.png", "00004.png"]


def test_rate_and_size_may_be_given(tmp_path: Path) -> None:
    out = tmp_path / "out.mp4"
    words = ["render", str(write_document(tmp_path, moving_square())), "--fps", "12", "--size", "65x65", "-o", str(out)]
    assert main(words) == 0
    check(out, FilePlan(FORMATS["mp4"], 65, 65, 12.0, 12))


def test_inputs_are_written_in_a_picture_also_from_a_file(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8), (0, 255, 0)).save(tmp_path / "green.png")
    path = str(write_document(tmp_path, with_inputs()))
    words = ["--set", "tint=#ffff00", "--set", f"photo={tmp_path / 'green.png'}", "-o", str(tmp_path / "a.png")]
    assert main(["render", path, *words]) == 0
    picture = np.asarray(Image.open(tmp_path / "a.png"))
    assert tuple(picture[20, 20]) == (0, 255, 0)
    assert tuple(picture[45, 80]) == (255, 255, 0)


def test_a_video_file_plays_in_a_picture_layer_as_its_address_does(tmp_path: Path) -> None:
    video = tmp_path / "my clip #1.mp4"
    make_video(video)
    path, out = str(write_document(tmp_path, with_inputs())), tmp_path / "a.png"
    assert main(["render", path, "--set", f"photo={video}", "--frames", "15:16", "-o", str(out)]) == 0
    assert abs(int(np.asarray(Image.open(out))[20, 20, 0]) - 80) <= 2


def test_a_file_that_cannot_be_shown_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "scan.tiff")
    path = str(write_document(tmp_path, with_inputs()))
    assert main(["render", path, "--set", f"photo={tmp_path / 'scan.tiff'}", "-o", str(tmp_path / "a.png")]) == 0
    assert "scan.tiff" in capsys.readouterr().err


def test_an_input_is_named_by_its_layer_or_by_the_id_that_its_author_chose(tmp_path: Path) -> None:
    doc = with_inputs()
    target = {"nodeId": "photo", "componentType": "Transform", "prop": "src"}
    field = {"id": "hero", "label": "Hero", "kind": "media", "target": target}
    doc["scene"]["nodes"][0]["components"][0]["props"]["__templateFields"].append(field)
    path = str(write_document(tmp_path, doc))
    Image.new("RGB", (8, 8), (0, 255, 0)).save(tmp_path / "green.png")
    for name in ("photo", "hero"):
        out = tmp_path / f"{name}.png"
        assert main(["render", path, "--set", f"{name}={tmp_path / 'green.png'}", "-o", str(out)]) == 0
        assert tuple(np.asarray(Image.open(out))[20, 20]) == (0, 255, 0)


def test_a_media_folder_answers_addresses_by_their_last_part(tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4")
    video = layer("clip", __kind="video", width=160, height=90, src="https://media.example/some/clip.mp4?x=1")
    path = str(write_document(tmp_path, document(video)))
    assert main(["render", path, "--media", str(tmp_path), "--frames", "15:16", "-o", str(tmp_path / "a.png")]) == 0
    assert abs(int(np.asarray(Image.open(tmp_path / "a.png"))[45, 80, 0]) - 80) <= 2


def test_missing_content_is_reported_and_the_rest_is_rendered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    video = layer("clip", __kind="video", width=160, height=90, src="https://media.example/gone.mp4")
    path = str(write_document(tmp_path, document(video, layer("square"), seconds=0.2)))
    assert main(["render", path, "-o", str(tmp_path / "a.mp4")]) == 0
    assert "gone.mp4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["--set", "nothing=1", "--set", "photo=missing.png"], ["nothing", "tint", "missing.png"]),
        (["--set", "tint=notacolour"], ["tint must be a colour", "not 'notacolour'"]),
        (["--comp", "nowhere"], ["nowhere"]),
        (["--frames", "400:500"], ["frames 0 to 29"]),
    ],
)
def test_an_impossible_render_is_explained_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], output: list[str]
) -> None:
    path = str(write_document(tmp_path, with_inputs()))
    assert main(["render", path, *words, "-o", str(tmp_path / "a.mp4")]) == 1
    error = capsys.readouterr().err
    assert all(word in error for word in output)
    assert not (tmp_path / "a.mp4").exists()


@pytest.mark.parametrize("contents", [b"", b"PK\x03\x04 cut off", b'{"scene": 1}'])
@pytest.mark.parametrize("command", ["render", "inspect"])
def test_a_file_that_is_no_document_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], contents: bytes, command: str
) -> None:
    (tmp_path / "bad.motion").write_bytes(contents)
    words = ["-o", str(tmp_path / "a.mp4")] if command == "render" else []
    assert main([command, str(tmp_path / "bad.motion"), *words]) == 1
    assert "bad.motion" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--size", "0x10"], ["--size", "big"], ["--fps", "0"], ["--frames", "a:b"], ["--set", "x"], []]
)
def test_words_that_make_no_sense_end_with_status_2(tmp_path: Path, words: list[str]) -> None:
    output = ["-o", str(tmp_path / "a.mp4")] if words else []
    with pytest.raises(SystemExit) as ended:
        main(["render", "project.motion", *words, *output])
    assert ended.value.code == 2


def test_a_folder_and_a_zip_are_read_like_a_single_file(tmp_path: Path) -> None:
    doc = moving_square()
    chunks = {
        "manifest.json": {"bundleFormat": "2.0.0", "documentVersion": "1.6.0", "chunks": {}},
        "scene.json": doc["scene"],
        "animation.json": doc["animation"],
        "meta.json": {"comps": doc["comps"]},
    }
    folder = tmp_path / "folder.motion"
    folder.mkdir()
    with zipfile.ZipFile(tmp_path / "zip.motion", "w") as archive:
        for name, chunk in chunks.items():
            (folder / name).write_text(json.dumps(chunk))
            archive.writestr(name, json.dumps(chunk))
    pictures = []
    for name in ("folder.motion", "zip.motion", str(write_document(tmp_path, doc))):
        assert main(["render", str(tmp_path / name), "-o", str(tmp_path / "a.png")]) == 0
        pictures.append((tmp_path / "a.png").read_bytes())
    assert pictures[0] == pictures[1] == pictures[2]


def test_inspect_says_what_is_in_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(write_document(tmp_path, with_inputs()))]) == 0
    output = capsys.readouterr().out
    for words in (
        "160x90, 30 fps, 1 s, 30 frames",
        "square: 'square', shape",
        "tint: color",
        "'photo': it has no source",
    ):
        assert words in output


def test_inspect_prints_an_evaluated_frame(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(write_document(tmp_path, moving_square())), "--time", "0.2"]) == 0
    assert "at 70, 45" in capsys.readouterr().out


def test_an_evaluated_frame_shows_the_whole_placement_of_its_layers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doc = document(layer("flat", skew=12, anchorX=5), layer("deep", z=50), layer("eye", __kind="camera"))
    assert main(["inspect", str(write_document(tmp_path, doc)), "--time", "0"]) == 0
    output = capsys.readouterr().out
    assert all(
        words in output for words in ("skew: 12", "anchor_x: 5", "matrix: (1.0, 0.0, 0.0, 80.0", "camera: Camera(")
    )


def test_the_rendered_video_plays_to_its_end(tmp_path: Path) -> None:
    main(["render", str(write_document(tmp_path, moving_square())), "-o", str(tmp_path / "a.mp4")])
    with av.open(str(tmp_path / "a.mp4")) as container:
        assert sum(1 for _ in container.decode(video=0)) == 30
