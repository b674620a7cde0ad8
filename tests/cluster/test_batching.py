"""`./farm batch` and `./farm template add`: rows and patterns, without services and against the real API."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import av
import pytest

from cluster.batching.farm import BatchFailed
from cluster.batching.manifest import Manifest
from cluster.batching.rows import Outcome, RowsRefused, read_rows, unused_columns
from cluster.commands import batch, template
from cluster.commands.batch import NoProject
from cluster.commands.template import NotPublished
from farm_core.settings import ROOT
from gpu_renderer.commands.local import InputRefused, LocalMedia
from gpu_renderer.commands.options import Machine
from tests.api.conftest import own_world, settings, start
from tests.api.world import Someone, World, document, field, layer, picture, template_body, text_template
from tests.gpu_renderer import documents
from tests.patience import HANG_SECONDS

__all__ = ["own_world", "settings", "start"]
needs_gl = [pytest.mark.gl, pytest.mark.skipif(not (ROOT / ".fonts").is_dir(), reason="no font folder")]


def write_table(folder: Path, text: str) -> Path:
    path = folder / "rows.csv"
    path.write_text(text, encoding="utf-8")
    return path


def arguments(command: Any, *words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    found = parser.parse_args(list(words))
    found.machine = Machine
    return found


def test_rows_name_their_files_and_stay_in_their_folder(tmp_path: Path) -> None:
    rows = read_rows(
        write_table(tmp_path, 'name,headline\nAda,"Hi\nyou"\n../Bob/x,\n'), f"{tmp_path}/{{row}}-{{name}}.mp4"
    )
    assert [str(row.path.relative_to(tmp_path)) for row in rows] == ["0001-Ada.mp4", "0002--Bob-x.mp4"]
    assert [dict(row.cells) for row in rows] == [{"name": "Ada", "headline": "Hi\nyou"}, {"name": "../Bob/x"}]


def test_rows_that_a_spreadsheet_leaves_empty_make_no_video(tmp_path: Path) -> None:
    table = write_table(tmp_path, "\ufeffname,headline\r\n,\r\nAda,Hi\r\n,\r\n,\r\n")
    rows = read_rows(table, f"{tmp_path}/{{row}}-{{name}}.mp4")
    assert [(row.number, row.path.name) for row in rows] == [(3, "0001-Ada.mp4")]


@pytest.mark.parametrize(
    ("text", "pattern", "words"),
    [
        ("name\nAda\nAda\n", "{name}.mp4", "several rows write"),
        ("name\nAda\n", "{nome}.mp4", "a column 'nome'"),
        ("name\n", "{name}.mp4", "no rows"),
        ("name,headline\n,\n", "{name}.mp4", "no rows"),
        ("", "{row}.mp4", "no names of columns in its first line"),
        ("\nname\nAda\n", "{name}.mp4", "no names of columns in its first line"),
        (
            'name,headline\nAda,"Hi\nBob,Hi\n',
            "{name}.mp4",
            "is not a CSV file after line 1: .* is a quotation mark left open",
        ),
        ("name,name\nAda,Bob\n", "{name}.mp4", "2 columns 'name': give each its own name"),
        ("name\nAda,Bob\n", "{name}.mp4", "more cells"),
        ("name;headline\nAda;Hello\n", "{name}.mp4", "';' between its columns: save it with commas"),
        ("name\nAda\n", "{name.mp4", "--out"),
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path: Path, text: str, pattern: str, words: str) -> None:
    with pytest.raises(RowsRefused, match=words):
        read_rows(write_table(tmp_path, text), pattern)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_table_in_another_encoding_is_refused_with_the_one_to_save(tmp_path: Path, encoding: str) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("name\nZoë\n", encoding=encoding)
    with pytest.raises(RowsRefused, match="is not in UTF-8: save it as 'CSV UTF-8'"):
        read_rows(table, "{name}.mp4")


def test_columns_that_change_nothing_are_named(tmp_path: Path) -> None:
    pattern = "{name}.mp4"
    rows = read_rows(write_table(tmp_path, "name,headlin,mail,logo\na,x,y,z\n"), pattern)
    assert unused_columns(rows, pattern, {"headline", "logo"}) == [
        "the column 'headlin' is neither an input nor part of --out; did you mean 'headline'?",
        "the column 'mail' is neither an input nor part of --out; it is left out",
    ]


def test_a_file_that_is_no_project_is_refused_by_name(tmp_path: Path) -> None:
    rows = write_table(tmp_path, "name,headline\na,x\n")
    with pytest.raises(NoProject, match=r"rows\.csv: The file is no \.motion project"):
        batch.run(arguments(batch, str(rows), str(rows), "--out", f"{tmp_path}/{{name}}.mp4"))


@pytest.mark.gl
@pytest.mark.skipif(not (ROOT / ".fonts").is_dir(), reason="no font folder")
def test_a_batch_without_a_service_is_checked_rendered_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    title = documents.layer("Title", __kind="text", content="Hello", fontSize=20, color="#ffffff")
    title["components"].append({"id": "x", "type": "Text", "props": {"content": "Hello"}})
    logo = documents.layer("Logo", __kind="image", src="https://example.com/no-such.png")
    project = documents.write_document(
        tmp_path, documents.document(documents.layer("square"), title, logo, seconds=0.2)
    )
    rows, out = write_table(tmp_path, "name,title\na,Ada\nb,Bob\n"), str(tmp_path / "out" / "{name}.mp4")
    assert batch.run(arguments(batch, str(project), str(rows), "--out", out)) == 0
    assert capsys.readouterr().err.count("line 2: warning: There is nothing at https://example.com/no-such.png") == 1
    with av.open(str(tmp_path / "out/a.mp4")) as video:
        assert sum(1 for _ in video.decode(video=0)) == 6
    held = json.loads((tmp_path / "out/manifest.json").read_text())["videos"]
    assert [one["status"] for one in held.values()] == ["done", "done"]

    first = (tmp_path / "out/a.mp4").stat().st_mtime_ns
    (tmp_path / "out/b.mp4").unlink()
    assert batch.run(arguments(batch, str(project), str(rows), "--out", out)) == 0
    assert "1 of 2 videos are there already" in capsys.readouterr().err
    assert (tmp_path / "out/a.mp4").stat().st_mtime_ns == first
    assert (tmp_path / "out/b.mp4").is_file()
    assert batch.run(arguments(batch, str(project), str(rows), "--out", out)) == 0
    assert capsys.readouterr().err == "2 of 2 videos are there already\n"


def test_cells_name_files_of_the_media_folder(tmp_path: Path) -> None:
    media = tmp_path / "pictures"
    media.mkdir()
    (media / "ada.png").write_bytes(b"of the folder")
    local = LocalMedia(media)
    assert local.resolve(local.named(Path("ada.png"))) == media / "ada.png"
    assert local.resolve(local.named(media / "ada.png")) == media / "ada.png"
    with pytest.raises(
        InputRefused, match=r"bob\.png is neither an address nor a file, and there is no .* in .*pictures"
    ):
        local.named(Path("bob.png"))


def test_a_manifest_knows_rows_by_what_they_hold(tmp_path: Path) -> None:
    rows = read_rows(write_table(tmp_path, "name\na\nb\n"), f"{tmp_path}/{{name}}.mp4")
    manifest = Manifest.beside(rows)
    rows[0].path.write_bytes(b"video")
    manifest.note(Outcome(rows[0]), "template")
    manifest.note(Outcome(rows[1], "it failed"), "template")
    assert [one["line"] for one in json.loads(manifest.path.read_text())["videos"].values()] == [2, 3]
    again = Manifest.beside(rows)
    assert [again.has(row, "template") for row in rows] == [True, False]
    assert not again.has(rows[0], "another template")


@pytest.mark.service
def test_rows_are_checked_against_a_template_before_any_is_queued(own_world: World, tmp_path: Path) -> None:
    ada = own_world.account()
    key = ada.new_key().headers["Authorization"].removeprefix("Bearer ")
    where = ("--server", own_world.origin, "--key", key)
    rows = write_table(tmp_path, "name,photo,size\na,none.png,big\nb,,nan\n")
    with pytest.raises(RowsRefused) as refused:
        batch.run(arguments(batch, ada.template(), str(rows), "--out", f"{tmp_path}/{{name}}.mp4", *where))
    assert all(f"line {line}: size must be a number" in str(refused.value) for line in (2, 3))
    assert "neither an address nor a file" in str(refused.value)
    wrong = write_table(tmp_path, "name\na\n")
    with pytest.raises(RowsRefused, match="headline"):
        batch.run(arguments(batch, text_template(ada), str(wrong), "--out", f"{tmp_path}/{{name}}.mp4", *where))
    with pytest.raises(BatchFailed, match=r"of the account, which --account or --key names: 404"):
        batch.run(arguments(batch, "tpl_of_somebody_else", str(wrong), "--out", f"{tmp_path}/{{name}}.mp4", *where))
    with pytest.raises(BatchFailed, match=r"\A401: There is no such API key"):
        batch.run(arguments(batch, "tpl_a", str(wrong), "--out", f"{tmp_path}/{{name}}.mp4", *where[:3], "pm_live_x"))
    with pytest.raises(BatchFailed, match=r"\Athe farm does not answer: "):
        dead = ("--server", "http://127.0.0.1:9", "--key", key)
        batch.run(arguments(batch, "tpl_a", str(wrong), "--out", f"{tmp_path}/{{name}}.mp4", *dead))
    assert ada.get("/renders").json()["total"] == 0


@pytest.mark.service
def test_a_file_that_the_farm_refuses_is_named_and_one_with_a_wrong_ending_is_none(
    own_world: World, tmp_path: Path
) -> None:
    ada = own_world.account()
    key = ada.new_key().headers["Authorization"].removeprefix("Bearer ")
    (tmp_path / "a-png.jpg").write_bytes(picture())
    (tmp_path / "text.png").write_bytes(b"no picture")
    rows = write_table(tmp_path, "photo\na-png.jpg\ntext.png\n")
    words = ("--out", f"{tmp_path}/{{row}}.mp4", "--media", str(tmp_path), "--server", own_world.origin, "--key", key)
    with pytest.raises(BatchFailed, match=r"\Aline 3: photo: text.png cannot be uploaded: 400: .* renderable asset"):
        batch.run(arguments(batch, ada.template(), str(rows), *words))
    assert ada.get("/renders").json()["total"] == 0


@pytest.mark.service
@pytest.mark.parametrize(
    ("pattern", "options", "words"),
    [
        ("{row}.mp4", ("--format", "webm"), "a file of the format webm ends with .webm"),
        ("{row}.mp4", ("--transparent",), "mp4, which has no transparency"),
        ("{row}.avi", (), ".avi is not a format of a farm"),
        ("{row}-{headline}", (), "one batch has one format"),
    ],
)
def test_a_format_that_does_not_fit_is_refused_before_any_row_is_queued(
    own_world: World, tmp_path: Path, pattern: str, options: tuple[str, ...], words: str
) -> None:
    ada = own_world.account()
    key = ada.new_key().headers["Authorization"].removeprefix("Bearer ")
    rows = write_table(tmp_path, "headline\na.gif\nb.webm\n")
    where = ("--out", f"{tmp_path}/{pattern}", "--server", own_world.origin, "--key", key)
    with pytest.raises(RowsRefused, match=words):
        batch.run(arguments(batch, text_template(ada), str(rows), *where, *options))
    assert ada.get("/renders").json()["total"] == 0


def end(world: World, ada: Someone, headline: str, status: str) -> None:
    """End the newest render with this headline, as a scheduler does."""
    job = job_of(ada, headline)
    video = world.settings.data_folder / "storage" / "objects" / "results" / f"{job}.mp4"
    video.parent.mkdir(parents=True, exist_ok=True)
    video.write_bytes(headline.encode())
    fields = {"error": "It failed."} if status == "failed" else {"video_key": f"results/{video.name}", "progress": 100}
    world.move(job, status, **fields)


def job_of(ada: Someone, headline: str) -> str:
    """Return the id of the newest render with this headline."""
    renders = ada.get("/renders").json()["items"]
    return str(next(one["jobId"] for one in renders if one["metadata"]["line"] == LINES[headline]))


LINES: Final = {"ada": 2, "bob": 3, "cem": 4}


def render_count(ada: Someone) -> int:
    """Return the number of her renders."""
    return int(ada.get("/renders").json()["total"])


def until(reached: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + HANG_SECONDS
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def batch_of_three(own_world: World, ada: Someone, tmp_path: Path) -> list[str]:
    """Return the command that renders a row for each of `LINES`, into the folder `out`."""
    key = ada.new_key().headers["Authorization"].removeprefix("Bearer ")
    rows = write_table(tmp_path, "headline\nada\nbob\ncem\n")
    words = ("batch", text_template(ada), str(rows), "--out", f"{tmp_path}/out/{{headline}}.mp4")
    return [sys.executable, "-m", "farm_core", *words, "--server", own_world.origin, "--key", key]


@pytest.mark.service
def test_a_killed_batch_awaits_what_the_farm_renders_already(own_world: World, tmp_path: Path) -> None:
    ada, out = own_world.account(), tmp_path / "out"
    command = batch_of_three(own_world, ada, tmp_path)

    def begun() -> subprocess.Popen[str]:
        return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)

    killed = begun()
    until(lambda: render_count(ada) == 3)
    end(own_world, ada, "ada", "completed")
    until((out / "ada.mp4").exists)
    killed.kill()
    killed.communicate()
    end(own_world, ada, "bob", "completed")
    end(own_world, ada, "cem", "failed")
    second = begun()
    assert "line 4" in second.communicate(timeout=HANG_SECONDS)[1]
    assert (second.returncode, render_count(ada), (out / "bob.mp4").read_text()) == (1, 3, "bob")
    third = begun()
    until(lambda: render_count(ada) == 4)
    end(own_world, ada, "cem", "completed")
    assert "2 of 3 videos are there already" in third.communicate(timeout=HANG_SECONDS)[1]
    assert (third.returncode, render_count(ada), (out / "cem.mp4").read_text()) == (0, 4, "cem")


@pytest.mark.service
def test_a_batch_renders_its_rows_again_with_a_new_version_of_its_template(own_world: World, tmp_path: Path) -> None:
    ada = own_world.account()
    key, template = ada.new_key().headers["Authorization"].removeprefix("Bearer "), text_template(ada)
    rows = write_table(tmp_path, "headline\nada\n")
    words = ("batch", template, str(rows), "--out", f"{tmp_path}/out/{{headline}}.mp4", "--server", own_world.origin)
    for number in (1, 2):
        with subprocess.Popen([sys.executable, "-m", "farm_core", *words, "--key", key], cwd=ROOT) as batch:
            until(lambda: render_count(ada) >= number or batch.poll() is not None)  # noqa: B023 - called in this turn
            if batch.poll() is None:
                end(own_world, ada, "ada", "completed")
        assert (batch.returncode, render_count(ada)) == (0, number)
        fields = [field("headline", "text", "n1", "Text", "content")]
        body = template_body(document=document(layer("n1", "Other", "text"), fields=fields))
        body["inputs"] = body["inputs"][:1]
        assert ada.ask("PUT", f"/templates/{template}", json=body).json()["version"] == 2  # the second is equal


@pytest.mark.service
def test_a_row_says_what_its_video_leaves_out_and_a_lost_video_fails_no_other(own_world: World, tmp_path: Path) -> None:
    ada, out = own_world.account(), tmp_path / "out"
    command = batch_of_three(own_world, ada, tmp_path)
    begun = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    until(lambda: render_count(ada) == 3)
    own_world.database.execute("""UPDATE jobs SET warnings = '[{"code": "left_out", "message": "No logo."}]'""")
    own_world.move(job_of(ada, "ada"), "completed", video_key="results/not-there.mp4", progress=100)
    end(own_world, ada, "bob", "completed")
    end(own_world, ada, "cem", "completed")
    printed = begun.communicate(timeout=HANG_SECONDS)[1]
    assert "line 2: the video cannot be fetched: 404" in printed
    assert begun.returncode == 1 and printed.count("warning: No logo.") == 1
    videos = json.loads((out / "manifest.json").read_text())["videos"]
    assert [one["status"] for one in videos.values()] == ["failed", "done", "done"]
    assert [one.get("warnings") for one in videos.values()] == [None, ["No logo."], ["No logo."]]


@needs_gl[0]
@needs_gl[1]
def test_a_batch_without_a_service_writes_the_format_that_is_asked_for(tmp_path: Path) -> None:
    title = documents.layer("Title", __kind="text", content="Hello", fontSize=20, color="#ffffff")
    title["components"].append({"id": "x", "type": "Text", "props": {"content": "Hello"}})
    made = documents.document(documents.layer("square"), title, seconds=0.2)
    target = {"nodeId": "Title", "componentType": "Text", "prop": "content"}
    own = {"id": "greeting", "label": "Greeting", "kind": "text", "target": target}
    made["scene"]["nodes"][0]["components"][0]["props"]["__templateFields"] = [own]
    project = documents.write_document(tmp_path, made)
    rows = write_table(tmp_path, "greeting\nAda\n")  # id chosen by the author; `title` names the same input
    words = (str(project), str(rows), "--out", f"{tmp_path}/{{greeting}}.mp4", "--format")
    with pytest.raises(RowsRefused, match="no transparency"):
        batch.run(arguments(batch, *words, "mp4-av1", "--transparent"))
    assert batch.run(arguments(batch, *words, "mp4-av1")) == 0
    with av.open(str(tmp_path / "Ada.mp4")) as video:
        assert video.streams.video[0].codec_context.name in ("libdav1d", "av1", "libaom-av1")


@pytest.mark.service
def test_any_project_becomes_a_template(own_world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ada = own_world.account()
    key = ada.new_key().headers["Authorization"].removeprefix("Bearer ")
    project = tmp_path / "card.motion"
    doc = document(layer("n1", "Headline", "text"), layer("n2", "Logo", "image", src="assets/logo.png"))
    project.write_text(json.dumps(doc))
    (tmp_path / "media").mkdir()
    (tmp_path / "media/logo.png").write_bytes(picture())
    words = ("add", str(project), "--server", own_world.origin, "--key", key, "--name", "Mine")
    assert template.run(arguments(template, *words)) == 0
    printed = capsys.readouterr().out
    made = json.loads(printed[printed.index("{\n") :])
    assert made["name"] == "Mine"
    assert [(one["id"], one["required"]) for one in made["inputs"]] == [("headline", False), ("logo", False)]
    assert ada.render(made["id"], inputs={"headline": "Hi"}).status_code == 201

    project.write_text(json.dumps(document(layer("n1", "Headline", "text"))))
    assert template.run(arguments(template, *words)) == 0, "a project without media has texts"

    where = words[2:6]
    assert template.run(arguments(template, "replace", made["id"], str(project), *where)) == 0
    printed, said = capsys.readouterr()
    newer = json.loads(printed[printed.rindex("\n{\n") :])
    assert said.endswith("warning: Input 'logo' is gone: requests with it are refused.\n")
    assert (newer["id"], newer["name"]) == (made["id"], "Mine")
    assert [one["id"] for one in newer["inputs"]] == ["headline"]
    assert template.run(arguments(template, "versions", made["id"], *where)) == 0
    assert re.search(r"│ 1 .*│ headline, logo", capsys.readouterr().out)
    assert template.run(arguments(template, "restore", made["id"], "1", *where)) == 0
    assert [one["id"] for one in ada.get(f"/templates/{made['id']}").json()["inputs"]] == ["headline", "logo"]
    with pytest.raises(NotPublished, match=f"^{made['id']}: 404: There is no such version"):
        template.run(arguments(template, "restore", made["id"], "9", *where))
    with pytest.raises(NotPublished, match="There is no such template"):
        template.run(arguments(template, "replace", "tpl_none", str(project), *where))
