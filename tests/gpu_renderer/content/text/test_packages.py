"""Fetching fonts: pinned, whole or not at all, and usable offline afterwards."""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from gpu_renderer.commands import fonts as command
from gpu_renderer.content.text.folders import PACKS, FontFolders
from gpu_renderer.content.text.packages import Package, fetch, manifest, missing
from tests.gpu_renderer.fonts import FONTS

FACE = FONTS / "reference" / "fonts-liberation" / "LiberationMono-Regular.ttf"


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def archive(root: Path) -> bytes:
    """An npm archive with one static face."""
    woff, out = io.BytesIO(), io.BytesIO()
    with TTFont(str(FACE)) as font:
        font.flavor = "woff2"
        font.save(woff)
    files = {"files/some-mono-latin-400-normal.woff2": woff.getvalue(), "LICENSE": b"free"}
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    (root / "archive.tgz").write_bytes(out.getvalue())
    return out.getvalue()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that comes before the system's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def sri(data: bytes) -> str:
    return f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"


def mono(digest: str) -> Package:
    return Package("offered", "npm", "@some/some-mono", "1.0.0", digest, "Some Mono", ("400", "700"))


def test_every_package_is_pinned_by_version_and_hash() -> None:
    assert {package.pack for package in manifest()} == set(PACKS)
    for package in manifest():
        assert package.version
        assert len(package.digest) == 64 if package.source == "debian" else package.digest.startswith("sha512-")


def test_the_fonts_of_the_reference_are_installed_in_its_versions() -> None:
    assert missing(FONTS, ("reference", "scripts")) == []


def test_a_web_family_is_converted_and_found_by_its_name(tmp_path: Path, programs: Path) -> None:
    data = archive(tmp_path)
    program(programs, "npm", f"cp {tmp_path}/archive.tgz ./some-mono-1.0.0.tgz")
    said: list[str] = []
    assert fetch([mono(sri(data))], tmp_path / "fonts", said.append) == {}
    (file,) = FontFolders(tmp_path / "fonts").files()
    assert (file.family, file.weight, file.italic, file.path.suffix) == ("Some Mono", 400, False, ".ttf")
    assert file.covers(ord("A"))
    assert said == ["@some/some-mono 1.0.0"]
    assert missing(tmp_path / "fonts", ()) == []


def test_an_archive_with_another_hash_is_refused_and_leaves_nothing(tmp_path: Path, programs: Path) -> None:
    archive(tmp_path)
    program(programs, "npm", f"cp {tmp_path}/archive.tgz ./some-mono-1.0.0.tgz")
    reasons = fetch([mono(sri(b"other"))], tmp_path / "fonts", lambda line: None)
    assert "not the file that was pinned" in reasons["@some/some-mono"]
    assert list((tmp_path / "fonts").iterdir()) == []


def test_a_debian_package_that_was_tampered_with_is_refused(tmp_path: Path, programs: Path) -> None:
    program(programs, "apt-get", "echo evil > fonts-some_1_all.deb")
    package = Package("reference", "debian", "fonts-some", "1", "0" * 64)
    reasons = fetch([package], tmp_path / "fonts", lambda line: None)
    assert "not the file that was pinned" in reasons["fonts-some"]
    assert FontFolders(tmp_path / "fonts").files() == ()


def test_offline_with_nothing_there_the_reason_and_the_remedy_are_said(
    tmp_path: Path, programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(programs, "apt-get", 'echo "E: no network" >&2; exit 100')
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.run(parser.parse_args(["--base", "--folder", str(tmp_path / "fonts")])) == 1
    said = capsys.readouterr().err
    assert "fonts-inter: apt-get: E: no network" in said
    assert "text cannot be drawn" in said


def test_with_everything_there_nothing_is_fetched(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(programs, "apt-get", "exit 1")
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.run(parser.parse_args(["--base", "--folder", str(FONTS)])) == 0
    assert capsys.readouterr().err == ""
    assert command.run(parser.parse_args(["--list", "--folder", str(FONTS)])) == 0
    assert "Liberation Sans" in capsys.readouterr().out
